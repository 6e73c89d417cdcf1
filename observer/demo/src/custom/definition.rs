//! Checks a `CustomResourceDefinition`, sets its status, and derives the resources that it defines.

use std::cmp::Reverse;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::kept::{self, Described};
use crate::api::{self, Resource};

/// The parts of a definition's `spec` that determine the served resources.
#[derive(Debug, Deserialize)]
struct Spec {
    group: String,
    scope: String,
    names: Names,
    versions: Vec<Version>,
}

#[derive(Debug, Deserialize)]
struct Names {
    plural: String,
    kind: String,
    #[serde(default)]
    singular: String,
    #[serde(default, rename = "shortNames")]
    short: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Version {
    name: String,
    served: bool,
    storage: bool,
    #[serde(default)]
    subresources: Map<String, Value>,
}

/// Checks a definition that a client sends. The error is a field with its message.
pub(crate) fn check(definition: &Map<String, Value>) -> Result<(), (&'static str, String)> {
    let spec = spec(definition).map_err(|error| ("spec", format!("Invalid value: {error}")))?;
    let name = definition.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str).unwrap_or_default();
    let (plural, group) = (&spec.names.plural, &spec.group);
    if name != format!("{plural}.{group}") {
        return Err(("metadata.name", format!("Invalid value: {name:?}: must be spec.names.plural+\".\"+spec.group")));
    }
    let is_taken = api::resources().iter().any(|resource| resource.group == group);
    if is_taken || !group.contains('.') || !is_label(plural) || !spec.versions.iter().all(|version| is_label(&version.name)) {
        let message = "Invalid value: group, plural and versions must be labels of DNS, and the group one that is not served";
        return Err(("spec", message.to_owned()));
    }
    let kind = &spec.names.kind;
    if kind.is_empty() || !kind.chars().all(|letter| letter.is_ascii_alphanumeric()) {
        return Err(("spec.names.kind", format!("Invalid value: {kind:?}: must be letters and digits")));
    }
    if !matches!(spec.scope.as_str(), "Namespaced" | "Cluster") {
        return Err(("spec.scope", format!("Unsupported value: {:?}: supported values: \"Cluster\", \"Namespaced\"", spec.scope)));
    }
    if spec.versions.iter().filter(|version| version.storage).count() != 1 {
        return Err(("spec.versions", "Invalid value: must have exactly one version marked as storage version".to_owned()));
    }
    let kept = described(&spec).into_iter().all(|described| kept::resource(described).is_some());
    if kept { Ok(()) } else { Err(("spec", format!("Too many: the demo keeps {} custom resources", kept::MOST))) }
}

/// Sets the status that a controller of the real server writes: names are accepted, and the resource is served at once.
pub(crate) fn set_status(definition: &mut Map<String, Value>, now: &str) {
    let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "lastTransitionTime": now, "reason": reason, "message": message});
    let stored = spec(definition).ok().and_then(|spec| spec.versions.into_iter().find(|version| version.storage));
    let names = definition.get("spec").and_then(|spec| spec.get("names")).cloned();
    let status = json!({
        "acceptedNames": names,
        "conditions": [
            condition("NamesAccepted", "NoConflicts", "no conflicts found"),
            condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
        ],
        "storedVersions": stored.map(|version| version.name).into_iter().collect::<Vec<_>>(),
    });
    definition.insert("status".to_owned(), status);
}

/// The resources of a definition, one for each served version, in the order of preference; empty if it is not valid.
pub(crate) fn resources(definition: &Value) -> Vec<&'static Resource> {
    let spec = definition.as_object().and_then(|definition| spec(definition).ok());
    spec.iter().flat_map(described).filter_map(kept::resource).collect()
}

fn spec(definition: &Map<String, Value>) -> Result<Spec, serde_json::Error> {
    Spec::deserialize(definition.get("spec").unwrap_or(&Value::Null))
}

fn described(spec: &Spec) -> Vec<Described> {
    let mut versions: Vec<&Version> = spec.versions.iter().filter(|version| version.served).collect();
    versions.sort_by_key(|version| Reverse(priority(&version.name)));
    let described = |version: &Version| Described {
        group: spec.group.clone(),
        version: version.name.clone(),
        name: spec.names.plural.clone(),
        singular: match spec.names.singular.as_str() {
            "" => spec.names.kind.to_ascii_lowercase(),
            singular => singular.to_owned(),
        },
        kind: spec.names.kind.clone(),
        namespaced: spec.scope == "Namespaced",
        short_names: spec.names.short.clone(),
        categories: spec.names.categories.clone(),
        has_status: version.subresources.contains_key("status"),
    };
    versions.into_iter().map(described).collect()
}

/// The priority of a version (kubernetes/apimachinery pkg/version/helpers.go v0.34): released versions, then betas, then alphas, each
/// by number; other names last.
fn priority(version: &str) -> (u8, u32, u32) {
    let parsed = || {
        let rest = version.strip_prefix('v')?;
        let stage = [("beta", 2), ("alpha", 1)].into_iter().find_map(|(word, stage)| Some((rest.split_once(word)?, stage)));
        match stage {
            Some(((major, minor), stage)) => Some((stage, major.parse().ok()?, minor.parse().ok()?)),
            None => Some((3, rest.parse().ok()?, 0)),
        }
    };
    parsed().unwrap_or_default()
}

fn is_label(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    text.len() <= 63
        && text.starts_with(is_letter)
        && text.ends_with(is_letter)
        && text.chars().all(|letter| is_letter(letter) || letter == '-')
}
