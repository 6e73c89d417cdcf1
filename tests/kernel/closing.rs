//! Tests of connections that are closed while they are in use.

use std::collections::BTreeSet;

use observer_core::http::Start;
use observer_demo::{DemoConfig, DemoServer};
use watchtap::intake::Notice;
use watchtap::tap::probe::ProbeOptions;

use super::clients::of_clients;
use super::older_connections::Client;
use super::probe_output::RunningProbe;

/// Minimum number of closed connections.
const AT_LEAST: usize = 20;
/// Maximum number of closed connections, until one reuses the memory of an earlier one.
const AT_MOST: usize = 500;

#[test]
fn go_traffic_during_close_opens_no_extra_connection() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut client = Client::start(&server, "closing");
    let options = ProbeOptions { processes: vec![client.id()], ..of_clients(server.address()) };
    let probe = RunningProbe::start(&options);
    let mut addresses = BTreeSet::new();
    let mut closed = 0;
    while closed < AT_LEAST || addresses.len() == closed {
        assert!(closed < AT_MOST, "not tried: no address came again");
        addresses.insert(client.ask_closing());
        closed += 1;
    }
    client.end();
    let output = probe.finish();
    let opened = output.opened();
    assert_eq!(opened.len(), closed, "{opened:?}");
    assert!(opened.iter().all(|info| info.start == Start::Beginning), "{opened:?}");
    let missed: Vec<&Notice> = output.notices.iter().filter(|notice| matches!(notice, Notice::ProbeMissed { .. })).collect();
    assert!(missed.is_empty(), "{missed:?}");
}
