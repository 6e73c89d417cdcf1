//! Bodies in protobuf, as streams.
//!
//! An object is the four bytes `k8s\0` and a `runtime.Unknown`, which names the object's kind and contains it
//! (kubernetes/apimachinery `pkg/runtime/serializer/protobuf/protobuf.go`). A watch event is its length in four bytes and a
//! `WatchEvent`, whose object is such an envelope. Every value states its length, so skipping costs nothing, and bytes after a gap
//! within a value of known length are readable.
//!
//! The parser relies on two orders that Go's marshaller keeps. The kind comes before the object, as it decides which fields the
//! object has; and a map's key comes before its value. Groups, and content in an encoding other than protobuf, are malformed:
//! Kubernetes writes neither.

mod field;
mod parser;

mod message;
mod open;
mod varint;
mod wanted;

pub(super) use parser::Protobuf;
