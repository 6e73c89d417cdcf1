//! Bodies in protobuf, as streams.
//!
//! An object is the four bytes `k8s\0` and a `runtime.Unknown` around it, which names its kind (kubernetes/apimachinery
//! `pkg/runtime/serializer/protobuf/protobuf.go`). An event of a watch is its length in four bytes and a `WatchEvent`, whose object is such an
//! envelope. Every value says how long it is, so what nobody wants costs nothing, and a gap within one of known length leaves all behind it
//! readable.
//!
//! Relied upon of the order that Go's marshaller writes is that the kind comes before the object, as it decides which fields the object
//! has, and a map's key before its value. Groups, and content in another encoding than protobuf, are malformed: Kubernetes writes neither.

mod field;
mod parser;

mod message;
mod open;
mod varint;
mod wanted;

pub(super) use parser::Protobuf;
