//! The reasons why a pod gets no sidecar, with what its owner can do: one function for each, of the names in it.
//!
//! `policy` writes the same sentences in CEL, with expressions in the place of names. Reasons that only a manifest can give are beside
//! their checks.

use std::fmt::Display;

use super::environment::{ADDRESS, LOOPBACK};
use super::volumes::CLUSTER_CA;
use crate::injection::outcome::Refusal;
use crate::pod_layout::{CONTAINER, MOST_CONTAINERS, MOST_IN_POD, SERVICE_ACCOUNT};

const ON_ITS_NODE: &str = "observe it on its node with `watchtap probe`";

pub(in crate::injection) fn kube_system() -> Refusal {
    Refusal::new(
        "namespace kube-system: the cluster must be able to start without watchtap",
        "observe its programs on their nodes with `watchtap probe`",
    )
}

pub(in crate::injection) fn mirror_pod() -> Refusal {
    Refusal::new("a mirror pod: the kubelet runs it from a file on the node, and ignores changes", ON_ITS_NODE)
}

pub(in crate::injection) fn host_network() -> Refusal {
    Refusal::new("hostNetwork: true: the sidecar's ports would be open to the other programs of the node", ON_ITS_NODE)
}

pub(in crate::injection) fn windows() -> Refusal {
    Refusal::new("the pod runs on Windows", "watchtap runs on Linux only")
}

pub(in crate::injection) fn taken_container() -> Refusal {
    Refusal::new(
        format!("a container has the name {CONTAINER}, and `watchtap inject` did not add it"),
        "rename or remove it; if it is a sidecar whose annotation was lost, inject the original manifest",
    )
}

pub(in crate::injection) fn taken_volume(name: impl Display) -> Refusal {
    Refusal::new(
        format!("a volume has the name {name}, and `watchtap inject` did not add it"),
        "rename or remove it; if it is left of a sidecar whose annotation was lost, inject the original manifest",
    )
}

pub(in crate::injection) fn large_pod(number: impl Display) -> Refusal {
    Refusal::new(
        format!("the pod has {number} containers, and watchtap decides about at most {MOST_IN_POD}"),
        "divide its containers among several pods",
    )
}

/// Of a pod at admission, which has mounted no token.
pub(in crate::injection) fn not_mounted() -> Refusal {
    Refusal::new(
        format!(
            "no container mounts a token at {SERVICE_ACCOUNT}: the pod or its ServiceAccount sets automountServiceAccountToken: false"
        ),
        "a pod without a token does not call the API server; if it should, set automountServiceAccountToken: true in the pod",
    )
}

/// `activity` is that of [`super::other_clients::WRITERS`].
pub(in crate::injection) fn writes_for_others(container: impl Display, activity: impl Display) -> Refusal {
    Refusal::new(
        format!("container {container} {activity}"),
        format!("{ON_ITS_NODE}, or observe other containers with --container"),
    )
}

pub(in crate::injection) fn mount_within_service_account(container: impl Display) -> Refusal {
    Refusal::new(
        format!("container {container} mounts a file within {SERVICE_ACCOUNT}, which the sidecar's files replace"),
        "mount it elsewhere, or observe other containers with --container",
    )
}

pub(in crate::injection) fn needed_mount(container: impl Display, path: impl Display) -> Refusal {
    Refusal::new(
        format!("container {container} mounts {path}, which the sidecar needs"),
        "mount it elsewhere, or observe other containers with --container",
    )
}

pub(in crate::injection) fn two_mounts(container: impl Display) -> Refusal {
    Refusal::new(format!("container {container} has two mounts at {SERVICE_ACCOUNT}"), "remove one of them")
}

pub(in crate::injection) fn other_certificate(container: impl Display) -> Refusal {
    Refusal::new(
        format!(
            "the volume at {SERVICE_ACCOUNT} of container {container} has a ca.crt of its own, and the sidecar trusts only the \
             cluster's, from ConfigMap {CLUSTER_CA}"
        ),
        "take ca.crt from that ConfigMap, or observe other containers with --container",
    )
}

pub(in crate::injection) fn lost_file(container: impl Display, file: impl Display) -> Refusal {
    Refusal::new(
        format!("the volume at {SERVICE_ACCOUNT} of container {container} has the file {file}, which its client would lose"),
        "mount that file elsewhere, or observe other containers with --container",
    )
}

pub(in crate::injection) fn too_many_containers(number: impl Display) -> Refusal {
    Refusal::new(
        format!("the pod has {number} containers to observe, and one sidecar serves at most {MOST_CONTAINERS}"),
        "choose some with --container",
    )
}

pub(in crate::injection) fn no_port() -> Refusal {
    Refusal::new(
        "the pod declares all ports that the sidecar could use",
        "declare fewer ports, or observe fewer containers with --container",
    )
}

pub(in crate::injection) fn different_addresses(first: impl Display, other: impl Display) -> Refusal {
    Refusal::new(
        format!(
            "containers {first} and {other} have different addresses of the API server ({} or its ports), and one sidecar has one",
            ADDRESS[0]
        ),
        format!("observe only one of them, such as --container {other}"),
    )
}

pub(in crate::injection) fn empty_variable(container: impl Display, name: impl Display) -> Refusal {
    Refusal::new(
        format!("container {container} sets {name} to nothing, so that its client does not find the API server"),
        "remove the variable, or observe other containers with --container",
    )
}

pub(in crate::injection) fn variable_by_reference(container: impl Display, name: impl Display) -> Refusal {
    unknown_variable(container, name, "$(…)")
}

pub(in crate::injection) fn variable_by_value_from(container: impl Display, name: impl Display) -> Refusal {
    unknown_variable(container, name, "valueFrom")
}

fn unknown_variable(container: impl Display, name: impl Display, by: &str) -> Refusal {
    Refusal::new(
        format!("container {container} sets {name} by {by}, so its value is unknown here"),
        format!("write the value itself for {name}, or observe other containers with --container"),
    )
}

pub(in crate::injection) fn variable_twice(container: impl Display, name: impl Display) -> Refusal {
    Refusal::new(format!("container {container} sets {name} twice"), "remove one of the two entries")
}

pub(in crate::injection) fn proxy_without_value(container: impl Display, name: impl Display) -> Refusal {
    Refusal::new(
        format!("container {container} has a proxy, and {name} without a value"),
        format!("write `value: {LOOPBACK}` for {name}, or remove it"),
    )
}

pub(in crate::injection) fn proxy_by_value_from(container: impl Display, name: impl Display) -> Refusal {
    Refusal::new(
        format!("container {container} has a proxy, and sets {name} by valueFrom"),
        format!("write `value:` for {name}, with {LOOPBACK} in it, or observe other containers with --container"),
    )
}
