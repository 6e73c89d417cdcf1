//! Objects that the user brings, created before any client starts.

use std::path::Path;

use anyhow::{Context as _, Result};
use kube::Client;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::discovery::{Scope, pinned_kind};
use serde_json::Value;

use super::kube_clients::client;

/// Creates `objects` with the server's own kubeconfig: first the definitions of custom resources, then the others in their order. An
/// object without a namespace is created in `default`.
///
/// # Errors
///
/// If an object has no `apiVersion`, `kind` or name, if the demo does not serve its kind, or if the server refuses it.
pub async fn create_objects(kubeconfig: &Path, objects: Vec<Value>) -> Result<()> {
    let client = client(kubeconfig, "demo-populator/1.0").await?;
    let (definitions, others): (Vec<_>, Vec<_>) =
        objects.into_iter().partition(|object| object["kind"] == "CustomResourceDefinition");
    for object in definitions.into_iter().chain(others) {
        create(&client, object).await?;
    }
    Ok(())
}

async fn create(client: &Client, object: Value) -> Result<()> {
    let object: DynamicObject = serde_json::from_value(object).context("not an object of Kubernetes")?;
    let name = object.metadata.name.clone().context("an object has no metadata.name")?;
    let types = object.types.clone().with_context(|| format!("{name} has no apiVersion and kind"))?;
    let kind = GroupVersionKind::try_from(&types)?;
    let (resource, capabilities) = pinned_kind(client, &kind)
        .await
        .with_context(|| format!("the demo does not serve {} {}", types.api_version, types.kind))?;
    let objects_of = match capabilities.scope {
        Scope::Cluster => Api::<DynamicObject>::all_with(client.clone(), &resource),
        Scope::Namespaced => {
            let namespace = object.metadata.namespace.as_deref().unwrap_or("default");
            Api::namespaced_with(client.clone(), namespace, &resource)
        }
    };
    objects_of.create(&PostParams::default(), &object).await.with_context(|| format!("cannot create {} {name}", types.kind))?;
    Ok(())
}
