//! `watchtap status`: which pods that request a sidecar have one, and why others have none.
//!
//! `ask` sends three requests to the API server. Everything else is pure: it reads the answers, and decides for each pod. Labels of
//! namespaces are not requested, so a rule that selects namespaces by other labels than their names is only named.

mod admission;
mod ask;
mod document;
mod error;
mod pod;
mod scope;
mod sidecar;
mod summary;
mod unseen;
mod workload;

pub(crate) use admission::{Admission, Rule, RuleKind};
pub(crate) use ask::ask;
pub(crate) use scope::Scope;
pub(crate) use sidecar::{Sidecar, Standing};
pub(crate) use summary::{Coverage, PodRow};
pub(crate) use workload::Workload;

#[cfg(test)]
pub(crate) mod tests;
