//! The client of a request, as every view names it.

use std::collections::{BTreeMap, BTreeSet};

use observer_core::exchange::{Client, ClientId};
use observer_core::k8s::{Container, Pod, Workload};
use observer_core::reflector::ReflectorRow;

/// The program of a client: the first word of its `User-Agent`. By default, client-go sends a file name with a version, and then
/// the platform. In a pod, the container is in front of it, as in `app:manager/v0.1`.
pub(super) fn program(client: &Client) -> String {
    let program = if client.program.is_empty() { "unnamed client" } else { &client.program };
    client.container_name.as_ref().map_or_else(|| program.to_owned(), |container| format!("{container}:{program}"))
}

/// The pods of clients that a probe has found, by the numbers of the clients.
#[derive(Debug, Default)]
pub(super) struct ClientPods(BTreeMap<ClientId, String>);

impl ClientPods {
    /// The pods of the clients that have reflectors, as `NAMESPACE/POD`. If several containers of a pod have clients, also with
    /// the container: `NAMESPACE/POD:CONTAINER`.
    pub(super) fn of(rows: &[ReflectorRow]) -> Self {
        let in_pods = || rows.iter().filter_map(|row| Some((row, container_of(row)?))).filter(|(_, one)| one.pod.is_some());
        let ids: BTreeSet<(&str, &str)> = in_pods().map(|(_, one)| (one.pod_uid.as_str(), one.id.as_str())).collect();
        let is_alone = |one: &Container| ids.iter().filter(|(pod_uid, _)| *pod_uid == one.pod_uid).count() == 1;
        let named = in_pods().filter_map(|(row, one)| {
            let (pod, container) = (pod(one.pod.as_ref()?), one.name.as_ref().filter(|_| !is_alone(one)));
            Some((row.client_id, container.map_or_else(|| pod.clone(), |container| format!("{pod}:{container}"))))
        });
        Self(named.collect())
    }

    /// The client with its pod in front, if that is known.
    pub(super) fn client(&self, id: ClientId, client: &Client) -> String {
        let program = program(client);
        self.0.get(&id).map_or_else(|| program.clone(), |pod| format!("{pod} {program}"))
    }
}

/// The container of a reflector's client.
pub(super) fn container_of(row: &ReflectorRow) -> Option<&Container> {
    row.process.as_ref()?.container.as_deref()
}

/// `NAMESPACE/NAME`.
pub(super) fn pod(pod: &Pod) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}

/// `Deployment web`, or the name alone.
pub(super) fn workload(workload: &Workload) -> String {
    workload.kind.map_or_else(|| workload.name.clone(), |kind| format!("{} {}", kind.as_str(), workload.name))
}
