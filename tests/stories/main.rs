//! The stories that watchtap tells, each with real clients and a real kube-apiserver through a real `watchtap run`.
//!
//! What happened is read from the server's audit log and counters, and from what the clients say of themselves; what watchtap says is read
//! from its events, its live lines and its report, and must be the same.

mod bookmarks;
mod expired;
mod informer_start;
mod loops;
mod own_writes;
mod restart;
mod rows;
mod server_saw;
mod slow_reader;
mod stage;
mod storm;
mod streaming_lists;
mod told;
mod too_large;
