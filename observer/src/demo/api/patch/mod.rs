//! PATCH: what becomes of an object, in the three formats that clients send.
//!
//! Followed is kube-apiserver 1.34: `pkg/endpoints/handlers/patch.go` of k8s.io/apiserver and `pkg/util/strategicpatch/patch.go` of
//! k8s.io/apimachinery; statuses and messages are those that a real server was seen to give. Server-side apply is left out: it
//! needs the field managers of each object, which the demo does not keep, so it is answered with 415.

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
