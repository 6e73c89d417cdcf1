//! The ports of the sidecar, apart from those that the pod uses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::containers::Container;
use crate::injection::outcome::{Led, Refusal};
use crate::pod_layout::{FIRST_PORT, METRICS_PORT};

/// Linux gives ports from here on to outgoing connections, so one of them could be taken.
const FIRST_EPHEMERAL_PORT: u16 = 32768;

/// The ports on which the JavaScript client speaks HTTP without TLS (kubernetes-client/javascript `src/config.ts`).
const WITHOUT_TLS: [u16; 3] = [80, 8080, 8001];

/// The ports of the sidecar.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    pub(super) led: Vec<Led>,
    pub(super) metrics: u16,
}

impl Ports {
    pub(super) fn assign(led: &[Container<'_>], all: &[Container<'_>]) -> Result<Self, Refusal> {
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

fn no_port() -> Refusal {
    Refusal::new(
        "the pod declares all ports that the sidecar could use",
        "declare fewer ports, or lead fewer containers with --container",
    )
}
