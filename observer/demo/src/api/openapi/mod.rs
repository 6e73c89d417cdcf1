//! OpenAPI: the schemas of the served types, for `kubectl explain`, for patches that clients compute, and for field validation.
//!
//! The schemas are those in k8s-openapi, of a newer Kubernetes than the 1.34 that the demo follows. The merge keys are those of
//! [`super::patch`]. Only version 3 has contents; version 2 exists for old kubectls, and is empty.

mod document;
mod paths;
mod schemas;
mod unknown_fields;
mod version_2;

pub use document::answer;
pub use unknown_fields::unknown_fields;

#[cfg(test)]
mod tests;
