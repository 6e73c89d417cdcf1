//! The part of the demo API server that clients see: pure functions from requests and objects to documents.
//!
//! Nothing here has state, reads a clock or does I/O. The server decides how to answer, and calls these functions for the body.
//! Everything follows kube-apiserver 1.34.

pub mod discovery;
pub mod openapi;
pub mod patch;
pub mod protobuf;
pub mod scale;

mod accept;
mod answer;
mod label_selector;
mod resource;

pub use answer::Answer;
pub(crate) use resource::{CORE, STATUS};
pub use resource::{Resource, Subresource, find, resources, subresource};
