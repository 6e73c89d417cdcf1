//! Injects the sidecar into an object.

use serde_json::{Value, json};

use super::change::{Addition, Changes, Item, Place};
use super::decision::{Decision, Referenced, Subject, TOKEN_VOLUME, decide};
use super::document::{Document, Planned};
use super::edit::{Edit, Obstacle, Pod, Style, created, insert, replace, written};
use super::flags::Flags;
use super::object::Object;
use super::options::Options;
use super::outcome::Refusal;
use super::pointer::{self, Pointer};
use super::record::Record;
use crate::pod_layout::ANNOTATION;

/// Facts about an object beyond its own manifest.
pub(super) struct Known<'k> {
    pub(super) referenced: &'k Referenced,
    /// Whether an earlier injection gave its pod a token. Its owner has agreed to that.
    pub(super) had_token: bool,
}

/// The decisions of an earlier injection about an object.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// Whether it gave the pod a token.
    pub(super) had_token: bool,
    pub(super) flags: Flags,
}

impl Earlier {
    pub(super) fn of(document: &Document<'_>, object: &Object) -> Self {
        let pod = object.pod(&document.value).unwrap_or(&Value::Null);
        let Ok(Some(record)) = Record::read(pod) else { return Self::default() };
        Self { had_token: pointer::find(pod, &["spec", "volumes", TOKEN_VOLUME]).is_some(), flags: record.flags }
    }
}

/// Plans how the sidecar comes into an object that has none; `None` if no container is to be led. `lines` precede the document in its
/// file.
pub(super) fn plan(
    document: &Document<'_>,
    object: &Object,
    lines: usize,
    options: &Options,
    known: &Known<'_>,
) -> Result<Option<(Planned, Decision)>, Refusal> {
    let value = object.pod(&document.value).unwrap_or(&Value::Null);
    let object_value = object.value(&document.value);
    let namespace = object_value.pointer("/metadata/namespace").and_then(Value::as_str);
    let subject = Subject { object: object_value, namespace, pod: value, had_token: known.had_token, referenced: known.referenced };
    let Some(mut decision) = decide(&subject, options)? else { return Ok(None) };
    let refusal = |obstacle: Obstacle| obstacle.refusal(lines);
    let (pod, style) = document.pod(object).map_err(refusal)?;
    let edits = edits(&pod, &style, &mut decision.changes, Flags::of(options, value)).map_err(refusal)?;
    let mut after = value.clone();
    decision.changes.apply(&mut after).ok_or_else(|| {
        Refusal::new(
            "the pod has another form than Kubernetes expects",
            "correct the manifest: the API server would refuse it, too",
        )
    })?;
    // What cannot be uninjected is not injected.
    Record::read(&after).map_err(|error| {
        Refusal::new(format!("the annotation {ANNOTATION} {error}"), "observe fewer containers with --container")
    })?;
    Ok(Some((Planned { edits, pod: after }, decision)))
}

/// The edits that make the changes. The annotation, which records them, becomes one of them.
fn edits(pod: &Pod<'_>, style: &Style, changes: &mut Changes, flags: Flags) -> Result<Vec<Edit>, Obstacle> {
    let mut edits = Vec::new();
    let mut was = Vec::new();
    for replacement in &changes.replacements {
        let (old, mut edit) = replace(pod, &replacement.at, String::new())?;
        edit.text = written(&replacement.to, &old);
        edits.push(edit);
        was.push(old);
    }
    changes.additions.push(annotation(""));
    let created = changes.additions.iter().map(|addition| created(pod, &addition.to)).collect::<Result<Vec<_>, _>>()?;
    let record = Record::of(changes, created, was, flags).text();
    changes.additions.pop();
    changes.additions.push(annotation(&record));
    for addition in &changes.additions {
        edits.extend(insert(pod, addition, style)?);
    }
    Ok(edits)
}

fn annotation(record: &str) -> Addition {
    let item = Item { name: ANNOTATION.to_owned(), value: json!(record) };
    Addition { to: Pointer::of(["metadata", "annotations"]), place: Place::Last, items: vec![item] }
}
