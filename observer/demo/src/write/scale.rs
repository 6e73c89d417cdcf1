//! Changes the number of a workload's replicas through its scale.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::incoming::{check_name, decode};
use super::target::Target;
use super::update::patch;
use crate::api::scale;
use crate::cluster::Cluster;
use crate::refusal::Refusal;
use crate::store::Object;

/// Sets the replicas from a scale in the body of a request. Returns the workload.
pub(crate) fn replace_scale(cluster: &Cluster, target: &Target, content_type: &str, body: &[u8]) -> Result<Arc<Object>, Refusal> {
    let as_scale = Target { resource: &scale::SCALE, ..target.clone() };
    let object = decode(&as_scale, content_type, body)?;
    check_name(target, &object)?;
    change_scale(cluster, target, |_present| Ok(Value::Object(object)))
}

/// Sets the replicas from the scale that `apply` returns for the current one. Returns the workload.
pub(crate) fn change_scale(
    cluster: &Cluster,
    target: &Target,
    apply: impl FnOnce(&Value) -> Result<Value, Refusal>,
) -> Result<Arc<Object>, Refusal> {
    patch(cluster, target, |workload| {
        let wanted = apply(&scale::of(workload))?;
        let replicas = scale::wanted(&wanted).map_err(|message| {
            let cause = ("spec.replicas", "FieldValueInvalid", message);
            Refusal::invalid(scale::SCALE.group, scale::SCALE.kind, &target.name, &[cause])
        })?;
        let mut workload = workload.clone();
        // The UID and the resource version in the scale are preconditions.
        for field in ["uid", "resourceVersion"] {
            if let Some(metadata) = workload.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert(field.to_owned(), wanted.pointer(&format!("/metadata/{field}")).cloned().unwrap_or_default());
            }
        }
        if let Some(fields) = workload.as_object_mut() {
            let spec = fields.entry("spec").or_insert_with(|| Value::Object(Map::new()));
            if let Some(spec) = spec.as_object_mut() {
                spec.insert("replicas".to_owned(), replicas.into());
            }
        }
        Ok(workload)
    })
}
