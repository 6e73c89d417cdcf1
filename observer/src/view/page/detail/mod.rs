//! The details of opened rows.

mod client;
mod container;
mod finding;
mod moments;
mod opened;
mod reflector;
mod relist;
mod requests;
mod storm;

pub(super) use opened::opened;
