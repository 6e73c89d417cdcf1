//! Pods that stay as they are, because a sidecar would break them or could not observe them.

use serde_json::Value;

use super::containers::Container;
use super::decide::Subject;
use super::mounts::clean;
use super::other_clients::writes_for_others;
use super::volumes::{CLUSTER_CA, is_own_volume};
use crate::injection::options::{KubernetesVersion, Options};
use crate::injection::outcome::Refusal;
use crate::pod_layout::{CONTAINER, MOVED_SERVICE_ACCOUNT, SERVICE_ACCOUNT};

/// The first version with native sidecars switched on.
const FIRST_WITH_SIDECARS: KubernetesVersion = KubernetesVersion { major: 1, minor: 29 };

/// The files of the volume with the token. The sidecar links these names, and no others.
const FILES: [&str; 4] = ["ca.crt", "namespace", "service-ca.crt", "token"];

/// Checks a pod that has no sidecar of ours.
pub(super) fn check(subject: &Subject<'_>, all: &[Container<'_>], options: &Options) -> Result<(), Refusal> {
    version(options)?;
    place(subject)?;
    let spec = subject.spec();
    if is_true(spec.get("hostNetwork")) {
        return Err(Refusal::new(
            "hostNetwork: true: the sidecar's ports would be open to the other programs of the node",
            "observe it on its node with `watchtap probe`",
        ));
    }
    if is_windows(spec) {
        return Err(Refusal::new("the pod runs on Windows", "watchtap runs on Linux only"));
    }
    names(subject, all)
}

fn version(options: &Options) -> Result<(), Refusal> {
    match options.kubernetes {
        Some(version) if version < FIRST_WITH_SIDECARS => Err(Refusal::new(
            format!("Kubernetes {}.{} has no native sidecars: the pod would never start", version.major, version.minor),
            "Kubernetes 1.29 or later is needed on all nodes",
        )),
        Some(_) | None => Ok(()),
    }
}

fn place(subject: &Subject<'_>) -> Result<(), Refusal> {
    if subject.namespace() == Some("kube-system") {
        return Err(Refusal::new(
            "namespace kube-system: the cluster must be able to start without watchtap",
            "observe its programs on their nodes with `watchtap probe`",
        ));
    }
    let annotation = |name: &str| subject.pod.get("metadata").and_then(|metadata| metadata.get("annotations")?.get(name));
    let is_file = annotation("kubernetes.io/config.source").and_then(Value::as_str) == Some("file");
    let owners = subject.object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_of_node =
        owners.is_some_and(|owners| owners.iter().any(|owner| owner.get("kind").and_then(Value::as_str) == Some("Node")));
    if annotation("kubernetes.io/config.mirror").is_some() || is_file || is_of_node {
        return Err(Refusal::new(
            "a mirror pod: the kubelet runs it from a file on the node, and ignores changes",
            "observe it on its node with `watchtap probe`",
        ));
    }
    Ok(())
}

fn is_windows(spec: &Value) -> bool {
    let selector =
        ["kubernetes.io/os", "beta.kubernetes.io/os"].into_iter().map(|key| spec.get("nodeSelector").and_then(|of| of.get(key)));
    let mut names = selector.chain([spec.pointer("/os/name")]).flatten();
    names.any(|name| name == "windows") || spec.pointer("/securityContext/windowsOptions").is_some()
}

fn names(subject: &Subject<'_>, all: &[Container<'_>]) -> Result<(), Refusal> {
    if all.iter().any(|container| container.name == CONTAINER) {
        return Err(Refusal::new(
            format!("a container has the name {CONTAINER}, and `watchtap inject` did not add it"),
            "rename or remove it; if it is a sidecar whose annotation was lost, inject the original manifest",
        ));
    }
    let volumes = subject.spec().get("volumes").and_then(Value::as_array);
    let volume_names = volumes.into_iter().flatten().filter_map(|volume| volume.get("name").and_then(Value::as_str));
    match volume_names.into_iter().find(|name| is_own_volume(name)) {
        Some(name) => Err(Refusal::new(
            format!("a volume has the name {name}, and `watchtap inject` did not add it"),
            "rename or remove it; if it is left of a sidecar whose annotation was lost, inject the original manifest",
        )),
        None => Ok(()),
    }
}

