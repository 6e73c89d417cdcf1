//! What Kubernetes response bodies say: lists, watch frames, single objects, `Status`, read as a stream.
//!
//! A [`BodyReader`] is fed the bytes of one body in any chunking and tells [`Fact`]s. It holds no object: of an item only the
//! four words of an [`ObjectRef`] exist, one item at a time, and memory does not grow with the list. What is read stands once, in `meaning`;
//! how it is written, in the syntaxes `json`, `protobuf` and `cbor`, which drive it. Each may come plain or in gzip (several members).

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
