//! What a row says when it is opened.

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
