//! OpenAPI: the schemas of the served types, for `kubectl explain`, for patches that clients compute, and for field validation.
//!
//! The schemas are those that k8s-openapi carries, of a newer Kubernetes than the 1.34 that the demo follows; the merge keys are
//! those of [`super::patch`]. Only version 3 is served. kubectl asks for version 2 where a path of version 3 does not say that the server
//! validates fields itself, or when it is told to explain by it; for all else it does without.

mod document;
mod paths;
mod schemas;
mod unknown_fields;

pub use document::answer;
pub use unknown_fields::unknown_fields;

#[cfg(test)]
mod tests;
