//! The parts of a pod that decide whether it has a sidecar (kubernetes/api `core/v1/types.go`). Other fields are skipped.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::pod_layout::{CONTAINER, OWN_VOLUME};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Pod {
    pub(super) metadata: Metadata,
    pub(super) spec: Spec,
    pub(super) status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) namespace: String,
    /// RFC 3339, always in UTC and without fractions of seconds, so texts are ordered as times are.
    pub(super) creation_timestamp: Option<String>,
    pub(super) deletion_timestamp: Option<String>,
    pub(super) labels: Option<BTreeMap<String, String>>,
    pub(super) annotations: Option<BTreeMap<String, String>>,
    pub(super) owner_references: Option<Vec<Owner>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Owner {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) controller: Option<bool>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Spec {
    pub(super) init_containers: Option<Vec<Container>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Container {
    pub(super) name: String,
    restart_policy: Option<String>,
    volume_mounts: Option<Vec<VolumeMount>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct VolumeMount {
    name: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) phase: Option<String>,
    pub(super) init_container_statuses: Option<Vec<ContainerStatus>>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ContainerStatus {
    pub(super) name: String,
    /// Whether its startup probe has succeeded.
    pub(super) started: Option<bool>,
    pub(super) restart_count: u64,
    pub(super) state: State,
    pub(super) last_state: State,
}

/// At most one of the members is set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct State {
    pub(super) waiting: Option<Waiting>,
    pub(super) running: Option<Running>,
    pub(super) terminated: Option<Terminated>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Waiting {
    pub(super) reason: Option<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Running {}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Terminated {
    pub(super) exit_code: i64,
    pub(super) reason: Option<String>,
}

impl Pod {
    pub(super) fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(name).map(String::as_str)
    }

    /// Whether it has the container that `inject` and admission add. Other containers may have the same name.
    pub(super) fn has_sidecar(&self) -> bool {
        self.spec.init_containers.iter().flatten().any(Container::is_sidecar)
    }

    /// Whether it is being deleted.
    pub(super) fn is_deleted(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether all its containers have ended.
    pub(super) fn is_over(&self) -> bool {
        matches!(self.status.phase.as_deref(), Some("Succeeded" | "Failed"))
    }
}

impl Container {
    fn is_sidecar(&self) -> bool {
        let mounts_own_volume = self.volume_mounts.iter().flatten().any(|mount| mount.name == OWN_VOLUME);
        self.name == CONTAINER && self.restart_policy.as_deref() == Some("Always") && mounts_own_volume
    }
}
