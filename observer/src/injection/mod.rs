//! Puts the sidecar into manifests, and takes it out again: text in, text out.
//!
//! `decision` decides what changes in a pod, as data. `edit` makes these changes in the text, so that all other bytes stay. Each
//! result is parsed again and compared with the intended value. `record` is the annotation with which `uninject` restores the
//! original bytes. Nothing here reads files or sends requests.

mod change;
mod decision;
mod document;
mod edit;
mod inject;
mod manifest;
mod node;
mod object;
mod options;
mod outcome;
mod parse;
mod phase;
mod pointer;
mod record;
mod texts;
mod uninject;
mod value;

pub(crate) use manifest::{Accounts, Edited, Manifest};
pub(crate) use options::{DEFAULT_IMAGE, KubernetesVersion, Options};
pub(crate) use outcome::{Led, ObjectOutcome, Outcome};
pub(crate) use parse::NotYaml;
pub use texts::{inject_text, uninject_text};

#[cfg(test)]
mod tests;
