//! The place of a value in a pod: a JSON pointer (RFC 6901) in which items of lists have names instead of numbers.
//!
//! So a place stays valid if other items are added. `/spec/containers/app/env/HOME` is the variable `HOME` of the container `app`.

use std::fmt;

use serde_json::Value;

/// The steps from the pod to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pointer(Vec<String>);

impl Pointer {
    pub(super) fn of<'s>(steps: impl IntoIterator<Item = &'s str>) -> Self {
        Self(steps.into_iter().map(str::to_owned).collect())
    }

    /// `None` if the text is no JSON pointer.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let steps = text.strip_prefix('/')?.split('/');
        Some(Self(steps.map(|step| step.replace("~1", "/").replace("~0", "~")).collect()))
    }

    pub(super) fn with(&self, step: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(step.to_owned());
        Self(steps)
    }

    pub(super) fn steps(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }

    /// Whether the collection at this place is a list. Of the places that change, only annotations are a mapping.
    pub(super) fn is_list(&self) -> bool {
        self.0.last().is_some_and(|step| step != "annotations")
    }

    /// The member of a list's items that names them.
    pub(super) fn naming_member(&self) -> &'static str {
        if self.0.last().is_some_and(|step| step == "volumeMounts") { "mountPath" } else { "name" }
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|step| write!(f, "/{}", step.replace('~', "~0").replace('/', "~1")))
    }
}

/// The value at the end of `steps`, if all of them exist.
pub(super) fn find<'v>(pod: &'v Value, steps: &[&str]) -> Option<&'v Value> {
    let mut at = Pointer::default();
    let mut value = pod;
    for step in steps {
        value = match value {
            Value::Object(map) => map.get(*step)?,
            Value::Array(items) => items.get(position(items, at.naming_member(), step)?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
        at = at.with(step);
    }
    Some(value)
}

/// The same, to change the value.
pub(super) fn find_mut<'v>(pod: &'v mut Value, steps: &[&str]) -> Option<&'v mut Value> {
    let mut at = Pointer::default();
    let mut value = pod;
    for step in steps {
        value = match value {
            Value::Object(map) => map.get_mut(*step)?,
            Value::Array(items) => {
                let place = position(items, at.naming_member(), step)?;
                items.get_mut(place)?
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
        at = at.with(step);
    }
    Some(value)
}

/// The place of the item with this name.
pub(super) fn position(items: &[Value], naming_member: &str, name: &str) -> Option<usize> {
    items.iter().position(|item| item.get(naming_member).and_then(Value::as_str) == Some(name))
}
