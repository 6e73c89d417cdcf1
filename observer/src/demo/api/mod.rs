//! The face that kubectl and other clients see of the demo API server: pure functions from requests and objects to documents.
//!
//! Nothing here holds state, reads a clock or does I/O; the server decides what to answer, and takes the answer's body from here.
//! All of it follows kube-apiserver 1.34.

pub mod discovery;
pub mod openapi;
pub mod patch;
pub mod protobuf;
pub mod scale;
pub mod table;

mod accept;
mod answer;
mod resource;

pub use answer::Answer;
pub use resource::{Resource, Subresource, find, resources, subresource};
