//! Pods that can be injected, but with an effect that their owner may not expect.

use serde_json::Value;

use super::containers::Container;
use super::decide::Subject;
use super::refused::is_true;
use crate::injection::object::is_workload;

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

pub(super) fn warnings(subject: &Subject<'_>, led: &[Container<'_>]) -> Vec<String> {
    let mut warnings: Vec<String> = led.iter().filter_map(kubeconfig).collect();
    warnings.extend(gitops(subject));
    warnings.extend(helm(subject));
    warnings.extend(immutable(subject));
    if is_true(subject.spec().get("shareProcessNamespace")) {
        warnings.push(
            "shareProcessNamespace: true: root in other containers of the pod, or the sidecar's user, can read the sidecar's key"
                .to_owned(),
        );
    }
    warnings
}

fn kubeconfig(container: &Container<'_>) -> Option<String> {
    let is_flag =
        |word: &str| FLAGS.iter().any(|flag| word.strip_prefix(flag).is_some_and(|rest| rest.is_empty() || rest.starts_with('=')));
    let by = container.words().find(|word| is_flag(word)).map(|word| word.split('=').next().unwrap_or(word));
    let by = by.or_else(|| container.variable("KUBECONFIG").map(|_| "KUBECONFIG"))?;
    Some(format!(
        "container {} is given {by}: its client does not read the pod's variables, so watchtap may see nothing; remove {by} to observe it",
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
        let remedy = if is_workload(owner) {
            format!("inject {owner} {name} instead")
        } else {
            format!("add the sidecar by the means of {owner}, or observe its pods on the node with `watchtap probe`")
        };
        return Some(format!("{owner} {name} owns this object, and makes the next one without a sidecar: {remedy}"));
    }
    let kind = text("/kind").filter(|kind| matches!(*kind, "Pod" | "Job"))?;
    text("/metadata/uid")
        .map(|_| format!("the API server refuses this change of an existing {kind}: delete it first, then create the new one"))
}
