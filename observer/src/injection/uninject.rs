//! Reverses an injection.

use super::document::{Document, Planned};
use super::edit::{Removals, replace};
use super::object::Object;
use super::outcome::Refusal;
use super::record::Record;
use crate::pod_layout::ANNOTATION;

/// Plans how the sidecar leaves an object; `None` if there is none. `lines` precede the document in its file.
pub(super) fn plan(document: &Document<'_>, object: &Object, lines: usize) -> Result<Option<(Planned, ())>, Refusal> {
    let Some(value) = object.pod(&document.value) else { return Ok(None) };
    let record = Record::read(value).map_err(|error| Refusal::new(format!("the annotation {ANNOTATION} {error}"), FROM_SOURCE))?;
    let Some(record) = record else { return Ok(None) };
    check_unchanged(&record, value)?;
    let edits = || {
        let (pod, _) = document.pod(object)?;
        let mut removals = Removals::default();
        for added in &record.added {
            removals.remove(&pod, &added.place(), &added.names(), added.created, added.empty.as_deref())?;
        }
        let mut edits = removals.edits(&pod)?;
        for replaced in &record.replaced {
            edits.push(replace(&pod, &replaced.place(), replaced.was.clone())?.1);
        }
        Ok(edits)
    };
    let edits = edits().map_err(|obstacle: super::edit::Obstacle| obstacle.refusal(lines))?;
    let mut pod = value.clone();
    match record.undo(&mut pod) {
        Some(()) => Ok(Some((Planned { edits, pod }, ()))),
        None => Err(Refusal::new(format!("the annotation {ANNOTATION} does not fit the pod"), FROM_SOURCE)),
    }
}

const FROM_SOURCE: &str = "remove the annotation and the parts that inject added by hand, or take the manifest from its source";

/// An item that was edited since would lose these edits.
fn check_unchanged(record: &Record, pod: &serde_json::Value) -> Result<(), Refusal> {
    let added = record.added.iter().find_map(|added| added.changed(pod).map(|name| added.place().with(name)));
    let changed =
        added.or_else(|| record.replaced.iter().find(|replaced| replaced.is_changed(pod)).map(super::record::Replaced::place));
    match changed {
        Some(place) => Err(Refusal::new(
            format!("{place} was changed or removed since it was injected, and that change would be lost"),
            "undo that change, or take the manifest from its source; use the flags of inject instead of edits",
        )),
        None => Ok(()),
    }
}
