//! One pass over a document: each object is changed, left as it is, or refused.

use serde_json::Value;

use super::decision::incomplete;
use super::document::{Document, Planned};
use super::object::{Object, objects};
use super::outcome::Refusal;
use super::value::duplicate_key;

/// Maximum number of times that a pass tries a part of its changes, to find those that fail. Each time costs a parse of the document.
/// A failing object of a thousand takes twenty.
const MOST_ATTEMPTS: usize = 64;

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

/// Plans the change of one object, which has this place among the objects of its document; `None` leaves it as it is.
pub(super) type Plan<'p, T> = &'p dyn Fn(&Document<'_>, &Object, usize) -> Result<Option<(Planned, T)>, Refusal>;

/// Passes over the objects of a document, except those that `skips` names. `lines` precede the document in its file.
pub(super) fn pass<T>(document: &Document<'_>, lines: usize, skips: &dyn Fn(usize) -> bool, plan: Plan<'_, T>) -> Passed<T> {
    let objects = objects(&document.value).objects;
    let mut planned = Vec::new();
    let mut places = Vec::new();
    let mut steps = Vec::new();
    for (place, object) in objects.iter().enumerate() {
        let step =
            if skips(place) { Ok(None) } else { well_formed(document, object, lines).and_then(|()| plan(document, object, place)) };
        steps.push(match step {
            Ok(Some((change, done))) => {
                planned.push((object, change));
                places.push(place);
                Step::Changed(done)
            }
            Ok(None) => Step::Unchanged,
            Err(refusal) => Step::Refused(refusal),
        });
    }
    if planned.is_empty() {
        return Passed { text: None, steps };
    }
    let mut text = document.edited(&planned);
    if text.is_none() {
        let (mut fails, mut attempts_left) = (vec![true; planned.len()], MOST_ATTEMPTS);
        find_failing(document, &planned, &mut fails, &mut attempts_left);
        let mut done = fails.iter();
        planned.retain(|_| done.next().is_some_and(|fails| !fails));
        text = document.edited(&planned).filter(|_| !planned.is_empty());
        for (place, fails) in places.into_iter().zip(fails) {
            if let (true, Some(step)) = (fails || text.is_none(), steps.get_mut(place)) {
                *step = Step::Refused(unverified(document));
            }
        }
    }
    Passed { text, steps }
}

/// Finds the changes that do not have the intended result: `fails` becomes false for the others. The changes of all together are known
/// to fail.
fn find_failing(document: &Document<'_>, planned: &[(&Object, Planned)], fails: &mut [bool], attempts_left: &mut usize) {
    if planned.len() < 2 {
        return;
    }
    let middle = planned.len() / 2;
    let (first, second) = planned.split_at(middle);
    let (first_fails, second_fails) = fails.split_at_mut(middle);
    for (planned, fails) in [(first, first_fails), (second, second_fails)] {
        let Some(left) = attempts_left.checked_sub(1) else { return };
        *attempts_left = left;
        if document.edited(planned).is_some() {
            fails.fill(false);
        } else {
            find_failing(document, planned, fails, attempts_left);
        }
    }
}

/// Keys that occur twice have no clear meaning: the API server and kubectl disagree about them.
fn well_formed(document: &Document<'_>, object: &Object, lines: usize) -> Result<(), Refusal> {
    let node = object.nodes(&document.root).ok().map(|(node, _)| node);
    if let Some((key, line)) = node.and_then(duplicate_key) {
        return Err(Refusal::new(format!("line {}: the key `{key}` occurs twice", lines + line), "remove one of the two"));
    }
    match object.pod(&document.value) {
        Some(Value::Object(_)) => Ok(()),
        Some(_) | None => Err(incomplete("the object has no pod template")),
    }
}

fn unverified(document: &Document<'_>) -> Refusal {
    let report = "please report it with this manifest";
    Refusal::new(
        "the edited text does not have exactly the intended changes (an internal error)",
        if document.is_json { report.to_owned() } else { format!("{report}; converting it to JSON avoids the error") },
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Passes over as many pods, whose changes fail at these places.
    fn passed(pods: usize, failing: &[usize]) -> Vec<bool> {
        let pod = |number: usize| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": number.to_string()}, "spec": {}});
        let text = json!({"apiVersion": "v1", "kind": "List", "items": (0..pods).map(pod).collect::<Vec<_>>()}).to_string();
        let document = Document::read(&text).unwrap().unwrap();
        let plan = |document: &Document<'_>, object: &Object, place: usize| {
            let mut pod = object.pod(&document.value).unwrap().clone();
            if failing.contains(&place) {
                pod["spec"]["hostNetwork"] = json!(true);
            }
            Ok(Some((Planned { edits: Vec::new(), pod }, ())))
        };
        let passed = pass(&document, 0, &|_| false, &plan);
        assert_eq!(passed.text.is_some(), passed.steps.iter().any(|step| matches!(step, Step::Changed(()))));
        passed.steps.iter().map(|step| matches!(step, Step::Refused(_))).collect()
    }

    #[test]
    fn only_objects_whose_change_fails_are_refused() {
        for (pods, failing) in [(1, &[0][..]), (2, &[1]), (7, &[0, 3, 6]), (100, &[17, 18, 99]), (3, &[0, 1, 2]), (4, &[])] {
            let expected: Vec<bool> = (0..pods).map(|place| failing.contains(&place)).collect();
            assert_eq!(passed(pods, failing), expected, "{pods} {failing:?}");
        }
    }

    #[test]
    fn search_for_failing_changes_ends() {
        let all: Vec<usize> = (0..100).collect();
        assert_eq!(passed(100, &all), vec![true; 100]);
    }
}
