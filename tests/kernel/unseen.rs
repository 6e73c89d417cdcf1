//! Tests that a probe reports traffic that it does not see.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

use observer_core::observation::ProbeMissed;
use observer_core::series::ProbeFiles;
use observer_demo::{DemoConfig, DemoServer};
use observer_tests::{patient, watchtap};
use watchtap::intake::Notice;
use watchtap::tap::probe::ProbeOptions;

use super::clients::{of_clients, ring_of};
use super::commanded_client::CommandedClient;
use super::probe_output::{ProbeOutput, RunningProbe};

/// Limit of every wait.
const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn dropped_records_are_reported_while_the_probe_runs() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut client = CommandedClient::start(&server);
    // One page, which a few records fill before the probe reads it.
    let mut probe = RunningProbe::start(&ProbeOptions { memory: ring_of(4_096), ..of_clients(server.address()) });
    client.ask(200);
    let missed = |notices: &[Notice]| {
        let missed =
            notices.iter().filter_map(|notice| if let Notice::ProbeMissed { missed, .. } = notice { Some(*missed) } else { None });
        missed.fold(ProbeMissed::default(), |sum, more| sum.and(&more))
    };
    let begun = Instant::now();
    while missed(&probe.output().notices).is_none() {
        assert!(begun.elapsed() < patient(LIMIT), "nothing was missed");
        client.ask(1);
    }
    let ProbeMissed { records, bytes, .. } = missed(&probe.finish().notices);
    assert!(records > 0 && bytes > 0, "{records} {bytes}");
    client.end();
}

#[test]
fn program_with_rustls_is_reported_if_it_is_connected_with_the_api_server() {
    let [server, other] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let server = server.local_addr().unwrap();
    let output = during_rustls_connected_with(other.local_addr().unwrap(), server);
    assert_eq!(output.not_probed().collect::<Vec<_>>(), []);
    assert_eq!(output.files, Some(ProbeFiles::default()));

    let output = during_rustls_connected_with(server, server);
    let [(file, why)] = output.not_probed().collect::<Vec<_>>()[..] else { panic!("{output:?}") };
    assert!(file.ends_with("watchtap") && why.starts_with("rustls has no function"), "{file}: {why}");
    assert!(why.contains("; watchtap (PID "), "{why}");
    assert_eq!(output.files, Some(ProbeFiles { all: 0, part: 0, none: 1 }));
}

/// Probes a program with rustls that is connected with `peer`, while the API server is `followed`.
fn during_rustls_connected_with(peer: SocketAddr, followed: SocketAddr) -> ProbeOutput {
    let connection = OwnedFd::from(TcpStream::connect(peer).unwrap());
    let mut rustls = watchtap().unwrap();
    rustls.args(["demo"]).stdin(Stdio::from(connection)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut rustls = rustls.spawn().unwrap();
    let output = ProbeOutput::during(&ProbeOptions { processes: vec![rustls.id()], ..of_clients(followed) }, || {});
    rustls.kill().unwrap();
    rustls.wait().unwrap();
    output
}
