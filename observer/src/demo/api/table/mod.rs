//! Tables: what `kubectl get` prints is made by the server.
//!
//! Columns and cells are those of kube-apiserver 1.34 (`pkg/printers/internalversion/printers.go` of kubernetes/kubernetes), for each
//! resource that is served; the descriptions of columns, which kubectl does not show, are left empty.

mod age;
mod cells;
mod columns;
mod document;
mod field;
mod pod;
mod selector;

pub use document::{IncludeObject, of_list, of_object, of_watched, requested};
pub(super) use selector::selector as selector_text;

#[cfg(test)]
mod tests;
