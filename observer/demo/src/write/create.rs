//! Creation of objects.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::incoming::{decode, is_name, place};
use super::target::Target;
use crate::api;
use crate::cluster::{Cluster, State, random_hex};
use crate::custom;
use crate::refusal::Refusal;
use crate::store::{Object, WriteError};

/// Length of the suffix of a `generateName` (kubernetes/apiserver pkg/storage/names/generate.go v0.34).
const GENERATED: usize = 5;

/// Letters and digits that cannot form offensive words, as upstream.
const ALPHABET: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// Creates an object from the body of a request.
pub(crate) fn create(cluster: &Cluster, target: &Target, content_type: &str, body: &[u8]) -> Result<Arc<Object>, Refusal> {
    let mut object = decode(target, content_type, body)?;
    let name = prepare(cluster, target, &mut object)?;
    cluster.change(|state| insert(state, target, &name, object))
}

/// Writes an object that does not exist yet.
pub(super) fn insert(state: &mut State, target: &Target, name: &str, object: Map<String, Value>) -> Result<Arc<Object>, Refusal> {
    // The definition of a custom resource may have been deleted since the path was parsed.
    state.storage(target.resource).ok_or_else(Refusal::unknown_path)?;
    check_namespace(state, target)?;
    let key = state.key(target.resource, &target.namespace, name);
    if state.store.get(&key).is_some() {
        state.counters.etcd(target.resource, "create", 1);
        // Upstream reads the existing object, to check whether it is being deleted.
        state.counters.etcd(target.resource, "get", 1);
        return Err(Refusal::already_exists(target.resource, name));
    }
    if target.dry_run {
        return Ok(Arc::new(Object::at_revision(Value::Object(object), 0)));
    }
    let change = state.put(target.resource, &key, 0, Value::Object(object)).map_err(|error| match error {
        WriteError::Conflict => Refusal::already_exists(target.resource, name),
        WriteError::Full => full(),
    })?;
    Ok(change.object)
}

/// The answer if the store is full.
pub(super) fn full() -> Refusal {
    Refusal::internal("etcdserver: mvcc: database space exceeded")
}

/// Checks a new object, and sets the metadata and the defaults that a server sets. Returns its name.
pub(super) fn prepare(cluster: &Cluster, target: &Target, object: &mut Map<String, Value>) -> Result<String, Refusal> {
    let kind = target.resource.kind;
    if target.has_status() {
        object.remove("status");
    }
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Err(Refusal::bad_request("no metadata"));
    };
    place(target, metadata)?;
    let text = |field: &str| metadata.get(field).and_then(Value::as_str).unwrap_or_default();
    if !matches!(text("resourceVersion"), "" | "0") {
        return Err(Refusal::internal("resourceVersion should not be set on objects to be created"));
    }
    let name = match (text("name"), text("generateName")) {
        ("", "") => {
            let cause = ("metadata.name", "FieldValueRequired", "Required value: name or generateName is required".to_owned());
            return Err(Refusal::invalid(target.resource.group, kind, "", &[cause]));
        }
        ("", prefix) => format!("{prefix}{}", generated()),
        (name, _) => name.to_owned(),
    };
    if !is_name(&name) {
        let message = format!(
            "Invalid value: {name:?}: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'"
        );
        return Err(Refusal::invalid(target.resource.group, kind, &name, &[("metadata.name", "FieldValueInvalid", message)]));
    }
    metadata.insert("name".to_owned(), name.as_str().into());
    metadata.insert("uid".to_owned(), uid().into());
    metadata.insert("creationTimestamp".to_owned(), cluster.clock.timestamp().into());
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "managedFields", "generation"] {
        metadata.remove(field);
    }
    if target.resource.has_generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    if target.resource.is_definition() {
        check_definition(target, object)?;
        custom::set_status(object, &cluster.clock.timestamp());
    } else {
        set_defaults(target, &name, object);
    }
    Ok(name)
}

/// Checks a custom resource definition.
pub(super) fn check_definition(target: &Target, object: &Map<String, Value>) -> Result<(), Refusal> {
    custom::check(object).map_err(|(field, message)| {
        let name = object.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Value::as_str).unwrap_or_default();
        Refusal::invalid(target.resource.group, target.resource.kind, name, &[(field, "FieldValueInvalid", message)])
    })
}

/// Sets the defaults that clients need even if no controllers run.
fn set_defaults(target: &Target, name: &str, object: &mut Map<String, Value>) {
    match (target.resource.group, target.resource.name) {
        ("", "namespaces") => {
            object.insert("spec".to_owned(), json!({"finalizers": ["kubernetes"]}));
            object.insert("status".to_owned(), json!({"phase": "Active"}));
            let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
            let labels = metadata.map(|metadata| metadata.entry("labels").or_insert_with(|| json!({})));
            if let Some(labels) = labels.and_then(Value::as_object_mut) {
                labels.insert("kubernetes.io/metadata.name".to_owned(), name.into());
            }
        }
        ("", "pods") => {
            object.insert("status".to_owned(), json!({"phase": "Pending"}));
            // `kubectl debug` requires this field.
            if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) {
                spec.entry("securityContext").or_insert_with(|| json!({}));
            }
        }
        _other if target.has_status() && !target.resource.is_custom() => {
            object.insert("status".to_owned(), json!({}));
        }
        _other => {}
    }
}

fn check_namespace(state: &State, target: &Target) -> Result<(), Refusal> {
    let Some(namespaces) = api::find("", "v1", "namespaces").filter(|_| target.resource.namespaced) else { return Ok(()) };
    let exists = state.store.get(&state.key(namespaces, "", &target.namespace)).is_some();
    if exists { Ok(()) } else { Err(Refusal::not_found(namespaces, &target.namespace)) }
}

fn generated() -> String {
    let random = random_hex(GENERATED * 2);
    let numbers = random.as_bytes().chunks(4).filter_map(|digits| usize::from_str_radix(str::from_utf8(digits).ok()?, 16).ok());
    numbers.filter_map(|number| ALPHABET.get(number % ALPHABET.len())).map(|letter| char::from(*letter)).collect()
}

/// A random UUID (RFC 9562, version 4).
fn uid() -> String {
    let mut digits = random_hex(16);
    digits.replace_range(12..13, "4");
    digits.replace_range(16..17, "8");
    for at in [20, 16, 12, 8] {
        digits.insert(at, '-');
    }
    digits
}
