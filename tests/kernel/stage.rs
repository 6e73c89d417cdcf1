//! A probe and an Observer for a demo API server.

use std::net::SocketAddr;

use observer_core::observer::Snapshot;
use observer_demo::DemoServer;
use watchtap::api_server::UpstreamId;
use watchtap::intake::{Intake, IntakeLimits};
use watchtap::memory_budget::MemoryBudget;
use watchtap::pipeline::{Observing, Outputs, Upstream};
use watchtap::tap::Clock;
use watchtap::tap::probe::{ProbeOptions, ProbeOutcome, ProbeTap};

use super::clients::of_clients;
use super::probe_output::readdress;

/// A running probe and its Observer.
pub(crate) struct Stage {
    observing: Observing,
    tap: ProbeTap,
}

impl Stage {
    /// Probes all clients of the server from now on.
    pub(crate) fn attach(server: &DemoServer) -> Self {
        Self::attach_with(server, &of_clients(server.address()))
    }

    /// As [`Self::attach`], with other options.
    pub(crate) fn attach_with(server: &DemoServer, options: &ProbeOptions) -> Self {
        let address: SocketAddr = server.address();
        let clock = Clock::start();
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let upstream = Upstream { id: UpstreamId::default(), name: address.to_string(), path_prefix: String::new(), profile: None };
        let observing =
            Observing::start(receiver, clock.now(), vec![upstream], Outputs::default(), &MemoryBudget::default()).unwrap();
        let tap = ProbeTap::start(options, intake, clock).unwrap();
        Self { observing, tap }
    }

    /// Gives the server other addresses.
    pub(crate) fn readdress(&self, addresses: &[SocketAddr]) {
        readdress(&self.tap, &addresses.iter().map(|address| (*address, UpstreamId::default())).collect());
    }

    /// Stops the probe and returns its results.
    pub(crate) fn finish(self) -> (Snapshot, ProbeOutcome) {
        let outcome = self.tap.finish().unwrap();
        (self.observing.finish().unwrap().snapshot, outcome)
    }
}

/// Checks that all three requests of a client were seen, on this many connections.
#[track_caller]
pub(crate) fn assert_all_seen(snapshot: &Snapshot, outcome: &ProbeOutcome, connections: u64) {
    let Snapshot { totals, missed, lists, .. } = snapshot;
    assert_eq!(
        (totals.connections, totals.requests, totals.lists, totals.items.or_zero()),
        (connections, 3, 2, 4),
        "{outcome:?} {missed:?}"
    );
    assert_eq!((missed.probe.records, missed.bytes, missed.malformed, missed.stopped_directions), (0, 0, 0, 0), "{missed:?}");
    assert_eq!(missed.probe.contradicted, 0, "{missed:?}");
    let mut asked: Vec<String> = lists.iter().map(|row| row.shape.to_string()).collect();
    asked.sort();
    assert_eq!(asked, ["configmaps · default/", "namespaces · cluster · limit=500"]);
}
