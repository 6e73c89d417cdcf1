//! The changes to a pod, as data: the text editors make edits of them, and admission makes a JSON Patch.

use serde_json::{Map, Value};

use super::pointer::{self, Pointer};

/// Everything that changes in one pod. Replacements come first: a moved mount gets its new name before another mount is added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) replacements: Vec<Replacement>,
    pub(super) additions: Vec<Addition>,
}

/// New items for one list, or new members of one mapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Addition {
    /// The collection. It is created with its parents, if it does not exist.
    pub(super) to: Pointer,
    pub(super) place: Place,
    pub(super) items: Vec<Item>,
}

/// The place of new items among those of the collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    First,
    Last,
}

/// An item of a list with the name that distinguishes it, or a key with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) value: Value,
}

/// A new value for a scalar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    pub(super) at: Pointer,
    pub(super) to: String,
}

impl Addition {
    /// The items as one value: a mapping of annotations, or a list.
    pub(super) fn collected(&self) -> Value {
        if self.is_list() {
            return self.items.iter().map(|item| item.value.clone()).collect();
        }
        Value::Object(self.items.iter().map(|item| (item.name.clone(), item.value.clone())).collect())
    }

    pub(super) fn is_list(&self) -> bool {
        self.to.is_list()
    }
}

impl Replacement {
    /// The place after the change: a mount is named by its path.
    pub(super) fn new_place(&self) -> Pointer {
        let mut steps = self.at.steps();
        if let [.., mount, "mountPath"] = steps.as_mut_slice() {
            *mount = &self.to;
        }
        Pointer::of(steps)
    }
}

impl Changes {
    /// Changes the value of a pod. `None` if a place does not exist.
    pub(super) fn apply(&self, pod: &mut Value) -> Option<()> {
        for replacement in &self.replacements {
            replacement.apply(pod)?;
        }
        self.additions.iter().try_for_each(|addition| addition.apply(pod))
    }
}

impl Replacement {
    pub(super) fn apply(&self, pod: &mut Value) -> Option<()> {
        *pointer::find_mut(pod, &self.at.steps())? = Value::String(self.to.clone());
        Some(())
    }
}

impl Addition {
    pub(super) fn apply(&self, pod: &mut Value) -> Option<()> {
        let steps = self.to.steps();
        for end in 1..=steps.len() {
            let (parent, [.., last]) = (pointer::find_mut(pod, steps.get(..end - 1)?)?, steps.get(..end)?) else { return None };
            if let Value::Object(map) = parent {
                let is_list = end == steps.len() && self.is_list();
                let empty = || if is_list { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
                let child = map.entry(*last).or_insert_with(empty);
                if child.is_null() {
                    *child = empty();
                }
            }
        }
        match pointer::find_mut(pod, &steps)? {
            Value::Array(items) => {
                let at = if self.place == Place::First { 0 } else { items.len() };
                items.splice(at..at, self.items.iter().map(|item| item.value.clone()));
            }
            Value::Object(map) => map.extend(self.items.iter().map(|item| (item.name.clone(), item.value.clone()))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        }
        Some(())
    }
}
