//! The decisions of `decision`, as a `MutatingAdmissionPolicy`: the API server itself gives labelled pods their sidecar.
//!
//! `cel` writes constants, sentences and values of `decision` as CEL, so that each fact has one home. `facts`, `refusals` and
//! `operations` are the variables of the policy, each of which uses only those before it. kubernetes/apiserver
//! `pkg/admission/plugin/policy/mutating` evaluates them. Names of variables are those of `decision`, as far as both have them.

mod cel;
mod document;
mod facts;
mod operations;
mod refusals;

pub(crate) use document::policy;

#[cfg(test)]
mod tests;
