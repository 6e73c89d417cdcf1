//! The annotation that records the changes of `inject`, so that `uninject` can reverse them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::change::{Changes, Item};
use super::edit::{Created, one_scalar};
use super::flags::Flags;
use super::pointer::{self, Pointer};
use super::server_defaults::is_default;
use crate::pod_layout::{ANNOTATION, CONTAINER, MOVED_SERVICE_ACCOUNT};

/// Maximum length of the annotation. Kubernetes allows 256 KiB for all annotations of an object together.
const LONGEST: usize = 128 * 1024;

/// The content of the annotation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    /// The version that injected.
    pub(super) watchtap: String,
    pub(super) added: Vec<Added>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replaced: Vec<Replaced>,
    #[serde(default, skip_serializing_if = "Flags::is_none")]
    pub(super) flags: Flags,
}

/// Items that were added to one collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Added {
    to: String,
    /// How many of the last collections of the place did not exist.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) created: usize,
    /// The text of the empty value that the items replaced, from its colon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) empty: Option<String>,
    /// The names of the items, each with a checksum of its content. Those of the sidecar are of its members, so that an edit of it can
    /// be named.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    items: Map<String, Value>,
}

/// A scalar that was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Replaced {
    at: String,
    /// The bytes of the old value.
    pub(super) was: String,
    /// The checksum of the new value.
    sum: String,
}

