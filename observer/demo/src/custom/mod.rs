//! Custom resources: what a `CustomResourceDefinition` makes the server serve.
//!
//! kubernetes/apiextensions-apiserver `pkg/apiserver/customresource_handler.go` and pkg/apis/apiextensions/validation v0.34. Schemas are
//! kept with the definition, but neither validate, prune nor set defaults. All versions share their objects, which are converted by
//! their `apiVersion` only. Of the subresources, `status` is served.

mod definition;
mod kept;

pub(super) use definition::{check, resources, set_status};

#[cfg(test)]
mod tests;
