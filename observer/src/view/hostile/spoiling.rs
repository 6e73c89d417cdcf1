//! Adds untrusted text to the texts of observations. The places of these texts are searched for, not listed.

use observer_core::observation::Observation;
use serde_json::Value;

/// `observation` with `text` added to each of its free-form texts that `which` selects.
pub(super) fn spoiled(observation: &Observation, text: &str, which: &mut impl Iterator<Item = bool>) -> Observation {
    let mut value = serde_json::to_value(observation).unwrap();
    let mut places = Vec::new();
    texts(&value, String::new(), &mut places);
    for place in places {
        // Text added to one of our own words makes it invalid, or another word. A version is recognised by its beginning.
        let changes = [true, false].map(|is_before| changed(&value, &place, text, is_before));
        if let Some(changed) = changes.into_iter().flatten().next().filter(|_| which.next() == Some(true)) {
            value = changed;
        }
    }
    serde_json::from_value(value).unwrap()
}

/// An observation with `text` before or after the text at `place`; `None` if there is no text at `place`, or the result is invalid.
fn changed(observation: &Value, place: &str, text: &str, is_before: bool) -> Option<Value> {
    let mut changed = observation.clone();
    let leaf = changed.pointer_mut(place)?;
    let old = leaf.as_str()?;
    *leaf = Value::String(if is_before { format!("{text}{old}") } else { format!("{old}{text}") });
    let taken = serde_json::from_value::<Observation>(changed.clone()).ok()?;
    (serde_json::to_value(taken).ok()? == changed).then_some(changed)
}

/// Finds the places of all texts.
fn texts(value: &Value, place: String, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(place),
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                texts(value, format!("{place}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                texts(value, format!("{place}/{name}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
