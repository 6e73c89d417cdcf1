//! A probe reports what it does not see.

use std::process::Stdio;
use std::time::{Duration, Instant};

use observer_core::observation::ProbeMissed;
use observer_tests::watchtap;
use watchtap::demo::{DemoConfig, DemoServer};
use watchtap::intake::Notice;
use watchtap::tap::probe::ProbeOptions;

use super::clients::of_clients;
use super::patient::Patient;
use super::told::{Hearing, Told};

/// Limit of every wait.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn records_that_find_no_room_are_told_while_the_probe_runs() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut client = Patient::start(&server);
    // One page, which a few records fill before the probe reads it.
    let mut probe = Hearing::start(&ProbeOptions { ring_bytes: 4_096, ..of_clients(server.address()) });
    client.ask(200);
    let missed = |notices: &[Notice]| {
        let missed =
            notices.iter().filter_map(|notice| if let Notice::ProbeMissed { missed, .. } = notice { Some(*missed) } else { None });
        missed.fold(ProbeMissed::default(), |sum, more| sum.and(&more))
    };
    let begun = Instant::now();
    while missed(&probe.told().notices).is_none() {
        assert!(begun.elapsed() < PATIENCE, "nothing was missed");
        client.ask(1);
    }
    let ProbeMissed { records, bytes, .. } = missed(&probe.finish().notices);
    assert!(records > 0 && bytes > 0, "{records} {bytes}");
    client.end();
}

#[test]
fn program_with_rustls_is_told_as_not_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut rustls = watchtap().unwrap();
    rustls.args(["demo"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut rustls = rustls.spawn().unwrap();
    let told = Told::during(&ProbeOptions { processes: vec![rustls.id()], ..of_clients(server.address()) }, || {});
    rustls.kill().unwrap();
    rustls.wait().unwrap();
    let [(file, why)] = told.not_probed().collect::<Vec<_>>()[..] else { panic!("{told:?}") };
    assert!(file.ends_with("watchtap") && why.starts_with("rustls has no function"), "{file}: {why}");
}
