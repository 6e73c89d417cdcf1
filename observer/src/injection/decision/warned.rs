//! Pods that can be injected, but with an effect that their owner may not expect.

use serde_json::Value;

use super::containers::Container;
use super::decide::Subject;
use super::env_from;
use super::other_clients::{cni_volumes, mounts_one_of};
use super::refused::is_true;
use crate::injection::object::is_workload;
use crate::injection::options::Seen;
use crate::pod_layout::USER;

/// Flags with which a program is given another way to the API server.
const FLAGS: [&str; 4] = ["--kubeconfig", "-kubeconfig", "--master", "-master"];

/// Labels and annotations that a tool for Git operations puts on its objects, with its name.
const GITOPS: [(&str, &str, &str); 5] = [
    ("labels", "argocd.argoproj.io/instance", "Argo CD"),
    ("annotations", "argocd.argoproj.io/tracking-id", "Argo CD"),
    ("labels", "kustomize.toolkit.fluxcd.io/name", "Flux"),
    ("labels", "helm.toolkit.fluxcd.io/name", "Flux"),
    ("annotations", "kustomize.toolkit.fluxcd.io/checksum", "Flux"),
];

pub(super) fn warnings(subject: &Subject<'_>, all: &[Container<'_>], led: &[Container<'_>], seen: Seen) -> Vec<String> {
    let mut warnings: Vec<String> = led.iter().filter_map(kubeconfig).collect();
    warnings.extend(env_from::warnings(led, subject));
    let cni = cni_volumes(subject.spec());
    warnings.extend(led.iter().filter(|container| mounts_one_of(container, &cni)).map(|container| {
        format!(
            "container {} mounts the folder of CNI plugins: if it writes a kubeconfig there, programs of the node get the sidecar's \
             address; observe other containers with --container",
            container.name
        )
    }));
    // They are about later changes of the object; a pod at admission does not exist yet.
    if seen == Seen::InManifest {
        warnings.extend(gitops(subject));
        warnings.extend(helm(subject));
        warnings.extend(immutable(subject));
    }
    warnings.extend(same_user(subject, all));
    if is_true(subject.spec().get("shareProcessNamespace")) {
        warnings.push(
            "shareProcessNamespace: true: root in other containers of the pod, or the sidecar's user, can read the sidecar's key"
                .to_owned(),
        );
    }
    warnings
}

/// Containers that were chosen, and have no token to call the API server with.
pub(super) fn without_token(chosen: &[Container<'_>], led: &[Container<'_>]) -> Vec<String> {
    let is_led = |name: &str| led.iter().any(|container| container.name == name);
    let others = chosen.iter().filter(|container| !is_led(container.name));
    let warning = |name: &str| {
        format!("container {name} has no token, so it is not observed; if it calls the API server, pass --service-account-token")
    };
    others.map(|container| warning(container.name)).collect()
}

/// A process with the sidecar's UID can take its ports, or read its memory if processes are shared.
fn same_user(subject: &Subject<'_>, all: &[Container<'_>]) -> Option<String> {
    let is_ours = |of: &Value| of.pointer("/securityContext/runAsUser").and_then(Value::as_u64) == Some(u64::from(USER));
    let container = all.iter().find(|container| is_ours(container.value)).map(|container| format!("container {}", container.name));
    let place = container.or_else(|| is_ours(subject.spec()).then(|| "the pod".to_owned()))?;
    Some(format!(
        "{place} sets runAsUser: {USER}, the sidecar's own user: its programs can take the sidecar's ports; choose another user"
    ))
}

fn kubeconfig(container: &Container<'_>) -> Option<String> {
    let is_flag =
        |word: &str| FLAGS.iter().any(|flag| word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')));
    // A shell may have the flag within one argument. A flag or a variable without a value gives nothing.
    let by = container.words().flat_map(str::split_ascii_whitespace).find(|word| is_flag(word) && !word.ends_with('='));
    let by = by.map(|word| word.split('=').next().unwrap_or(word));
    let is_set =
        |entry: &&Value| entry.get("value").is_none_or(|value| value != "") && entry.as_object().is_some_and(|of| of.len() > 1);
    let by = by.or_else(|| container.variable("KUBECONFIG").filter(is_set).map(|_| "KUBECONFIG"))?;
    Some(format!(
        "container {} has {by}: its client does not read the pod's variables, so watchtap may see nothing; remove {by} to observe it",
        container.name
    ))
}

fn gitops(subject: &Subject<'_>) -> Option<String> {
    let has = |group: &str, key: &str| subject.object.get("metadata").and_then(|metadata| metadata.get(group)?.get(key)).is_some();
    let (_, _, tool) = GITOPS.iter().find(|(group, key, _)| has(group, key))?;
    Some(format!(
        "{tool} manages this object, and reverts changes in the cluster: commit the injected manifest to its source instead"
    ))
}

/// Helm compares an object of the cluster with its chart at the next upgrade, and reverts a part of what differs.
fn helm(subject: &Subject<'_>) -> Option<String> {
    let metadata = subject.object.get("metadata")?;
    metadata.get("uid").zip(metadata.get("annotations")?.get("meta.helm.sh/release-name"))?;
    Some(
        "Helm manages this object, and its next upgrade reverts a part of this change: inject its output instead (helm --post-renderer)"
            .to_owned(),
    )
}

/// Objects of a cluster whose pods cannot change there.
fn immutable(subject: &Subject<'_>) -> Option<String> {
    let text = |pointer: &str| subject.object.pointer(pointer).and_then(Value::as_str);
    if let Some(owner) = text("/metadata/ownerReferences/0/kind") {
        let name = text("/metadata/ownerReferences/0/name").unwrap_or_default();
        let remedy = if is_workload(text("/metadata/ownerReferences/0/apiVersion").unwrap_or_default(), owner) {
            format!("inject {owner} {name} instead")
        } else {
            format!("add the sidecar by the means of {owner}, or observe its pods on the node with `watchtap probe`")
        };
        return Some(format!("{owner} {name} owns this object, and makes the next one without a sidecar: {remedy}"));
    }
    let kind = text("/kind").filter(|kind| matches!(*kind, "Pod" | "Job"))?;
    // What the API server returns has a selector or a node of its own, with which no other object is created.
    text("/metadata/uid").map(|_| {
        format!(
            "the API server refuses this change of an existing {kind}: inject the manifest that it came from, delete it, and create \
             it from that manifest"
        )
    })
}
