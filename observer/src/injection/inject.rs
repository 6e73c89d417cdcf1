//! Injects the sidecar into an object.

use serde_json::{Value, json};

use super::change::{Addition, Changes, Item, Place};
use super::decision::{Decision, ServiceAccounts, Subject, decide};
use super::document::{Document, Planned};
use super::edit::{Edit, Obstacle, Pod, Style, created, insert, replace, written};
use super::object::Object;
use super::options::Options;
use super::outcome::Refusal;
use super::pointer::Pointer;
use super::record::Record;
use crate::pod_layout::ANNOTATION;

/// Plans how the sidecar comes into an object that has none; `None` if no container is to be led. `lines` precede the document in its
/// file.
pub(super) fn plan(
    document: &Document<'_>,
    object: &Object,
    lines: usize,
    options: &Options,
    accounts: &ServiceAccounts,
) -> Result<Option<(Planned, Decision)>, Refusal> {
    let value = object.pod(&document.value).unwrap_or(&Value::Null);
    let subject = Subject { object: object.value(&document.value), pod: value };
    let Some(mut decision) = decide(&subject, options, accounts)? else { return Ok(None) };
    let refusal = |obstacle: Obstacle| obstacle.refusal(lines);
    let (pod, style) = document.pod(object).map_err(refusal)?;
    let edits = edits(&pod, &style, &mut decision.changes).map_err(refusal)?;
    let mut after = value.clone();
    decision.changes.apply(&mut after).ok_or_else(|| {
        Refusal::new(
            "the pod has another form than Kubernetes expects",
            "correct the manifest: the API server would refuse it, too",
        )
    })?;
    // What cannot be uninjected is not injected.
    Record::read(&after)
        .map_err(|error| Refusal::new(format!("the annotation {ANNOTATION} {error}"), "lead fewer containers with --container"))?;
    Ok(Some((Planned { edits, pod: after }, decision)))
}

/// The edits that make the changes. The annotation, which records them, becomes one of them.
fn edits(pod: &Pod<'_>, style: &Style, changes: &mut Changes) -> Result<Vec<Edit>, Obstacle> {
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
    let record = Record::of(changes, created, was).text();
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
