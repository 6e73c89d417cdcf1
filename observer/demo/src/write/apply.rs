//! Server-side apply: creates an object, or merges into it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::create::{insert, prepare};
use super::incoming::{check_name, checked, place};
use super::target::{Part, Target};
use super::update::{attempt, check_preconditions, commit, merge};
use crate::api::patch::server_side::{self, Manager};
use crate::cluster::Cluster;
use crate::refusal::Refusal;
use crate::store::Object;

/// The result of an apply.
#[derive(Clone, Debug)]
pub(crate) enum Applied {
    /// There was no such object.
    Created(Arc<Object>),
    /// The object, with the applied fields.
    Merged(Arc<Object>),
}

/// Applies the object in the body of a request, for a field manager.
pub(crate) fn apply(cluster: &Cluster, target: &Target, manager: &str, body: &[u8]) -> Result<Applied, Refusal> {
    let applied = server_side::parse(manager, body).map_err(|error| Refusal::other(error.status, error.message))?;
    let applied = own_part(target, checked(target, applied)?);
    check_name(target, &applied)?;
    let now = cluster.clock.timestamp();
    let subresource = if target.part == Part::Status { "status" } else { "" };
    let manager = Manager { name: manager, subresource, now: &now };
    attempt(cluster, target, |state| {
        let Some(present) = state.store.get(&state.key(target.resource, &target.namespace, &target.name)) else {
            if target.part == Part::Status {
                return Err(Refusal::not_found(target.resource, &target.name));
            }
            let mut object = applied.clone();
            let name = prepare(cluster, target, &mut object)?;
            let object = server_side::apply(&object, &applied, manager);
            return insert(state, target, &name, object).map(Applied::Created);
        };
        let present_fields = present.value().as_object().cloned().unwrap_or_default();
        let mut merged = server_side::apply(&present_fields, &applied, manager);
        if let Some(metadata) = merged.get_mut("metadata").and_then(Value::as_object_mut) {
            place(target, metadata)?;
        }
        check_preconditions(target, &present, &merged)?;
        let owners = merged.get("metadata").and_then(|metadata| metadata.get("managedFields")).cloned();
        let mut next = merge(target, &present, merged);
        if let (Some(owners), Some(metadata)) = (owners, next.get_mut("metadata").and_then(Value::as_object_mut)) {
            metadata.insert("managedFields".to_owned(), owners);
        }
        commit(state, target, &present, next).map(Applied::Merged)
    })
}

/// The part of an applied object that the request's path may change: the status, or everything else.
fn own_part(target: &Target, mut applied: Map<String, Value>) -> Map<String, Value> {
    match target.part {
        Part::Status => {
            applied.retain(|name, _| matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status"));
            if let Some(metadata) = applied.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.retain(|name, _| server_side::IDENTITY.contains(&name.as_str()));
            }
        }
        Part::Main if target.has_status() => drop(applied.remove("status")),
        Part::Main => {}
    }
    applied
}
