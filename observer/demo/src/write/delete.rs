//! Deletion of one object, or of all objects that a list selects.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::create::full;
use super::target::{Part, Target};
use super::update::has_finalizers;
use crate::api::Resource;
use crate::cluster::{Cluster, State};
use crate::custom;
use crate::refusal::Refusal;
use crate::store::{Object, WriteError};

/// The result of a deletion.
#[derive(Clone, Debug)]
pub(crate) enum Deleted {
    /// The object is deleted; this was its last state.
    Gone(Arc<Object>),
    /// The object waits for its finalizers.
    Marked(Arc<Object>),
}

impl Deleted {
    /// The object, or its last state.
    pub(crate) fn object(&self) -> &Arc<Object> {
        match self {
            Self::Gone(object) | Self::Marked(object) => object,
        }
    }
}

/// Deletes an object; `body` is empty or a `DeleteOptions`.
pub(crate) fn delete(cluster: &Cluster, target: &Target, body: &[u8]) -> Result<Deleted, Refusal> {
    let options = delete_options(body)?;
    let now = cluster.clock.timestamp();
    cluster.change(|state| {
        let key = state.key(target.resource, &target.namespace, &target.name);
        state.counters.etcd(target.resource, "get", 1);
        let present = state.store.get(&key).ok_or_else(|| Refusal::not_found(target.resource, &target.name))?;
        check_preconditions(target, &present, &options)?;
        if target.dry_run {
            return Ok(Deleted::Gone(present));
        }
        if target.resource.group.is_empty() && target.resource.name == "namespaces" {
            empty_namespace(state, &target.name)?;
        }
        if has_finalizers(present.value()) {
            return mark(state, target, &key, &present, &now).map(Deleted::Marked);
        }
        if target.resource.is_definition() {
            delete_defined(state, &present)?;
        }
        let change = state
            .delete(target.resource, &key, present.revision())
            .map_err(|error| refuse(target.resource, &target.name, error))?;
        Ok(Deleted::Gone(change.object))
    })
}

/// Deletes the objects of a list, one by one, and skips those that are gone already.
pub(crate) fn delete_collection(cluster: &Cluster, target: &Target, objects: &[Arc<Object>], body: &[u8]) -> Result<(), Refusal> {
    for object in objects {
        let one =
            Target { name: object.name().to_owned(), namespace: object.namespace().to_owned(), part: Part::Main, ..target.clone() };
        match delete(cluster, &one, body) {
            Ok(_) => {}
            Err(refusal) if refusal.code == 404 => {}
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(())
}

fn delete_options(body: &[u8]) -> Result<Map<String, Value>, Refusal> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    serde_json::from_slice(body).map_err(|error| Refusal::bad_request(format!("couldn't decode DeleteOptions: {error}")))
}

fn check_preconditions(target: &Target, present: &Object, options: &Map<String, Value>) -> Result<(), Refusal> {
    let text = |field: &str| options.get("preconditions").and_then(|wanted| wanted.get(field)).and_then(Value::as_str);
    let conflict = |what: &str, wanted: &str, there: &str| {
        Refusal::conflict(
            target.resource,
            &target.name,
            &format!("Precondition failed: {what} in precondition: {wanted}, {what} in object meta: {there}"),
        )
    };
    if let Some(uid) = text("uid").filter(|uid| *uid != present.uid()) {
        return Err(conflict("UID", uid, present.uid()));
    }
    let revision = present.revision().to_string();
    match text("resourceVersion").filter(|wanted| *wanted != revision) {
        Some(wanted) => Err(conflict("ResourceVersion", wanted, &revision)),
        None => Ok(()),
    }
}

fn mark(state: &mut State, target: &Target, key: &str, present: &Arc<Object>, now: &str) -> Result<Arc<Object>, Refusal> {
    if !present.text("/metadata/deletionTimestamp").is_empty() {
        return Ok(Arc::clone(present));
    }
    let mut value = present.value().clone();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("deletionTimestamp".to_owned(), now.into());
        metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(0));
    }
    let change =
        state.put(target.resource, key, present.revision(), value).map_err(|error| refuse(target.resource, &target.name, error))?;
    Ok(change.object)
}

/// Deletes all objects in a namespace, despite their finalizers, as the namespace controller of a real cluster does.
fn empty_namespace(state: &mut State, namespace: &str) -> Result<(), Refusal> {
    let namespaced: Vec<_> = state.resources().iter().copied().filter(|resource| resource.namespaced).collect();
    for resource in namespaced {
        let prefix = state.key(resource, namespace, "");
        delete_below(state, resource, &prefix)?;
    }
    Ok(())
}

/// Deletes all objects of a definition's resource, despite their finalizers, in place of the CRD finalizer of a real cluster.
fn delete_defined(state: &mut State, definition: &Object) -> Result<(), Refusal> {
    // All versions share their objects.
    let Some(resource) = custom::resources(definition.value()).first().copied() else { return Ok(()) };
    let prefix = state.storage(resource).map(|storage| storage.prefix.clone()).unwrap_or_default();
    delete_below(state, resource, &prefix)
}

fn delete_below(state: &mut State, resource: &'static Resource, prefix: &str) -> Result<(), Refusal> {
    // The current revision can always be read.
    let entries: Vec<_> = state.store.range(prefix, "", state.store.revision()).into_iter().flatten().collect();
    for entry in entries {
        let deleted = state.delete(resource, &entry.key, entry.object.revision());
        deleted.map_err(|error| refuse(resource, entry.object.name(), error))?;
    }
    Ok(())
}

fn refuse(resource: &Resource, name: &str, error: WriteError) -> Refusal {
    match error {
        WriteError::Conflict => Refusal::conflict(resource, name, "the object has been modified"),
        WriteError::Full => full(),
    }
}
