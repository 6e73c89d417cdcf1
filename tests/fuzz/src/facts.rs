//! Comparisons of the facts that body readers report.

use observer_core::wire::{Fact, ObjectRef};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::body::Body;

/// Whether `part` is `whole` with some facts left out.
pub(crate) fn is_subsequence(part: &[Fact], whole: &[Fact]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|fact| rest.any(|other| other == fact))
}

/// Whether every line is a JSON value, as API servers write watches: after a gap the next event begins on the next line.
pub(crate) fn is_lines_of_json(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .all(|line| serde_json::from_slice::<IgnoredAny>(line).is_ok())
}

/// The identities of a list's items.
pub(crate) fn items(facts: &[Fact]) -> Vec<&ObjectRef> {
    facts.iter().filter_map(|fact| if let Fact::Item(item) = fact { Some(item) } else { None }).collect()
}

pub(crate) fn is_complete(facts: &[Fact]) -> bool {
    facts.last() == Some(&Fact::Complete)
}

/// Checks a serde document in JSON and CBOR: both give the same facts, and each item is the one that serde reads.
pub(crate) fn assert_matches_serde(document: &Value) {
    let body = |media_type, bytes| Body { kind: super::json::DOCUMENT, media_type, coding: "", bytes };
    let text = document.to_string();
    let facts = body(super::json::MEDIA_TYPE, text.as_bytes()).facts();
    assert!(is_complete(&facts), "{facts:?} of {text}");
    let expected: Vec<ObjectRef> =
        ["items", "rows"].iter().filter_map(|name| document.get(name)?.as_array()).flatten().map(identity_of).collect();
    assert_eq!(items(&facts), expected.iter().collect::<Vec<_>>(), "{text}");

    let mut binary = Vec::new();
    ciborium::into_writer(document, &mut binary).expect("every JSON document can be written in CBOR");
    assert_eq!(body(super::cbor::MEDIA_TYPE, &binary).facts(), facts, "{text} says something else in CBOR");
}

fn identity_of(object: &Value) -> ObjectRef {
    let metadata = object.get("metadata").or_else(|| object.get("object")?.get("metadata")).unwrap_or(&Value::Null);
    let text = |name| cut(metadata.get(name).and_then(Value::as_str).unwrap_or_default());
    ObjectRef { namespace: text("namespace"), name: text("name"), uid: text("uid"), resource_version: text("resourceVersion") }
}

/// Truncates to `ObjectRef::MAX_TEXT`, as the reader does.
pub(crate) fn cut(text: &str) -> String {
    (0..=ObjectRef::MAX_TEXT.min(text.len())).rev().find_map(|end| text.get(..end)).unwrap_or_default().to_owned()
}
