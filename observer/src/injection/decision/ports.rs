//! The ports of the sidecar, apart from those that the pod uses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::containers::Container;
use super::reasons::{no_port, too_many_containers};
use crate::injection::outcome::{Led, Refusal};
use crate::pod_layout::{FIRST_PORT, METRICS_PORT, MOST_CONTAINERS};

/// Linux gives ports from here on to outgoing connections, so one of them could be taken.
pub(in crate::injection) const FIRST_EPHEMERAL_PORT: u16 = 32768;

/// The ports on which the JavaScript client speaks HTTP without TLS (kubernetes-client/javascript `src/config.ts`).
pub(in crate::injection) const WITHOUT_TLS: [u16; 3] = [80, 8080, 8001];

/// The ports of the sidecar.
#[derive(Clone, Debug)]
pub(in crate::injection) struct Ports {
    pub(in crate::injection) led: Vec<Led>,
    pub(in crate::injection) metrics: u16,
}

impl Ports {
    pub(super) fn assign(led: &[Container<'_>], all: &[Container<'_>]) -> Result<Self, Refusal> {
        if led.len() > MOST_CONTAINERS {
            return Err(too_many_containers(led.len()));
        }
        let taken = declared(all);
        let is_free = |port: &u16| !taken.contains(port) && !WITHOUT_TLS.contains(port);
        let mut free = (FIRST_PORT..FIRST_EPHEMERAL_PORT).filter(is_free);
        let metrics = (METRICS_PORT..FIRST_PORT).find(is_free).ok_or_else(no_port)?;
        let with_port = |container: &Container<'_>| {
            let port = free.next().ok_or_else(no_port)?;
            Ok(Led { container: container.name.to_owned(), port })
        };
        Ok(Self { led: led.iter().map(with_port).collect::<Result<_, _>>()?, metrics })
    }
}

/// All ports that the pod declares.
fn declared(all: &[Container<'_>]) -> BTreeSet<u16> {
    let ports = all.iter().flat_map(|container| container.list("ports"));
    let numbers = ports.flat_map(|port| ["containerPort", "hostPort"].map(|key| port.get(key).and_then(Value::as_u64)));
    numbers.flatten().filter_map(|port| u16::try_from(port).ok()).collect()
}
