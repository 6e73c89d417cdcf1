//! The facts are those of a complete `serde_json::Value`.

use proptest::prelude::*;
use serde_json::Value;

use super::cbor_bytes;
use super::json_text::{Json, PLAIN, arbitrary, object, shuffled_object};
use super::reading::{CBOR, read, read_as};
use crate::k8s::{Status, StatusCause};
use crate::wire::{BodyKind, EventType, Fact, ListMeta, ObjectRef, WatchFrame};

proptest! {
    #[test]
    fn documents_yield_the_same_facts_as_serde(document in document(), style in super::json_text::style()) {
        let text = document.text(style);
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(sorted(read(BodyKind::Document, &text)), sorted(facts_of(&value)), "{}", text);
    }

    #[test]
    fn watches_yield_the_same_facts_as_serde(events in prop::collection::vec(event(), 0..5), style in super::json_text::style()) {
        let texts: Vec<String> = events.iter().map(|event| event.text(style)).collect();
        let expected: Vec<Fact> = texts.iter().zip(0..).map(|(text, index)| {
            let newline = u64::from(index > 0);
            Fact::Frame(frame_of(&serde_json::from_str(text).unwrap(), text.len() as u64 + newline))
        }).collect();
        prop_assert_eq!(read(BodyKind::Watch, texts.join("\n")), expected);
    }

    #[test]
    fn documents_yield_the_same_facts_in_cbor(document in document(), style in cbor_bytes::style(), chunk in 1_usize..80) {
        let bytes = cbor_bytes::bytes(&document, style);
        prop_assert_eq!(read_as(BodyKind::Document, CBOR, "", bytes.chunks(chunk)), read(BodyKind::Document, document.text(PLAIN)));
    }

    #[test]
    fn watches_yield_the_same_facts_in_cbor(events in prop::collection::vec(event(), 0..5), style in cbor_bytes::style(), chunk in 1_usize..80) {
        let encoded: Vec<Vec<u8>> = events.iter().map(|event| cbor_bytes::bytes(event, style)).collect();
        let mut expected = read(BodyKind::Watch, events.iter().map(|event| event.text(PLAIN)).collect::<String>());
        for (fact, bytes) in expected.iter_mut().zip(&encoded) {
            if let Fact::Frame(frame) = fact {
                frame.bytes = bytes.len() as u64;
            }
        }
        prop_assert_eq!(read_as(BodyKind::Watch, CBOR, "", encoded.concat().chunks(chunk)), expected);
    }
}

/// A list, an object or a `Status`, whose relevant members have any order and any type.
fn document() -> impl Strategy<Value = Json> {
    shuffled_object(vec![
        ("kind", word(&["PodList", "Pod", "Table", "Status", "AllowList"])),
        ("apiVersion", word(&["v1", "meta.k8s.io/v1", "example.com/v1"])),
        ("metadata", metadata()),
        ("items", elements("metadata", metadata())),
        ("status", arbitrary()),
        ("message", arbitrary()),
        ("reason", word(&["Expired", "Timeout"])),
        ("code", (0..70_000_i64).prop_map(Json::Number).boxed()),
        ("details", details()),
        ("spec", arbitrary()),
    ])
}