/// The reason why a record cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadRecord {
    #[error("is damaged: {0}")]
    Unreadable(String),
    #[error("names {0}, which inject does not change")]
    Foreign(String),
    #[error("has an original value that is not a single value")]
    NotAValue,
    #[error("has a value of {0} that inject does not write")]
    Flag(&'static str),
    #[error("does not record {0}, which every injection adds")]
    Incomplete(&'static str),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Record {
    /// Records changes. `created` belongs to the additions, and `was` to the replacements, in their order. The annotation itself is
    /// the last addition; its content is the record, so it has no checksum.
    pub(super) fn of(changes: &Changes, created: Vec<Created>, was: Vec<String>, flags: Flags) -> Self {
        let added = changes.additions.iter().zip(created).map(|(addition, created)| Added {
            to: addition.to.to_string(),
            created: created.collections,
            empty: created.empty,
            items: addition.items.iter().filter(|item| item.name != ANNOTATION).map(sum_of_item).collect(),
        });
        let replaced = changes.replacements.iter().zip(was).map(|(replacement, was)| Replaced {
            at: replacement.new_place().to_string(),
            was,
            sum: checksum(&Value::from(replacement.to.as_str())),
        });
        Self { watchtap: env!("CARGO_PKG_VERSION").to_owned(), added: added.collect(), replaced: replaced.collect(), flags }
    }

    /// The text of the annotation, in ASCII: YAML's parsers disagree about some other characters.
    pub(super) fn text(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        let mut text = String::with_capacity(json.len());
        for character in json.chars() {
            if character.is_ascii() {
                text.push(character);
            } else {
                text.extend(character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
        text
    }

    /// Reads the annotation of a pod, if there is one. Its content may come from an attacker.
    pub(super) fn read(pod: &Value) -> Result<Option<Self>, BadRecord> {
        let Some(text) = pointer::find(pod, &["metadata", "annotations", ANNOTATION]) else { return Ok(None) };
        let text = text.as_str().filter(|text| text.len() <= LONGEST);
        let text = text.ok_or_else(|| BadRecord::Unreadable("it is no text of at most 128 KiB".to_owned()))?;
        let record: Self = serde_json::from_str(text).map_err(|error| BadRecord::Unreadable(error.to_string()))?;
        record.added.iter().try_for_each(Added::check)?;
        record.replaced.iter().try_for_each(Replaced::check)?;
        record.flags.first_bad().map_or(Ok(()), |flag| Err(BadRecord::Flag(flag)))?;
        record.check_complete()?;
        Ok(Some(record.without_removed(pod)))
    }

    /// The pod with a record without the manifest's notation. It is the same for YAML and for the JSON that the API server returns.
    pub(super) fn without_notation(pod: &Value) -> Value {
        let mut pod = pod.clone();
        if let Some(Value::String(text)) = pointer::find_mut(&mut pod, &["metadata", "annotations", ANNOTATION])
            && let Ok(mut record) = serde_json::from_str::<Self>(text)
        {
            for added in &mut record.added {
                (added.created, added.empty) = (0, None);
            }
            for replaced in &mut record.replaced {
                replaced.was = one_scalar(&replaced.was).unwrap_or_default().to_string();
            }
            *text = record.text();
        }
        pod
    }

    /// Forgets the containers that were removed since: nothing in them is left to undo. A container with a volume of ours that is not
    /// recorded may be one of them under another name. Then all stay, and the first that is missing is reported.
    fn without_removed(mut self, pod: &Value) -> Self {
        let is_recorded = |group: &str, name: &str| {
            let is_of_it = |place: &Pointer| place.steps().starts_with(&["spec", group, name]);
            name == CONTAINER || self.added.iter().any(|added| is_of_it(&added.place()))
        };
        let is_renamed = |group: &str, container: &Value| {
            let mounts = container.get("volumeMounts").and_then(Value::as_array).into_iter().flatten();
            let mut volumes = mounts.filter_map(|mount| mount.get("name").and_then(Value::as_str));
            let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
            !is_recorded(group, name) && volumes.any(super::decision::is_own_volume)
        };
        let has_renamed = ["containers", "initContainers"].into_iter().any(|group| {
            let containers = pointer::find(pod, &["spec", group]).and_then(Value::as_array);
            containers.into_iter().flatten().any(|container| is_renamed(group, container))
        });
        if has_renamed {
            return self;
        }
        let is_there = |place: &Pointer| match place.steps().as_slice() {
            ["spec", group @ ("containers" | "initContainers"), name, ..] => pointer::find(pod, &["spec", group, name]).is_some(),
            _ => true,
        };
        self.added.retain(|added| is_there(&added.place()));
        self.replaced.retain(|replaced| is_there(&replaced.place()));
        self
    }

    /// Forgets the places that are gone.
    pub(super) fn without_gone(mut self, pod: &Value) -> Self {
        let is_there = |place: &Pointer| pointer::find(pod, &place.steps()).is_some();
        self.added.retain(|added| is_there(&added.place()));
        self.replaced.retain(|replaced| is_there(&replaced.place()));
        self
    }

    /// A record without the sidecar or without itself would leave them in the pod, and the pod would count as uninjected.
    fn check_complete(&self) -> Result<(), BadRecord> {
        let adds = |to: &str, name: &str| self.added.iter().any(|added| added.to == to && added.names().contains(&name));
        if !adds("/spec/initContainers", CONTAINER) {
            return Err(BadRecord::Incomplete("the sidecar"));
        }
        if !adds("/metadata/annotations", ANNOTATION) {
            return Err(BadRecord::Incomplete("itself"));
        }
        Ok(())
    }
}

impl Record {
    /// Reverses the changes in the value of a pod. `None` if a place does not exist.
    pub(super) fn undo(&self, pod: &mut Value) -> Option<()> {
        self.added.iter().try_for_each(|added| added.undo(pod))?;
        for replaced in &self.replaced {
            *pointer::find_mut(pod, &replaced.place().steps())? = one_scalar(&replaced.was)?;
        }
        Some(())
    }
}

impl Added {
    fn undo(&self, pod: &mut Value) -> Option<()> {
        let place = self.place();
        let mut steps = place.steps();
        let names = self.names();
        match pointer::find_mut(pod, &steps)? {
            Value::Array(items) => items.retain(|item| {
                let name = item.get(place.naming_member()).and_then(Value::as_str);
                !name.is_some_and(|name| names.contains(&name))
            }),
            Value::Object(map) => map.retain(|name, _| !names.contains(&name.as_str())),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        }
        for _ in 0..self.created {
            let last = steps.last().copied()?;
            if !is_empty(pointer::find(pod, &steps)?) {
                break;
            }
            steps.pop();
            if let Value::Object(parent) = pointer::find_mut(pod, &steps)? {
                parent.remove(last);
            }
        }
        Some(())
    }

    pub(super) fn place(&self) -> Pointer {
        Pointer::parse(&self.to).unwrap_or_default()
    }

    /// The names of the added items.
    pub(super) fn names(&self) -> Vec<&str> {
        let own = (self.to == "/metadata/annotations").then_some(ANNOTATION);
        self.items.keys().map(String::as_str).chain(own).collect()
    }

    /// The first item or member of one that was changed or removed since.
    pub(super) fn changed(&self, pod: &Value) -> Option<Pointer> {
        self.items.iter().find_map(|(name, sum)| {
            let place = self.place().with(name);
            match (sum, pointer::find(pod, &place.steps())) {
                (Value::Object(sums), Some(Value::Object(found))) => {
                    let is_changed =
                        |member: &str| found.get(member).map(checksum).as_deref() != sums.get(member).and_then(Value::as_str);
                    let is_new = |member: &str| found.get(member).is_some_and(|value| !is_default(found, member, value));
                    let changed = sums.keys().find(|member| is_changed(member));
                    let new = || found.keys().find(|member| !sums.contains_key(*member) && is_new(member));
                    changed.or_else(new).map(|member| place.with(member))
                }
                (sum, found) => (found.map(checksum).as_deref() != sum.as_str()).then_some(place),
            }
        })
    }

    fn check(&self) -> Result<(), BadRecord> {
        let place = self.place();
        let steps = place.steps();
        let may_have: fn(&str) -> bool = match steps.as_slice() {
            ["metadata", "annotations"] => |_| false,
            ["spec", "initContainers"] => |name| name == CONTAINER,
            ["spec", "volumes"] => |name| super::decision::is_own_volume(name),
            ["spec", "containers" | "initContainers", _, "env"] => super::decision::is_added_variable,
            ["spec", "containers" | "initContainers", _, "volumeMounts"] => super::decision::is_added_mount,
            _ => return Err(BadRecord::Foreign(self.to.clone())),
        };
        // The pod and its spec are always there.
        let most_created = if steps.first() == Some(&"metadata") { 2 } else { 1 };
        let is_empty = self.empty.as_deref().is_none_or(|text| {
            let text: String = text.split_whitespace().collect();
            matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL" | "[]" | "{}")
        });
        match self.items.keys().find(|name| !may_have(name)) {
            Some(name) => Err(BadRecord::Foreign(place.with(name).to_string())),
            None if self.created > most_created => Err(BadRecord::Foreign(self.to.clone())),
            None if is_empty => Ok(()),
            None => Err(BadRecord::NotAValue),
        }
    }
}

impl Replaced {
    pub(super) fn place(&self) -> Pointer {
        Pointer::parse(&self.at).unwrap_or_default()
    }

    /// Whether the value was changed since.
    pub(super) fn is_changed(&self, pod: &Value) -> bool {
        pointer::find(pod, &self.place().steps()).map(checksum).as_ref() != Some(&self.sum)
    }

    fn check(&self) -> Result<(), BadRecord> {
        match self.place().steps().as_slice() {
            ["spec", "containers" | "initContainers", _, "volumeMounts", MOVED_SERVICE_ACCOUNT, "mountPath"] => {}
            ["spec", "containers" | "initContainers", _, "env", name, "value"] if super::decision::is_replaced_variable(name) => {}
            _ => return Err(BadRecord::Foreign(self.at.clone())),
        }
        one_scalar(&self.was).map(|_| ()).ok_or(BadRecord::NotAValue)
    }
}

/// Whether a value is null, `[]` or `{}`, which mean the same to Kubernetes.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn sum_of_item(item: &Item) -> (String, Value) {
    let sum = |value: &Value| Value::String(checksum(value));
    let members = item.value.as_object().filter(|_| item.name == CONTAINER);
    let of_members = |members: &Map<String, Value>| members.iter().map(|(member, value)| (member.clone(), sum(value))).collect();
    let sums = members.map_or_else(|| sum(&item.value), of_members);
    (item.name.clone(), sums)
}

/// FNV-1a of a value, whatever the order of its keys, and without the defaults of the API server. It detects edits, not attacks.
fn checksum(value: &Value) -> String {
    let mut sum = Sum(0x811C_9DC5);
    sum.value(value);
    format!("{:08x}", sum.0)
}

struct Sum(u32);

impl Sum {
    fn bytes(&mut self, bytes: &[u8]) {
        const PRIME: u32 = 0x0100_0193;
        self.0 = bytes.iter().fold(self.0, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(PRIME));
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                let mut members: Vec<(&String, &Value)> = map.iter().filter(|(key, value)| !is_default(map, key, value)).collect();
                members.sort_by_key(|(key, _)| *key);
                for (key, value) in members {
                    self.bytes(b"{");
                    self.bytes(key.as_bytes());
                    self.bytes(b":");
                    self.value(value);
                }
                self.bytes(b"}");
            }
            Value::Array(items) => {
                for item in items {
                    self.bytes(b"[");
                    self.value(item);
                }
                self.bytes(b"]");
            }
            Value::String(text) => {
                self.bytes(b"\"");
                self.bytes(text.as_bytes());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.bytes(value.to_string().as_bytes()),
        }
    }
}
