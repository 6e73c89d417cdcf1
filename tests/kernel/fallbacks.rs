//! The fallbacks of a probe for kernels that lack a feature of this one, forced here.

use observer_core::observer::Snapshot;
use observer_demo::{DemoConfig, DemoServer};
use watchtap::tap::probe::ProbeOptions;
use watchtap::tap::probe::kernel::{AttachBy, PairBy};

use crate::clients::{URLLIB, arguments, of_clients, python, run};
use crate::older_connections::Client;
use crate::stage::Stage;

/// Lists of the Go client that is started and asked once, and of the Python client.
const LISTS: u64 = 4 + 2;

#[test]
fn perf_events_with_links_see_the_same_requests() {
    check(AttachBy::EventLinks);
}

#[test]
fn perf_events_with_copies_of_the_programs_see_the_same_requests() {
    check(AttachBy::EventCopies);
}

/// Checks that clients in Python and Go are observed completely, if the programs are attached in this way.
#[track_caller]
fn check(by: AttachBy) {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    // Kernels without `uprobe_multi` links also lack the tracepoints.
    let options = ProbeOptions { attach_by: Some(by), pair_by: Some(PairBy::Returns), ..of_clients(server.address()) };
    // The probe knows the program of the Go client before the client that is observed.
    let before = Client::start(&server, "rotated");
    let stage = Stage::attach_with(&server, &options);
    run(&mut python(URLLIB, &arguments(&server)));
    let mut client = Client::start(&server, "rotated");
    client.ask();
    client.end();
    let (Snapshot { totals, missed, .. }, outcome) = stage.finish();
    assert_eq!(totals.lists, LISTS, "{totals:?} {missed:?} {outcome:?}");
    assert_eq!((missed.malformed, missed.probe.records, missed.stopped_directions), (0, 0, 0), "{missed:?}");
    before.end();
}
