//! Pods that stay as they are, because a sidecar would break them or could not observe them.

use serde_json::Value;

use super::containers::{Container, incomplete};
use super::decide::Subject;
use super::environment::ADDRESS;
use super::mounts::clean;
use super::other_clients::writes_for_others;
use super::reasons;
use super::token_volumes::{TokenVolume, TokenVolumes};
use super::volumes::is_own_volume;
use crate::injection::options::{KubernetesVersion, Options};
use crate::injection::outcome::Refusal;
use crate::pod_layout::{CONTAINER, FOLDER, MOST_IN_POD, SERVICE_ACCOUNT};

/// The first version with native sidecars switched on.
const FIRST_WITH_SIDECARS: KubernetesVersion = KubernetesVersion { major: 1, minor: 29 };

/// The beginnings of directives of a strategic merge patch (kubernetes/apimachinery `pkg/util/strategicpatch`).
pub(in crate::injection) const DIRECTIVES: [&str; 4] = ["$patch", "$retainKeys", "$setElementOrder/", "$deleteFromPrimitiveList/"];

/// Checks a pod that has no sidecar of ours.
pub(super) fn check(subject: &Subject<'_>, all: &[Container<'_>], options: &Options) -> Result<(), Refusal> {
    version(options)?;
    if let Some(directive) = directive(subject.pod) {
        return Err(incomplete(&format!("the pod has {directive}")));
    }
    place(subject)?;
    let spec = subject.spec();
    if is_true(spec.get("hostNetwork")) {
        return Err(reasons::host_network());
    }
    if is_windows(spec) {
        return Err(reasons::windows());
    }
    names(subject, all)?;
    if all.len() > MOST_IN_POD { Err(reasons::large_pod(all.len())) } else { Ok(()) }
}

/// A directive of a strategic merge patch.
fn directive(value: &Value) -> Option<&str> {
    match value {
        Value::Object(map) => {
            let is_directive = |key: &&String| DIRECTIVES.iter().any(|directive| key.starts_with(directive));
            map.keys().find(is_directive).map(String::as_str).or_else(|| map.values().find_map(directive))
        }
        Value::Array(items) => items.iter().find_map(directive),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
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
    if subject.namespace == Some("kube-system") {
        return Err(reasons::kube_system());
    }
    let annotation = |name: &str| subject.pod.get("metadata").and_then(|metadata| metadata.get("annotations")?.get(name));
    let is_file = annotation("kubernetes.io/config.source").and_then(Value::as_str) == Some("file");
    let owners = subject.object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
    let is_of_node =
        owners.is_some_and(|owners| owners.iter().any(|owner| owner.get("kind").and_then(Value::as_str) == Some("Node")));
    if annotation("kubernetes.io/config.mirror").is_some() || is_file || is_of_node {
        return Err(reasons::mirror_pod());
    }
    Ok(())
}

fn is_windows(spec: &Value) -> bool {
    let selector =
        ["kubernetes.io/os", "beta.kubernetes.io/os"].into_iter().map(|key| spec.get("nodeSelector").and_then(|of| of.get(key)));
    let mut names = selector.chain([spec.pointer("/os/name")]).flatten();
    names.any(|name| name == "windows") || spec.pointer("/securityContext/windowsOptions").is_some() || requires_windows(spec)
}

/// Whether each alternative of the node affinity is a node of Windows.
fn requires_windows(spec: &Value) -> bool {
    let terms = "/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let terms = spec.pointer(terms).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_windows = |expression: &Value| {
        let values = expression.get("values").and_then(Value::as_array);
        expression.get("key").and_then(Value::as_str) == Some("kubernetes.io/os")
            && expression.get("operator").and_then(Value::as_str) == Some("In")
            && values.is_some_and(|values| values.iter().all(|value| value == "windows"))
    };
    let expressions = |term: &Value| term.get("matchExpressions").and_then(Value::as_array).cloned().unwrap_or_default();
    !terms.is_empty() && terms.iter().all(|term| expressions(term).iter().any(is_windows))
}

fn names(subject: &Subject<'_>, all: &[Container<'_>]) -> Result<(), Refusal> {
    if all.iter().any(|container| container.name == CONTAINER) {
        return Err(reasons::taken_container());
    }
    let volumes = subject.spec().get("volumes").and_then(Value::as_array);
    let volume_names = volumes.into_iter().flatten().filter_map(|volume| volume.get("name").and_then(Value::as_str));
    match volume_names.into_iter().find(|name| is_own_volume(name)) {
        Some(name) => Err(reasons::taken_volume(name)),
        None => Ok(()),
    }
}

/// Checks the containers that would be led.
pub(super) fn check_led<'v>(led: &[Container<'v>], volumes: &TokenVolumes<'v>) -> Result<(), Refusal> {
    led.iter().try_for_each(|container| {
        if let Some(activity) = writes_for_others(container) {
            return Err(reasons::writes_for_others(container.name, activity));
        }
        mounts(container)?;
        volumes.of_container(container).map_or(Ok(()), |volume| own_volume(container, volume))
    })
}

fn mounts(container: &Container<'_>) -> Result<(), Refusal> {
    let mut at_path = 0;
    for mount in container.list("volumeMounts") {
        let path = mount.get("mountPath").and_then(Value::as_str).map(clean).unwrap_or_default();
        let is_within = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        at_path += usize::from(path == SERVICE_ACCOUNT);
        if path != SERVICE_ACCOUNT && is_within(SERVICE_ACCOUNT) {
            return Err(reasons::mount_within_service_account(container.name));
        }
        if is_within(FOLDER) {
            return Err(reasons::needed_mount(container.name, path));
        }
    }
    if at_path > 1 {
        return Err(reasons::two_mounts(container.name));
    }
    Ok(())
}

/// A volume of the user's own at the path of the token may hold only files that the sidecar links.
fn own_volume(container: &Container<'_>, volume: &TokenVolume<'_>) -> Result<(), Refusal> {
    if volume.has_other_certificate(container.variable(ADDRESS[0]).is_some()) {
        return Err(reasons::other_certificate(container.name));
    }
    volume.other_file.map_or(Ok(()), |file| Err(reasons::lost_file(container.name, file)))
}

pub(super) fn is_true(value: Option<&Value>) -> bool {
    value == Some(&Value::Bool(true))
}
