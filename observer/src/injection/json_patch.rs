//! Changes as a JSON Patch (RFC 6902), which an admission webhook returns. Only the parts that change are in it.
//!
//! The API server applies it to the object that it sent (kubernetes/apiserver
//! `pkg/admission/plugin/webhook/mutating/dispatcher.go`), so items of lists have the numbers of that object.

use serde_json::{Value, json};

use super::change::{Addition, Changes, Place, Replacement};
use super::pointer::{self, Pointer};

impl Changes {
    /// Changes the value of a pod, and returns the same changes as operations. `None` if a place does not exist.
    pub(super) fn json_patch(&self, pod: &mut Value) -> Option<Vec<Value>> {
        let mut operations = Vec::new();
        for replacement in &self.replacements {
            operations.push(replacement.operation(pod)?);
            replacement.apply(pod)?;
        }
        for addition in &self.additions {
            operations.extend(addition.operations(pod)?);
            addition.apply(pod)?;
        }
        Some(operations)
    }
}

/// The operation that removes a member, if the pod has it. It is removed from `pod`, too.
pub(super) fn remove(pod: &mut Value, at: &Pointer) -> Option<Value> {
    let steps = at.steps();
    let (last, parents) = steps.split_last()?;
    let path = numbered(pod, &steps)?;
    pointer::find_mut(pod, parents)?.as_object_mut()?.shift_remove(*last)?;
    Some(json!({"op": "remove", "path": path}))
}

impl Replacement {
    fn operation(&self, pod: &Value) -> Option<Value> {
        let steps = self.at.steps();
        pointer::find(pod, &steps)?;
        Some(json!({"op": "replace", "path": numbered(pod, &steps)?, "value": self.to}))
    }
}

impl Addition {
    fn operations(&self, pod: &Value) -> Option<Vec<Value>> {
        let steps = self.to.steps();
        let is_there =
            |end: &usize| steps.get(..*end).and_then(|way| pointer::find(pod, way)).is_some_and(|value| !value.is_null());
        let existing = (0..=steps.len()).rev().find(is_there)?;
        let Some((way, missing)) = steps.split_at_checked(existing + 1) else { return self.items_for(pod, &steps) };
        // All that does not exist is created by one operation. It also replaces a null.
        let created = missing.iter().rev().fold(self.collected(), |value, step| json!({*step: value}));
        Some(vec![add(&numbered(pod, way)?, &created)])
    }

    /// Operations for a collection that exists.
    fn items_for(&self, pod: &Value, steps: &[&str]) -> Option<Vec<Value>> {
        let collection = numbered(pod, steps)?;
        let path = |(number, item): (usize, &super::change::Item)| match (pointer::find(pod, steps)?, self.place) {
            (Value::Array(_), Place::First) => Some(format!("{collection}/{number}")),
            (Value::Array(_), Place::Last) => Some(format!("{collection}/-")),
            (Value::Object(_), _) => Some(format!("{collection}{}", Pointer::of([item.name.as_str()]))),
            (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_), _) => None,
        };
        self.items.iter().enumerate().map(|numbered| Some(add(&path(numbered)?, &numbered.1.value))).collect()
    }
}

fn add(path: &str, value: &Value) -> Value {
    json!({"op": "add", "path": path, "value": value})
}

/// The path of a value, with numbers in place of the names of items. The last member of a mapping need not exist.
fn numbered(pod: &Value, steps: &[&str]) -> Option<String> {
    let mut path = Pointer::default();
    for (place, step) in steps.iter().enumerate() {
        let way = steps.get(..place)?;
        path = match pointer::find(pod, way)? {
            Value::Object(_) => path.with(step),
            Value::Array(items) => {
                let number = pointer::position(items, Pointer::of(way.iter().copied()).naming_member(), step)?;
                path.with(&number.to_string())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(path.to_string())
}
