//! Reads Kubernetes response bodies as a stream, and emits the facts in them: lists, watch frames, single objects, `Status`.
//!
//! A [`BodyReader`] takes the bytes of one body in any chunking and emits [`Fact`]s. It holds no object: it keeps only the four
//! strings of an [`ObjectRef`], one item at a time, so memory does not grow with the list.
//!
//! `meaning` defines, in one place, which values are read. The syntaxes `json`, `protobuf` and `cbor` parse the bytes and pass
//! these values to it. In each syntax, a body may be plain or compressed with gzip (one or several members).

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
pub(crate) use json::{StringStops, nested_end};
pub use media::{ContentCoding, MediaType, Unsupported};
