//! The objects of the demo, created before the first client connects.

use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context as _, Result};
use kube::api::{Api, ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

use super::kube_clients::{api_resource, client};
use crate::api;

/// Numbers of pods and config maps in the demo.
pub(super) const PODS: usize = 120;
pub(super) const CONFIG_MAPS: usize = 24;

/// Creates the objects of the demo, with the server's own kubeconfig.
pub async fn populate(kubeconfig: &Path) -> Result<()> {
    let client = client(kubeconfig, "demo-populator/1.0").await?;
    for (group, version, name, objects) in [
        ("", "v1", "nodes", (0..3).map(node).collect()),
        ("", "v1", "services", ["web", "api", "db"].map(service).to_vec()),
        ("", "v1", "pods", (0..PODS).map(pod).collect()),
        ("", "v1", "configmaps", (0..CONFIG_MAPS).map(config_map).collect()),
        ("", "v1", "events", vec![event()]),
    ] as [(&str, &str, &str, Vec<Value>); 5]
    {
        let resource = api::find(group, version, name).with_context(|| format!("the demo serves no {name}"))?;
        let described = api_resource(resource);
        let objects_of = if resource.namespaced {
            Api::<DynamicObject>::namespaced_with(client.clone(), "default", &described)
        } else {
            Api::all_with(client.clone(), &described)
        };
        for object in objects {
            objects_of.create(&PostParams::default(), &typed(&described, object)?).await?;
        }
    }
    Ok(())
}

fn typed(resource: &ApiResource, mut object: Value) -> Result<DynamicObject> {
    let kind = GroupVersionKind::gvk(&resource.group, &resource.version, &resource.kind);
    object["apiVersion"] = kind.api_version().into();
    object["kind"] = kind.kind.into();
    Ok(serde_json::from_value(object)?)
}

fn node(number: usize) -> Value {
    json!({"metadata": {"name": format!("node-{number}")}, "spec": {}})
}

fn service(name: &str) -> Value {
    json!({"metadata": {"name": name}, "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}})
}

fn pod(number: usize) -> Value {
    json!({
        "metadata": {"name": format!("web-{number}"), "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "example.com/web:1.0"}]},
    })
}

fn config_map(number: usize) -> Value {
    json!({"metadata": {"name": format!("settings-{number}")}, "data": {"replicas": "1"}})
}

fn event() -> Value {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    json!({
        "metadata": {"name": "web-0.started"}, "reason": "Started", "message": "Started container web", "type": "Normal",
        "firstTimestamp": now, "lastTimestamp": now, "count": 1, "source": {"component": "kubelet"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web-0"},
    })
}
