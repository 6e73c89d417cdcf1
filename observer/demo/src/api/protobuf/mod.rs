//! Converts protobuf bodies, which Go's typed clients send (such as `kubectl create deployment`), to the JSON of the same object.
//!
//! Answers stay JSON, since those clients accept both. A field that is not in the tables of `messages` is refused with its number,
//! and never dropped. kubernetes/apimachinery pkg/runtime/serializer/protobuf v0.34.

mod decode;
mod envelope;
mod error;
mod messages;
mod scalar;
mod shape;
mod wire;

pub use envelope::{MEDIA_TYPE, to_json};
pub use error::Error;
pub use messages::Body;

#[cfg(test)]
mod tests;
