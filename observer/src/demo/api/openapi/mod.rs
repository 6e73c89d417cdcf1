//! OpenAPI: the schemas of the served types, for `kubectl explain`, for patches that clients compute, and for field validation.
//!
//! The schemas are those that k8s-openapi carries, of a newer Kubernetes than the 1.34 that the demo follows; the merge keys are
//! those of [`super::patch`]. All is said in version 3; version 2 is there for old kubectls, and empty.

mod document;
mod paths;
mod schemas;
mod unknown_fields;
mod version_2;

pub use document::answer;
pub use unknown_fields::unknown_fields;

#[cfg(test)]
mod tests;