/// Checks the containers that would be led.
pub(super) fn check_led(led: &[Container<'_>], subject: &Subject<'_>) -> Result<(), Refusal> {
    led.iter().try_for_each(|container| {
        if let Some(reason) = writes_for_others(container) {
            return Err(Refusal::new(
                format!("container {} {reason}", container.name),
                "observe it on its node with `watchtap probe`, or lead other containers with --container",
            ));
        }
        mounts(container)?;
        own_volume(container, subject)
    })
}

fn mounts(container: &Container<'_>) -> Result<(), Refusal> {
    let mut at_path = 0;
    for mount in container.list("volumeMounts") {
        let path = mount.get("mountPath").and_then(Value::as_str).map(clean).unwrap_or_default();
        let is_within = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        at_path += usize::from(path == SERVICE_ACCOUNT);
        if path != SERVICE_ACCOUNT && is_within(SERVICE_ACCOUNT) {
            return Err(Refusal::new(
                format!("container {} mounts a file within {SERVICE_ACCOUNT}, which the sidecar's files replace", container.name),
                "mount it elsewhere, or lead other containers with --container",
            ));
        }
        if is_within("/var/run/secrets/watchtap") || path == MOVED_SERVICE_ACCOUNT {
            return Err(Refusal::new(
                format!("container {} mounts {path}, which the sidecar needs", container.name),
                "mount it elsewhere, or lead other containers with --container",
            ));
        }
    }
    if at_path > 1 {
        return Err(Refusal::new(
            format!("container {} has two mounts at {SERVICE_ACCOUNT}", container.name),
            "remove one of them",
        ));
    }
    Ok(())
}

/// A volume of the user's own at the path of the token may hold only files that the sidecar links.
fn own_volume(container: &Container<'_>, subject: &Subject<'_>) -> Result<(), Refusal> {
    let Some(mount) = container.service_account_mount() else { return Ok(()) };
    let volumes = subject.spec().get("volumes").and_then(Value::as_array);
    let volume =
        volumes.into_iter().flatten().find(|volume| volume.get("name").is_some() && volume.get("name") == mount.get("name"));
    let Some(volume) = volume else { return Ok(()) };
    if has_other_certificate(volume, container.variable("KUBERNETES_SERVICE_HOST").is_some()) {
        return Err(Refusal::new(
            format!(
                "the volume at {SERVICE_ACCOUNT} of container {} has a ca.crt of its own, and the sidecar trusts only the cluster's, \
                 from ConfigMap {CLUSTER_CA}",
                container.name
            ),
            "take ca.crt from that ConfigMap, or lead other containers with --container",
        ));
    }
    match files(volume).into_iter().find(|file| !FILES.contains(file)) {
        Some(file) => Err(Refusal::new(
            format!(
                "the volume at {SERVICE_ACCOUNT} of container {} has the file {file}, which its client would lose",
                container.name
            ),
            "mount that file elsewhere, or lead other containers with --container",
        )),
        None => Ok(()),
    }
}

/// Whether clients trust another CA than the cluster's. A Secret may be a token of old, with the cluster's CA; a container that sets an
/// address of its own has it for another API server, though.
fn has_other_certificate(volume: &Value, has_own_address: bool) -> bool {
    let sources = volume.pointer("/projected/sources").and_then(Value::as_array);
    let parts = || sources.into_iter().flatten().chain([volume]);
    let gives_certificate = |source: &Value| {
        let mut paths = source.get("items").and_then(Value::as_array).into_iter().flatten().map(|item| item.get("path"));
        paths.any(|path| path.and_then(Value::as_str) == Some("ca.crt"))
    };
    let is_of_cluster = |config_map: &Value| config_map.get("name").and_then(Value::as_str) == Some(CLUSTER_CA);
    let config_maps = || parts().filter_map(|part| part.get("configMap"));
    if has_own_address {
        return !config_maps().any(is_of_cluster) && parts().any(|part| part.get("secret").or(part.get("configMap")).is_some());
    }
    config_maps().any(|config_map| gives_certificate(config_map) && !is_of_cluster(config_map))
}

/// The names of files that a volume is known to have.
fn files(volume: &Value) -> Vec<&str> {
    let sources = volume.pointer("/projected/sources").and_then(Value::as_array).into_iter().flatten();
    let parts = sources.flat_map(|source| source.as_object().into_iter().flat_map(|members| members.values()));
    let all = parts.chain(["secret", "configMap", "downwardAPI"].iter().filter_map(|kind| volume.get(kind)));
    let paths = all.flat_map(|part| {
        let items = part.get("items").and_then(Value::as_array).into_iter().flatten();
        items.map(|item| item.get("path")).chain([part.get("path")])
    });
    paths.flatten().filter_map(Value::as_str).collect()
}

pub(super) fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}
