//! Tables: the server makes the output of `kubectl get`.
//!
//! Columns and cells are those of kube-apiserver 1.34 (`pkg/printers/internalversion/printers.go` of kubernetes/kubernetes), for
//! each served resource. Descriptions of columns are empty, since kubectl does not show them.

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
