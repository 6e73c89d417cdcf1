//! The sidecar for a pod that is about to be created, as a JSON Patch.
//!
//! Mutating webhooks run after ServiceAccount admission (kubernetes/kubernetes `pkg/kubeapiserver/options/plugins.go`), so the pod
//! shows whether it has a token. It gets no record of the changes: it is replaced, and never uninjected.

use serde_json::{Value, json};

use super::change::{Addition, Changes, Item, Place};
use super::decision::{Decision, Referenced, Subject, decide};
use super::json_patch::remove;
use super::options::{Options, Seen};
use super::outcome::{Led, Refusal};
use super::pointer::{self, Pointer};
use crate::pod_layout::{ADMITTED, CONTAINER, LABEL, LABEL_VALUE, MAXIMUM_REFUSAL, OWN_VOLUME, REFUSED};

/// The beginning of a flag in a text, and what is added to that text.
pub(super) const FLAG: &str = "--";
pub(super) const FLAG_NOTE: &str = " (a flag of `watchtap inject`, which changes the manifest instead)";

/// The result for a pod.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Admission {
    /// The patch adds the sidecar.
    Injected {
        patch: Vec<Value>,
        led: Vec<Led>,
        warnings: Vec<String>,
    },
    /// The patch only adds an annotation with the refusal.
    Refused {
        patch: Vec<Value>,
        refusal: String,
    },
    Unchanged(Untouched),
}

/// The reason why nothing in a pod changes, not even an annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untouched {
    /// It has no label that requests a sidecar.
    NotRequested,
    HasSidecar,
    /// It has not the form of a pod. The API server refuses it after admission.
    Malformed,
}

/// Decides about a pod as the API server sends it, for a namespace. The pod is changed as the patch changes it: a copy of a large pod
/// would take as much memory again.
pub(crate) fn admit(pod: &mut Value, namespace: &str, options: &Options) -> Admission {
    let text = |steps: &[&str]| pointer::find(pod, steps).and_then(Value::as_str);
    if text(&["metadata", "labels", LABEL]) != Some(LABEL_VALUE) {
        return Admission::Unchanged(Untouched::NotRequested);
    }
    if has_sidecar(pod) {
        return Admission::Unchanged(Untouched::HasSidecar);
    }
    let (options, none) = (Options { seen: Seen::AtAdmission, ..options.clone() }, Referenced::default());
    let subject = Subject { object: &*pod, namespace: Some(namespace), pod: &*pod, had_token: false, referenced: &none };
    match decide(&subject, &options) {
        Ok(Some(decision)) => injected(pod, decision),
        Ok(None) => Admission::Unchanged(Untouched::Malformed),
        Err(refusal) if refusal.may_pass => Admission::Unchanged(Untouched::Malformed),
        Err(refusal) => refused(pod, &refusal),
    }
}

/// Whether the pod comes from an injected manifest, or was admitted before. Another container may have the name by chance.
fn has_sidecar(pod: &Value) -> bool {
    let is_always = |sidecar: &Value| sidecar.get("restartPolicy").and_then(Value::as_str) == Some("Always");
    let is_own = |mount: &Value| mount.get("name").and_then(Value::as_str) == Some(OWN_VOLUME);
    let mounts_own =
        |sidecar: &Value| sidecar.get("volumeMounts").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_own));
    let container = pointer::find(pod, &["spec", "initContainers", CONTAINER]);
    container.is_some_and(|container| is_always(container) && mounts_own(container))
}

fn injected(pod: &mut Value, decision: Decision) -> Admission {
    let Decision { mut changes, led, warnings } = decision;
    changes.additions.push(annotation(ADMITTED, env!("CARGO_PKG_VERSION")));
    // A pod that was copied may have the annotation of another result.
    let Some(patch) = patch_of(pod, &changes, REFUSED) else { return Admission::Unchanged(Untouched::Malformed) };
    Admission::Injected { patch, led, warnings: warnings.into_iter().map(|warning| one_line(&at_admission(warning))).collect() }
}

fn refused(pod: &mut Value, refusal: &Refusal) -> Admission {
    let text = one_line(&at_admission(refusal_text(refusal)));
    let changes = Changes { replacements: Vec::new(), additions: vec![annotation(REFUSED, &text)] };
    let Some(patch) = patch_of(pod, &changes, ADMITTED) else { return Admission::Unchanged(Untouched::Malformed) };
    Admission::Refused { patch, refusal: text }
}

/// The operations for the changes, and for the removal of an annotation.
fn patch_of(pod: &mut Value, changes: &Changes, outdated: &str) -> Option<Vec<Value>> {
    let removed = remove(pod, &Pointer::of(["metadata", "annotations", outdated]));
    let made = changes.json_patch(pod)?;
    Some(removed.into_iter().chain(made).collect())
}

fn annotation(name: &str, value: &str) -> Addition {
    let items = vec![Item { name: name.to_owned(), value: json!(value) }];
    Addition { to: Pointer::of(["metadata", "annotations"]), place: Place::Last, items }
}

/// The text of the annotation, before it is fitted into one line.
pub(super) fn refusal_text(refusal: &Refusal) -> String {
    format!("{}; {}", refusal.reason, refusal.remedy)
}

/// Admission has no flags for single pods.
fn at_admission(text: String) -> String {
    if text.contains(FLAG) { text + FLAG_NOTE } else { text }
}

/// The text for an annotation and for a header field, in printable ASCII. Names of files in it come from the pod.
fn one_line(text: &str) -> String {
    let printable = |character: char| if matches!(character, ' '..='~') { character } else { '?' };
    text.replace('…', "...").chars().map(printable).take(MAXIMUM_REFUSAL).collect()
}
