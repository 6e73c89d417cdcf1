//! The embedded demo cluster: an API server that lives in this process, for people and tests that have none.
//!
//! It uses neither the verdicts nor the routing rules of the core: a demo built on our own verdicts would confirm itself.

pub mod api;

mod cache;
mod options;
mod refusal;
mod select;
mod store;
mod token;