fn event() -> impl Strategy<Value = Json> {
    let rows = elements("object", shuffled_object(vec![("metadata", metadata()), ("kind", arbitrary())]).boxed());
    let object = (document(), rows).prop_map(|(document, rows)| document.with("rows", rows));
    shuffled_object(vec![
        ("type", word(&["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "NEW"])),
        ("object", prop_oneof![9 => object, 1 => arbitrary()].boxed()),
    ])
}

fn metadata() -> BoxedStrategy<Json> {
    let end = shuffled_object(vec![("k8s.io/initial-events-end", word(&["true", "false"])), ("name", arbitrary())]);
    shuffled_object(vec![
        ("name", text()),
        ("namespace", text()),
        ("uid", text()),
        ("resourceVersion", text()),
        ("continue", text()),
        ("remainingItemCount", prop_oneof![any::<i64>().prop_map(Json::Number), arbitrary()].boxed()),
        ("annotations", end.boxed()),
        ("labels", arbitrary()),
    ])
    .boxed()
}

fn elements(name: &'static str, value: BoxedStrategy<Json>) -> BoxedStrategy<Json> {
    let element = prop_oneof![8 => shuffled_object(vec![(name, value), ("spec", arbitrary())]), 1 => arbitrary()];
    let array = prop::collection::vec(element, 0..4).prop_map(Json::Array);
    prop_oneof![4 => array, 1 => Just(Json::Null), 1 => arbitrary()].boxed()
}

fn details() -> BoxedStrategy<Json> {
    let cause = shuffled_object(vec![("reason", text()), ("message", text()), ("field", text())]);
    shuffled_object(vec![
        ("causes", prop::collection::vec(cause, 0..3).prop_map(Json::Array).boxed()),
        ("retryAfterSeconds", any::<i32>().prop_map(|seconds| Json::Number(seconds.into())).boxed()),
        ("name", arbitrary()),
    ])
    .boxed()
}

fn word(words: &'static [&'static str]) -> BoxedStrategy<Json> {
    prop_oneof![9 => prop::sample::select(words).prop_map(|word| Json::Text(word.into())), 1 => arbitrary()].boxed()
}

fn text() -> BoxedStrategy<Json> {
    prop_oneof![4 => "[a-z0-9-]{1,8}".prop_map(Json::Text), 1 => any::<String>().prop_map(Json::Text), 1 => Just(object([])), 1 => Just(Json::Number(7))].boxed()
}

/// The facts without their order, which depends on the order of members: a `Value` has lost it. Other tests check the order of
/// items.
fn sorted(facts: Vec<Fact>) -> Vec<String> {
    let mut facts: Vec<String> = facts.into_iter().map(|fact| format!("{fact:?}")).collect();
    facts.sort();
    facts
}

fn facts_of(value: &Value) -> Vec<Fact> {
    let (kind, api_version) = (string(value, "kind"), string(value, "apiVersion"));
    let lists: Vec<&Value> =
        ["items", "rows"].iter().filter_map(|name| value.get(name)).filter(|list| list.is_array() || list.is_null()).collect();
    let identity = identity_of(value);
    let is_status = is_status(value);
    let named_list = kind.ends_with("List") || kind == "Table" && api_version.starts_with("meta.k8s.io/");
    let is_list = !lists.is_empty() || !is_status && named_list && identity.name.is_empty() && identity.uid.is_empty();

    let mut facts = vec![Fact::Kind { kind, api_version }, Fact::Complete];
    facts.extend(lists.iter().filter_map(|list| list.as_array()).flatten().map(|item| Fact::Item(identity_of(item))));
    if value["metadata"].is_object() && is_list {
        facts.push(Fact::ListMeta(ListMeta {
            resource_version: identity.resource_version.clone(),
            continue_token: string(&value["metadata"], "continue"),
            remaining_item_count: value["metadata"]["remainingItemCount"].as_i64(),
        }));
    }
    if is_status {
        facts.push(Fact::Status(Box::new(status_of(value))));
    } else if value["metadata"].is_object() && !is_list {
        facts.push(Fact::Object(identity));
    }
    facts
}

/// Whether it is a `Status` of the API itself.
fn is_status(value: &Value) -> bool {
    let api_version = string(value, "apiVersion");
    value["kind"] == "Status" && (matches!(api_version.as_str(), "" | "v1") || api_version.starts_with("meta.k8s.io/"))
}

fn frame_of(event: &Value, bytes: u64) -> WatchFrame {
    let event_type = match event["type"].as_str() {
        Some("ADDED") => EventType::Added,
        Some("MODIFIED") => EventType::Modified,
        Some("DELETED") => EventType::Deleted,
        Some("BOOKMARK") => EventType::Bookmark,
        Some("ERROR") => EventType::Error,
        Some(_) | None => EventType::Unknown,
    };
    let object = &event["object"];
    let row = &object["rows"][0]["object"];
    let own = identity_of(object);
    let is_complete = [&own.namespace, &own.name, &own.uid, &own.resource_version].iter().all(|part| !part.is_empty());
    let is_table = object["kind"] == "Table" && string(object, "apiVersion").starts_with("meta.k8s.io/") && !is_complete;
    let identity =
        Some(identity_of(row)).filter(|row| is_table && *row != ObjectRef::default()).unwrap_or_else(|| identity_of(object));
    let ends = |object: &Value| object["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true";
    WatchFrame {
        event_type,
        object: match event_type {
            EventType::Bookmark => ObjectRef { resource_version: identity.resource_version, ..ObjectRef::default() },
            EventType::Error => ObjectRef::default(),
            EventType::Added | EventType::Modified | EventType::Deleted | EventType::Unknown => identity,
        },
        initial_events_end: event_type == EventType::Bookmark && (ends(object) || ends(row)),
        status: (event_type == EventType::Error && is_status(object)).then(|| Box::new(status_of(object))),
        bytes,
    }
}

fn identity_of(object: &Value) -> ObjectRef {
    let metadata = object.get("metadata").or_else(|| object.get("object")?.get("metadata")).unwrap_or(&Value::Null);
    let [namespace, name, uid, resource_version] =
        ["namespace", "name", "uid", "resourceVersion"].map(|part| string(metadata, part));
    ObjectRef { namespace, name, uid, resource_version }
}

fn status_of(value: &Value) -> Status {
    let details = &value["details"];
    let cause = |cause: &Value| StatusCause {
        reason: string(cause, "reason"),
        message: string(cause, "message"),
        field: string(cause, "field"),
    };
    Status {
        status: string(value, "status"),
        message: string(value, "message"),
        reason: string(value, "reason"),
        code: value["code"].as_i64().and_then(|code| code.try_into().ok()).unwrap_or_default(),
        retry_after_seconds: details["retryAfterSeconds"]
            .as_i64()
            .and_then(|seconds| seconds.try_into().ok())
            .filter(|seconds| *seconds > 0),
        causes: details["causes"].as_array().into_iter().flatten().map(cause).collect(),
        continue_token: string(&value["metadata"], "continue"),
    }
}

fn string(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}
