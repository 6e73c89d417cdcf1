//! One pass over a document: each object is changed, left as it is, or refused.

use serde_json::Value;

use super::document::{Document, Planned};
use super::object::{Object, objects};
use super::outcome::Refusal;
use super::value::duplicate_key;

/// The result of a pass for one object.
#[derive(Debug)]
pub(super) enum Step<T> {
    Changed(T),
    Unchanged,
    Refused(Refusal),
}

/// The result of a pass.
#[derive(Debug)]
pub(super) struct Passed<T> {
    /// The new text, if something changed.
    pub(super) text: Option<String>,
    pub(super) steps: Vec<Step<T>>,
}

/// Plans the change of one object; `None` leaves it as it is.
pub(super) type Plan<'p, T> = &'p dyn Fn(&Document<'_>, &Object) -> Result<Option<(Planned, T)>, Refusal>;

/// Passes over the objects of a document, except those that `skips` names. `lines` precede the document in its file.
pub(super) fn pass<T>(document: &Document<'_>, lines: usize, skips: &dyn Fn(usize) -> bool, plan: Plan<'_, T>) -> Passed<T> {
    let (objects, _) = objects(&document.value);
    let mut planned = Vec::new();
    let mut steps = Vec::new();
    for (place, object) in objects.iter().enumerate() {
        let step = if skips(place) { Ok(None) } else { well_formed(document, object, lines).and_then(|()| plan(document, object)) };
        steps.push(match step {
            Ok(Some((change, done))) => {
                planned.push((object, change));
                Step::Changed(done)
            }
            Ok(None) => Step::Unchanged,
            Err(refusal) => Step::Refused(refusal),
        });
    }
    if planned.is_empty() {
        return Passed { text: None, steps };
    }
    let text = document.edited(&planned);
    if text.is_none() {
        for step in steps.iter_mut().filter(|step| matches!(step, Step::Changed(_))) {
            *step = Step::Refused(unverified());
        }
    }
    Passed { text, steps }
}

/// Keys that occur twice have no clear meaning: the API server and kubectl disagree about them.
fn well_formed(document: &Document<'_>, object: &Object, lines: usize) -> Result<(), Refusal> {
    let node = object.nodes(&document.root).ok().map(|(node, _)| node);
    if let Some((key, line)) = node.and_then(duplicate_key) {
        return Err(Refusal::new(format!("line {}: the key `{key}` occurs twice", lines + line), "remove one of the two"));
    }
    match object.pod(&document.value) {
        Some(Value::Object(_)) => Ok(()),
        Some(_) | None => {
            Err(Refusal::new("the object has no pod template", "correct the manifest: the API server would refuse it, too"))
        }
    }
}

fn unverified() -> Refusal {
    Refusal::new(
        "the edited text does not have exactly the intended changes (an internal error)",
        "please report it with this manifest; converting it to JSON avoids the error",
    )
}
