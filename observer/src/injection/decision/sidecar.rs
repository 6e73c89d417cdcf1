//! The container of the sidecar.

use std::fmt::Display;

use serde_json::{Map, Value, json};

use super::ports::Ports;
use crate::injection::options::Options;
use crate::pod_layout::{CLUSTER_CA_VOLUME, CONTAINER, OWN, OWN_VOLUME, SERVICE_ACCOUNT, TRUST, TRUST_VOLUME, USER};

/// The container, for a pod with these ports and resources. `upstream` are the variables with the address of the API server, if it is
/// not the cluster's. `with_service_ca` states whether the led containers have a certificate of `OpenShift`'s services.
pub(in crate::injection) fn sidecar(
    ports: &Ports,
    upstream: &[Value],
    resources: Option<Value>,
    with_service_ca: bool,
    options: &Options,
) -> Value {
    let mut container = Map::new();
    let mut put = |key: &str, value: Value| container.insert(key.to_owned(), value);
    put("name", CONTAINER.into());
    put("image", options.image.as_str().into());
    if let Some(policy) = &options.image_pull_policy {
        put("imagePullPolicy", policy.as_str().into());
    }
    // An init container that continues to run beside the others: a native sidecar, since Kubernetes 1.29.
    put("restartPolicy", "Always".into());
    put("args", arguments(ports, with_service_ca, options));
    if !upstream.is_empty() {
        put("env", upstream.to_vec().into());
    }
    put("ports", json!([{"name": CONTAINER, "containerPort": ports.metrics}]));
    let started = json!({"path": "/started", "port": ports.metrics});
    put("startupProbe", json!({"httpGet": started, "periodSeconds": 1, "failureThreshold": 60}));
    if let Some(resources) = resources {
        put("resources", resources);
    }
    put("securityContext", security_context(options));
    put("volumeMounts", mounts());
    Value::Object(container)
}

fn arguments(ports: &Ports, with_service_ca: bool, options: &Options) -> Value {
    let led = ports.led.iter().flat_map(|led| container_argument(&led.container, led.port));
    let metrics = metrics_argument(ports.metrics);
    let service_ca = with_service_ca.then(|| "--service-ca".to_owned());
    let version = options.server_version.iter().flat_map(|version| ["--server-version".to_owned(), version.clone()]);
    ["run".to_owned(), "--in-cluster".to_owned()].into_iter().chain(led).chain(metrics).chain(version).chain(service_ca).collect()
}

/// The flag for a container whose clients connect to this port.
pub(in crate::injection) fn container_argument(name: impl Display, port: impl Display) -> [String; 2] {
    ["--container".to_owned(), format!("{name}={port}")]
}

/// Both families: the addresses of a pod may be of IPv6 alone.
pub(in crate::injection) fn metrics_argument(port: impl Display) -> [String; 2] {
    ["--metrics".to_owned(), format!("[::]:{port}")]
}

/// Passes Pod Security *restricted*. OpenShift assigns the user, and refuses pods that choose one.
fn security_context(options: &Options) -> Value {
    let mut context = json!({
        "allowPrivilegeEscalation": false,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": true,
        "runAsNonRoot": true,
    });
    if let Value::Object(members) = &mut context {
        if !options.openshift {
            members.insert("runAsUser".to_owned(), USER.into());
            members.insert("runAsGroup".to_owned(), USER.into());
        }
        members.insert("seccompProfile".to_owned(), json!({"type": "RuntimeDefault"}));
    }
    context
}

/// The mount of the cluster's certificate also keeps admission from mounting a token: it leaves out containers with a mount at this
/// path.
fn mounts() -> Value {
    json!([
        {"name": OWN_VOLUME, "mountPath": OWN},
        {"name": TRUST_VOLUME, "mountPath": TRUST},
        {"name": CLUSTER_CA_VOLUME, "mountPath": SERVICE_ACCOUNT, "readOnly": true},
    ])
}
