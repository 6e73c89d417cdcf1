//! The client of a request, as every view names it.

use std::collections::{BTreeMap, BTreeSet};

use observer_core::exchange::{Client, ClientId};
use observer_core::k8s::{Container, Pod, Workload};
use observer_core::observer::Snapshot;

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
    /// The pods of all clients, as `NAMESPACE/POD`. If several containers of a pod have clients, also with
    /// the container: `NAMESPACE/POD:CONTAINER`.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let reflectors = || snapshot.reflectors.iter().map(|row| (row.client_id, row.process.as_ref()));
        let clients = || snapshot.clients.iter().map(|row| (row.client_id, row.process.as_ref()));
        let in_pods = || {
            let containers = clients().chain(reflectors()).filter_map(|(id, process)| Some((id, process?.container.as_deref()?)));
            containers.filter(|(_, one)| one.pod.is_some())
        };
        let ids: BTreeSet<(&str, &str)> = in_pods().map(|(_, one)| (one.pod_uid.as_str(), one.id.as_str())).collect();
        let is_alone = |one: &Container| ids.iter().filter(|(pod_uid, _)| *pod_uid == one.pod_uid).count() == 1;
        let named = in_pods().filter_map(|(id, one)| {
            let (pod, container) = (pod(one.pod.as_ref()?), one.name.as_ref().filter(|_| !is_alone(one)));
            Some((id, container.map_or_else(|| pod.clone(), |container| format!("{pod}:{container}"))))
        });
        Self(named.collect())
    }

    /// The client with its pod in front, if that is known.
    pub(super) fn client(&self, id: ClientId, client: &Client) -> String {
        let program = program(client);
        self.0.get(&id).map_or_else(|| program.clone(), |pod| format!("{pod} {program}"))
    }
}

/// `NAMESPACE/NAME`.
pub(super) fn pod(pod: &Pod) -> String {
    format!("{}/{}", pod.namespace, pod.name)
}

/// `Deployment web`, or the name alone.
pub(super) fn workload(workload: &Workload) -> String {
    workload.kind.map_or_else(|| workload.name.clone(), |kind| format!("{} {}", kind.as_str(), workload.name))
}
