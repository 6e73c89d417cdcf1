//! End-to-end stories with real clients, a real kube-apiserver and a real `watchtap run`.
//!
//! The expected results come from the server's audit log and counters, and from the clients' own logs. watchtap's events, live
//! lines and report must agree with them.

mod bookmarks;
mod events;
mod expired;
mod from_logs;
mod incidents;
mod informer_start;
mod loops;
mod own_writes;
mod quiet;
mod restart;
mod rows;
mod server_saw;
mod slow_reader;
mod stage;
mod storm;
mod streaming_lists;
mod too_large;
