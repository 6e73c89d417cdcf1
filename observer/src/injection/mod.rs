//! Puts the sidecar into manifests, and takes it out again: text in, text out.
//!
//! `decision` decides what changes in a pod, as data. `edit` makes these changes in the text, so that all other bytes stay. Each
//! result is parsed again and compared with the intended value. `record` is the annotation with which `uninject` restores the
//! original bytes. `admit` has the same changes as a JSON Patch, for pods at admission, and `policy` has them as CEL. Nothing here
//! reads files or sends requests.

mod admit;
mod change;
mod decision;
mod document;
mod edit;
mod flags;
mod inject;
mod json_patch;
mod manifest;
mod node;
mod object;
mod options;
mod outcome;
mod parse;
mod phase;
mod pointer;
mod policy;
mod quantity;
mod record;
mod server_defaults;
mod texts;
mod uninject;
mod unknown_kind;
mod value;

pub(crate) use admit::{Admission, admit};
pub(crate) use decision::Referenced;
pub(crate) use manifest::{Edited, Manifest};
pub(crate) use options::{Amount, EarlierFlags, KubernetesVersion, Options, PULL_POLICIES};
pub(crate) use outcome::{Led, ObjectOutcome, Outcome};
pub(crate) use parse::NotYaml;
pub(crate) use policy::policy;
pub use texts::{SampleOptions, admit_text, inject_text, uninject_text};
pub(crate) use uninject::Edits;

#[cfg(test)]
mod tests;
