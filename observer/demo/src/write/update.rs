//! Replacement and patching of objects.
//!
//! kubernetes/apiserver pkg/registry/generic/registry/store.go and pkg/registry/rest/update.go v0.34.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::create::{check_definition, full};
use super::incoming::{check_name, decode, place};
use super::target::{Part, Target};
use crate::cluster::{Cluster, State};
use crate::refusal::Refusal;
use crate::store::{Object, WriteError};

/// Metadata that only the server sets.
const KEPT: &[&str] = &[
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
];

/// Replaces an object with the body of a request.
pub(crate) fn update(cluster: &Cluster, target: &Target, content_type: &str, body: &[u8]) -> Result<Arc<Object>, Refusal> {
    let mut object = decode(target, content_type, body)?;
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Err(Refusal::bad_request("no metadata"));
    };
    place(target, metadata)?;
    check_name(target, &object)?;
    attempt(cluster, target, |state| {
        let present = present(state, target)?;
        replace(state, target, &present, object)
    })
}

/// Changes an object with a patch, which `apply` reads.
pub(crate) fn patch(
    cluster: &Cluster,
    target: &Target,
    apply: impl FnOnce(&Value) -> Result<Value, Refusal>,
) -> Result<Arc<Object>, Refusal> {
    attempt(cluster, target, |state| {
        let present = present(state, target)?;
        let patched = apply(&present.typed(&target.resource.api_version(), target.resource.kind))?;
        let Value::Object(object) = patched else { return Err(Refusal::bad_request("the patched object is no JSON object")) };
        replace(state, target, &present, object)
    })
}

/// Runs `write`, and counts etcd reads as upstream's update does. Upstream uses the cached object first, and after a failure the
/// object in the store.
pub(super) fn attempt<T>(
    cluster: &Cluster,
    target: &Target,
    write: impl FnOnce(&mut State) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    cluster.change(|state| {
        let outcome = write(state);
        if outcome.is_err() {
            state.counters.etcd(target.resource, "get", 1);
        }
        outcome
    })
}

fn present(state: &State, target: &Target) -> Result<Arc<Object>, Refusal> {
    let key = state.key(target.resource, &target.namespace, &target.name);
    state.store.get(&key).ok_or_else(|| Refusal::not_found(target.resource, &target.name))
}

fn replace(state: &mut State, target: &Target, present: &Object, object: Map<String, Value>) -> Result<Arc<Object>, Refusal> {
    check_preconditions(target, present, &object)?;
    let next = merge(target, present, object);
    commit(state, target, present, next)
}

/// Writes the next state of an object, unless it is the present one.
pub(super) fn commit(
    state: &mut State,
    target: &Target,
    present: &Object,
    next: Map<String, Value>,
) -> Result<Arc<Object>, Refusal> {
    if target.resource.is_definition() {
        check_definition(target, &next)?;
    }
    let candidate = Object::at_revision(Value::Object(next), present.revision());
    if target.dry_run || candidate.value() == present.value() {
        return Ok(Arc::new(candidate));
    }
    let key = state.key(target.resource, &target.namespace, &target.name);
    let is_released = !candidate.text("/metadata/deletionTimestamp").is_empty() && !has_finalizers(candidate.value());
    let change = if is_released {
        state.delete(target.resource, &key, present.revision())
    } else {
        state.put(target.resource, &key, present.revision(), candidate.value().clone())
    };
    change.map(|change| change.object).map_err(|error| match error {
        WriteError::Conflict => modified(target),
        WriteError::Full => full(),
    })
}

/// Whether finalizers must be removed before the object can be deleted.
pub(super) fn has_finalizers(object: &Value) -> bool {
    object.pointer("/metadata/finalizers").and_then(Value::as_array).is_some_and(|finalizers| !finalizers.is_empty())
}

pub(super) fn check_preconditions(target: &Target, present: &Object, object: &Map<String, Value>) -> Result<(), Refusal> {
    let text =
        |field: &str| object.get("metadata").and_then(|metadata| metadata.get(field)).and_then(Value::as_str).unwrap_or_default();
    let (revision, uid) = (text("resourceVersion"), text("uid"));
    if !uid.is_empty() && uid != present.uid() {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {}", present.uid());
        return Err(Refusal::conflict(target.resource, &target.name, &why));
    }
    if !matches!(revision, "" | "0") && revision != present.revision().to_string() {
        return Err(modified(target));
    }
    Ok(())
}

/// The error if another client changed the object first.
fn modified(target: &Target) -> Refusal {
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    Refusal::conflict(target.resource, &target.name, why)
}

/// Makes the object to write. Fields that the request's path may not change keep their values.
pub(super) fn merge(target: &Target, present: &Object, mut object: Map<String, Value>) -> Map<String, Value> {
    let present_fields = present.value().as_object().cloned().unwrap_or_default();
    if target.part == Part::Status {
        let status = object.remove("status");
        let mut merged = present_fields;
        set(&mut merged, "status", status);
        return merged;
    }
    if target.has_status() {
        set(&mut object, "status", present_fields.get("status").cloned());
    }
    let is_same = is_same_but_for_metadata(&object, &present_fields);
    if let (Some(metadata), Some(before)) =
        (object.get_mut("metadata").and_then(Value::as_object_mut), present_fields.get("metadata").and_then(Value::as_object))
    {
        for field in KEPT {
            set(metadata, field, before.get(*field).cloned());
        }
        if target.resource.has_generation && !is_same {
            let generation = before.get("generation").and_then(Value::as_u64).unwrap_or(0);
            metadata.insert("generation".to_owned(), (generation + 1).into());
        }
    }
    object.remove("apiVersion");
    object.remove("kind");
    object
}

/// Whether two states differ at most in their metadata, their status and their type.
fn is_same_but_for_metadata(object: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let counts = |name: &String| !matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status");
    let differs = |one: &Map<String, Value>, other: &Map<String, Value>| {
        one.iter().any(|(name, value)| counts(name) && other.get(name) != Some(value))
    };
    !differs(object, other) && !differs(other, object)
}

fn set(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    match value {
        Some(value) => {
            fields.insert(name.to_owned(), value);
        }
        None => {
            fields.remove(name);
        }
    }
}
