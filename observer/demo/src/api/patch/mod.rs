//! PATCH: the three formats that clients send, applied to an object.
//!
//! The source is kube-apiserver 1.34: `pkg/endpoints/handlers/patch.go` of k8s.io/apiserver and `pkg/util/strategicpatch/patch.go`
//! of k8s.io/apimachinery. Statuses and messages are those observed from a real server. Server-side apply is answered with 415: it
//! needs the field managers of each object, which the demo does not keep.

mod apply;
mod error;
mod json_patch;
mod merge_fields;
mod merge_list;
mod strategic;

pub use apply::apply;
pub use error::Error;
pub(super) use merge_fields::{MERGE_TYPES, MergeField};

#[cfg(test)]
mod tests;
