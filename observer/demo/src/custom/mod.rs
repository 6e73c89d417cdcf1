//! Custom resources: the resources that a `CustomResourceDefinition` defines.
//!
//! kubernetes/apiextensions-apiserver `pkg/apiserver/customresource_handler.go` and pkg/apis/apiextensions/validation v0.34.
//! Schemas are kept with the definition, but neither validate, prune nor set defaults. All versions share their objects, and
//! conversion changes only the `apiVersion`. The only subresource served is `status`.

mod definition;
mod kept;

pub(super) use definition::{check, resources, set_status};

#[cfg(test)]
mod tests;
