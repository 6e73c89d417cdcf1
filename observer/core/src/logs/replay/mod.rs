//! Joins the records of each request, and makes the observations of a tap of them.

mod as_event;
mod cache_events;
mod client_pairs;
mod clients;
mod etcd_range;
mod killed_server;
mod lately_used;
mod lists;
mod log_replay;
mod record;
mod requests;
mod restart;
mod served;
mod window;

#[cfg(test)]
pub(super) mod tests;

pub use log_replay::LogReplay;
