//! PATCH: the four formats that clients send, applied to an object.
//!
//! The source is kube-apiserver 1.34: `pkg/endpoints/handlers/patch.go` of k8s.io/apiserver. Statuses and messages were copied from
//! answers of a real server. The demo has no schemas, so it replaces lists that a real server merges; see `strategic` and
//! [`server_side`].

pub mod server_side;

mod apply;
mod error;
mod json_patch;
mod strategic;

pub use apply::apply;
pub use error::Error;

#[cfg(test)]
mod tests;
