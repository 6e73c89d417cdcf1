//! The messages of the kinds that the demo serves. Numbers and names of fields are facts of the API.

mod container;
mod core;
mod kind;
mod metadata;
mod node;
mod pod;
mod service;
mod volume;
mod workload;

#[cfg(test)]
pub(super) use kind::BY_KIND;
pub use kind::Body;
pub(super) use kind::of;
