//! Field selectors: parses a `fieldSelector` parameter, and matches objects against it.
//!
//! Source: kubernetes/apimachinery pkg/fields/selector.go v0.34. The fields of each resource are those in kubernetes/kubernetes
//! pkg/apis/*/v1/conversion.go and pkg/registry/*/*/strategy.go v1.34.

use std::borrow::Cow;

use serde_json::Value;

use crate::api::Resource;
use crate::store::Object;

/// Maximum number of terms of one selector; a longer selector is refused.
const MOST_TERMS: usize = 100;

/// A field selector. An object matches if it fulfils all terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: String,
    value: String,
    wanted: bool,
}

/// The fields of each resource besides `metadata.name` and `metadata.namespace`, each with its value if the object does not have
/// the field.
const FIELDS: &[(&str, &[(&str, &str)])] = &[
    (
        "pods",
        &[
            ("spec.nodeName", ""),
            ("spec.restartPolicy", ""),
            ("spec.schedulerName", ""),
            ("spec.serviceAccountName", ""),
            ("spec.hostNetwork", "false"),
            ("status.phase", ""),
            ("status.podIP", ""),
            ("status.nominatedNodeName", ""),
        ],
    ),
    (
        "events",
        &[
            ("involvedObject.kind", ""),
            ("involvedObject.namespace", ""),
            ("involvedObject.name", ""),
            ("involvedObject.uid", ""),
            ("involvedObject.apiVersion", ""),
            ("involvedObject.resourceVersion", ""),
            ("involvedObject.fieldPath", ""),
            ("reason", ""),
            ("reportingComponent", ""),
            ("source", ""),
            ("type", ""),
        ],
    ),
    ("namespaces", &[("status.phase", "")]),
    ("nodes", &[("spec.unschedulable", "false")]),
    ("secrets", &[("type", "")]),
    ("services", &[("spec.clusterIP", ""), ("spec.type", "")]),
    ("replicasets", &[("status.replicas", "0")]),
    ("jobs", &[("status.successful", "0")]),
];

impl FieldSelector {
    /// Parses the parameter. The error is the complete message.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut terms = Vec::new();
        for term in split(text, ',').into_iter().filter(|term| !term.is_empty()) {
            terms.push(Term::parse(term).ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{term}'"))?);
            if terms.len() > MOST_TERMS {
                return Err(format!("invalid selector: more than {MOST_TERMS} terms"));
            }
        }
        Ok(Self { terms })
    }

    /// Adds a term that requires this name, as in a request whose path has a name.
    pub(crate) fn with_name(mut self, name: &str) -> Self {
        self.terms.push(Term { field: "metadata.name".to_owned(), value: name.to_owned(), wanted: true });
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The exact value that the selector requires of a field, if any.
    pub(crate) fn exact(&self, field: &str) -> Option<&str> {
        self.terms.iter().find(|term| term.wanted && term.field == field).map(|term| term.value.as_str())
    }

    /// Fails with the server's message if the resource has no such field.
    pub(crate) fn check(&self, resource: &Resource) -> Result<(), String> {
        let known =
            |field: &str| matches!(field, "metadata.name" | "metadata.namespace") || absent_value(resource, field).is_some();
        match self.terms.iter().find(|term| !known(&term.field)) {
            None => Ok(()),
            Some(term) if fields_of(resource).is_empty() => {
                Err(format!("{:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"", term.field))
            }
            Some(term) => Err(format!("field label not supported: {}", term.field)),
        }
    }

    pub(crate) fn matches(&self, object: &Object, resource: &Resource) -> bool {
        self.terms.iter().all(|term| (value_of(object, resource, &term.field) == term.value) == term.wanted)
    }
}

impl Term {
    fn parse(text: &str) -> Option<Self> {
        let operator = unescaped(text, '=')?;
        let (left, right) = text.split_at(operator);
        let (field, wanted) = left.strip_suffix('!').map_or((left, true), |field| (field, false));
        let value = right.strip_prefix("==").or_else(|| right.strip_prefix('='))?;
        (!field.is_empty()).then(|| Self {
            field: field.to_owned(),
            value: value.replace(r"\,", ",").replace(r"\=", "=").replace(r"\\", r"\"),
            wanted,
        })
    }
}

fn fields_of(resource: &Resource) -> &'static [(&'static str, &'static str)] {
    let built_in = FIELDS.iter().filter(|_| !resource.is_custom()).find(|(name, _)| *name == resource.name);
    built_in.map_or(&[], |(_, fields)| *fields)
}

fn absent_value(resource: &Resource, field: &str) -> Option<&'static str> {
    fields_of(resource).iter().find(|(name, _)| *name == field).map(|(_, absent)| *absent)
}

fn value_of<'o>(object: &'o Object, resource: &Resource, field: &str) -> Cow<'o, str> {
    let pointer = match (resource.name, field) {
        ("jobs", "status.successful") => "/status/succeeded".to_owned(),
        ("events", "source") => "/source/component".to_owned(),
        _other => format!("/{}", field.replace('.', "/")),
    };
    match object.value().pointer(&pointer) {
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Cow::Owned(value.to_string()),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => {
            Cow::Borrowed(absent_value(resource, field).unwrap_or_default())
        }
    }
}

/// The parts between separators that are not escaped by a backslash.
fn split(mut text: &str, separator: char) -> Vec<&str> {
    let mut parts = Vec::new();
    while let Some(at) = unescaped(text, separator) {
        let (part, rest) = text.split_at(at);
        parts.push(part);
        text = rest.get(separator.len_utf8()..).unwrap_or_default();
    }
    parts.push(text);
    parts
}

fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            found if found == wanted => return Some(at),
            _ => {}
        }
    }
    None
}
