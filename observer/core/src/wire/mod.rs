//! The facts of Kubernetes response bodies, read as a stream: lists, watch frames, single objects, `Status`.
//!
//! A [`BodyReader`] takes the bytes of one body in any chunking and emits [`Fact`]s. It holds no object: of an item only the four
//! strings of an [`ObjectRef`] exist, one item at a time, so memory does not grow with the list.
//!
//! `meaning` defines, in one place, which values are read. The syntaxes `json`, `protobuf` and `cbor` know how values are written,
//! and drive it. Each may come plain or in gzip (several members).

mod body;
mod fact;
mod media;

mod gzip;
mod proportion;

mod cbor;
mod json;
mod protobuf;
mod syntax;

mod kept;
mod meaning;

#[cfg(test)]
mod tests;

pub use body::{BodyKind, BodyReader};
pub use fact::{EventType, Fact, ListMeta, ObjectRef, WatchFrame};
pub use media::{ContentCoding, MediaType, Unsupported};
