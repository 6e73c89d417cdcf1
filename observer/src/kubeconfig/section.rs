//! The three lists of a kubeconfig and their named entries.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::error::{Error, Location};

/// A list of a kubeconfig.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Clusters,
    Users,
    Contexts,
}

impl Section {
    pub(super) const ALL: [Self; 3] = [Self::Clusters, Self::Users, Self::Contexts];

    /// The key of the list in the kubeconfig.
    pub(super) const fn list_key(self) -> &'static str {
        match self {
            Self::Clusters => "clusters",
            Self::Users => "users",
            Self::Contexts => "contexts",
        }
    }

    /// The key of an entry's contents, beside its `name`.
    pub(super) const fn body_key(self) -> &'static str {
        match self {
            Self::Clusters => "cluster",
            Self::Users => "user",
            Self::Contexts => "context",
        }
    }

    /// The entries in one document's list, unchanged.
    pub(super) fn entries(self, file: &Path, list: Value) -> Result<Vec<Entry>, Error> {
        match list {
            Value::Null => Ok(Vec::new()),
            Value::Array(list) => list.into_iter().enumerate().map(|(index, entry)| Entry::new(self, file, index, entry)).collect(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                Err(wrong_type(Location::new(file, self.list_key()), "a list", &list))
            }
        }
    }

    /// Default values for the fields that the `kube` crate's type of an entry requires.
    fn required(self) -> Map<String, Value> {
        match self {
            Self::Clusters | Self::Users => Map::new(),
            Self::Contexts => Map::from_iter([("cluster".to_owned(), Value::from(""))]),
        }
    }
}

/// One named cluster, user or context.
#[derive(Clone)]
pub(super) struct Entry {
    section: Section,
    /// The location of its contents, `users[2].user`.
    pub(super) location: Location,
    pub(super) name: String,
    /// The complete entry, contents included.
    tree: Map<String, Value>,
}

/// Omits the contents, which may be secret.
impl fmt::Debug for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Entry").field("location", &self.location).field("name", &self.name).finish_non_exhaustive()
    }
}

impl Entry {
    fn new(section: Section, file: &Path, index: usize, entry: Value) -> Result<Self, Error> {
        let location = Location::new(file, format!("{}[{index}]", section.list_key()));
        let Value::Object(tree) = entry else {
            return Err(wrong_type(location, "a name and its entry", &entry));
        };
        let name = match tree.get("name") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(name)) => name.clone(),
            Some(other) => return Err(wrong_type(location.child("name"), "a string", other)),
        };
        let location = location.child(section.body_key());
        match tree.get(section.body_key()) {
            None | Some(Value::Null | Value::Object(_)) => Ok(Self { section, location, name, tree }),
            Some(other) => Err(wrong_type(location, "fields", other)),
        }
    }

    /// The base of relative paths in this entry.
    pub(super) fn folder(&self) -> PathBuf {
        self.location.file.parent().unwrap_or(Path::new("/")).to_owned()
    }

    pub(super) fn body(&self) -> Option<&Map<String, Value>> {
        self.tree.get(self.section.body_key())?.as_object()
    }

    pub(super) fn body_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.tree.get_mut(self.section.body_key())?.as_object_mut()
    }

    /// The same entry under another name.
    pub(super) fn renamed(&self, name: &str) -> Self {
        let mut renamed = self.clone();
        name.clone_into(&mut renamed.name);
        renamed.tree.insert("name".to_owned(), Value::from(name));
        renamed
    }

    /// A string field of the contents; `None` if it is empty, which client-go treats as not set.
    pub(super) fn text(&self, field: &str) -> Option<&str> {
        self.body()?.get(field)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn to_value(&self) -> Value {
        Value::Object(self.tree.clone())
    }

    /// Converts the contents to a type of the `kube` crate.
    pub(super) fn typed<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let mut body = self.section.required();
        body.extend(self.body().cloned().unwrap_or_default().into_iter().filter(|(_, value)| !value.is_null()));
        serde_json::from_value(Value::Object(body.clone())).map_err(|error| self.blame::<T>(body, &error))
    }

    /// Makes the error for contents that cannot be converted. It names the first field that is invalid by itself.
    fn blame<T: DeserializeOwned>(&self, body: Map<String, Value>, whole: &serde_json::Error) -> Error {
        for (field, value) in body {
            let mut alone = self.section.required();
            alone.insert(field.clone(), value.clone());
            if let Err(error) = serde_json::from_value::<T>(Value::Object(alone)) {
                return Error::WrongType { location: self.location.child(&field), what: refusal(&error, &value) };
            }
        }
        Error::WrongType { location: self.location.clone(), what: refusal(whole, &Value::Object(Map::new())) }
    }
}

/// The expected type from serde's error message, without the value found, which could be a token.
fn refusal(error: &serde_json::Error, found: &Value) -> String {
    let message = error.to_string();
    let itself = match found {
        Value::Array(_) => message.starts_with("invalid type: sequence"),
        Value::Object(_) => message.starts_with("invalid type: map"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    match message.rsplit_once("expected ") {
        Some((_, expected)) if itself => mismatch(expected, found),
        Some((_, expected)) => format!("expected {expected} in it"),
        None if message.starts_with("missing field") => message,
        None => "has the wrong type".to_owned(),
    }
}

pub(super) fn wrong_type(location: Location, expected: &str, found: &Value) -> Error {
    Error::WrongType { location, what: mismatch(expected, found) }
}

fn mismatch(expected: &str, found: &Value) -> String {
    let plain = found.is_number() || found.is_boolean();
    let remedy = if plain && expected == "a string" { "; write it in quotes" } else { "" };
    format!("expected {expected} but found {}{remedy}", type_name(found))
}

/// The type of a value, in the terms of YAML.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "fields",
    }
}
