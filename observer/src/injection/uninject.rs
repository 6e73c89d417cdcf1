//! Reverses an injection.

use serde_json::Value;

use super::document::{Document, Planned};
use super::edit::{Removals, restore};
use super::object::Object;
use super::outcome::Refusal;
use super::record::Record;
use crate::pod_layout::ANNOTATION;

/// The treatment of edits in injected parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edits {
    /// The object is refused.
    Keep,
    Discard,
}

/// Plans how the sidecar leaves an object; `None` if there is none. `lines` precede the document in its file.
pub(super) fn plan(
    document: &Document<'_>,
    object: &Object,
    lines: usize,
    of_edits: Edits,
) -> Result<Option<(Planned, ())>, Refusal> {
    let Some(value) = object.pod(&document.value) else { return Ok(None) };
    let record = Record::read(value).map_err(|error| Refusal::new(format!("the annotation {ANNOTATION} {error}"), FROM_SOURCE))?;
    let Some(record) = record else { return Ok(None) };
    let record = match of_edits {
        Edits::Keep => {
            check_unchanged(&record, value)?;
            record
        }
        Edits::Discard => record.without_gone(value),
    };
    let edits = || {
        let (pod, _) = document.pod(object)?;
        let mut removals = Removals::new(of_edits == Edits::Discard);
        for added in &record.added {
            removals.remove(&pod, &added.place(), &added.names(), added.created, added.empty.as_deref())?;
        }
        let mut edits = removals.edits(&pod)?;
        for replaced in &record.replaced {
            edits.push(restore(&pod, &replaced.place(), &replaced.was)?);
        }
        Ok(edits)
    };
    let edits = edits().map_err(|obstacle: super::edit::Obstacle| obstacle.refusal(lines))?;
    let mut pod = value.clone();
    match record.undo(&mut pod) {
        Some(()) if mounts_own_volume(&pod) => Err(Refusal::new(
            "a container that was renamed since has mounts that inject added",
            "remove the variables and mounts of the sidecar there, or take the manifest from its source",
        )),
        Some(()) => Ok(Some((Planned { edits, pod }, ()))),
        None => Err(Refusal::new(format!("the annotation {ANNOTATION} does not fit the pod"), FROM_SOURCE)),
    }
}

const FROM_SOURCE: &str = "remove the annotation and the parts that inject added by hand, or take the manifest from its source";

/// Whether something of the sidecar is left in a pod without it.
fn mounts_own_volume(pod: &Value) -> bool {
    let lists = ["containers", "initContainers"].into_iter().filter_map(|list| pod.get("spec")?.get(list)?.as_array());
    let mounts = lists.flatten().filter_map(|container| container.get("volumeMounts")?.as_array()).flatten();
    mounts.filter_map(|mount| mount.get("name")?.as_str()).any(super::decision::is_own_volume)
}

/// An item that was edited since would lose these edits.
fn check_unchanged(record: &Record, pod: &Value) -> Result<(), Refusal> {
    let added = record.added.iter().find_map(|added| added.changed(pod));
    let changed =
        added.or_else(|| record.replaced.iter().find(|replaced| replaced.is_changed(pod)).map(super::record::Replaced::place));
    match changed {
        Some(place) => Err(Refusal::new(
            format!("{place} was changed or removed since it was injected, and that change would be lost"),
            "undo that change, and use the flags of inject instead, or pass --discard-edits to lose it; if a webhook of the cluster \
             changed it, exempt pods with watchtap from that webhook",
        )),
        None => Ok(()),
    }
}
