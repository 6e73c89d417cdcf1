//! Bodies in CBOR (RFC 8949), and watches as CBOR sequences (RFC 8742).
//!
//! The members are those of JSON. kube-apiserver writes strings, and the keys of maps, as byte strings, and each object in the tag that
//! means CBOR itself (kubernetes/apimachinery `pkg/runtime/serializer/cbor/internal/modes/encode.go`, 1.32 and later): so text and byte strings
//! are one, and tags mean nothing. Lengths may be indefinite, though it writes none such. What is skipped is counted, not kept; what
//! is claimed to be long costs nothing.
//!
//! Nothing after a gap can be placed: what is inside of a string may look like anything.

mod parser;

mod head;
mod nesting;

pub(super) use parser::Cbor;
