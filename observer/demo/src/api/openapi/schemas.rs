//! The schemas of k8s-openapi, with the kinds and merge keys that it omits.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Namespace, Node, Pod, PodTemplate, Secret, Service, ServiceAccount};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::super::patch::{MERGE_TYPES, MergeField};
use super::super::resource::Resource;

/// The schemas of these resources' types and of all types that they refer to, by name.
pub(super) fn used_by(resources: &[&Resource]) -> Map<String, Value> {
    let mut generator = SchemaSettings::openapi3().into_generator();
    for resource in resources {
        add(resource, &mut generator);
    }
    let mut schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    for resource in resources {
        if let Some(schema) = schemas.get_mut(&resource.schema()) {
            schema["x-kubernetes-group-version-kind"] =
                json!([{"group": resource.group, "version": resource.version, "kind": resource.kind}]);
        }
    }
    for merge_type in MERGE_TYPES {
        let properties = schemas.get_mut(merge_type.schema).and_then(|schema| schema.get_mut("properties"));
        if let Some(properties) = properties {
            merge_type.fields.iter().for_each(|field| add_merge_key(properties, field));
        }
    }
    schemas
}

fn add_merge_key(properties: &mut Value, field: &MergeField) {
    let Some(property) = properties.get_mut(field.name) else { return };
    if !field.strategy.is_empty() {
        property["x-kubernetes-patch-strategy"] = json!(field.strategy);
    }
    if let Some(key) = field.merge_key {
        property["x-kubernetes-patch-merge-key"] = json!(key);
    }
}

/// Makes the generator define the type of a resource.
fn add(resource: &Resource, generator: &mut SchemaGenerator) {
    let _reference = match resource.kind {
        "ConfigMap" => generator.subschema_for::<ConfigMap>(),
        "DaemonSet" => generator.subschema_for::<DaemonSet>(),
        "Deployment" => generator.subschema_for::<Deployment>(),
        "Event" => generator.subschema_for::<Event>(),
        "Job" => generator.subschema_for::<Job>(),
        "Lease" => generator.subschema_for::<Lease>(),
        "Namespace" => generator.subschema_for::<Namespace>(),
        "Node" => generator.subschema_for::<Node>(),
        "Pod" => generator.subschema_for::<Pod>(),
        "PodTemplate" => generator.subschema_for::<PodTemplate>(),
        "ReplicaSet" => generator.subschema_for::<ReplicaSet>(),
        "Secret" => generator.subschema_for::<Secret>(),
        "Service" => generator.subschema_for::<Service>(),
        "ServiceAccount" => generator.subschema_for::<ServiceAccount>(),
        "StatefulSet" => generator.subschema_for::<StatefulSet>(),
        _ => return,
    };
}
