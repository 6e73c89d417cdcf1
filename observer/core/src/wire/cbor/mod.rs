//! Bodies in CBOR (RFC 8949), and watches as CBOR sequences (RFC 8742).
//!
//! Objects have the same members as in JSON. kube-apiserver writes strings and map keys as byte strings, and each object in the tag
//! of self-described CBOR (kubernetes/apimachinery `pkg/runtime/serializer/cbor/internal/modes/encode.go`, 1.32 and later). So text
//! and byte strings are treated alike, and tags are ignored. Lengths may be indefinite, although kube-apiserver writes only
//! definite ones. Skipped items are counted, not kept, so a large claimed length costs nothing.
//!
//! After a gap, no boundary can be found again, because the content of a string may look like anything.

mod parser;

mod head;
mod nesting;

pub(super) use parser::Cbor;
