//! Tests of connections that were open before the probe attached.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use observer_core::observer::{RequestRecord, Snapshot};
use observer_core::routing::{ServedFrom, UnknownReason};
use observer_demo::{DemoConfig, DemoServer};
use observer_tests::go_late_client;
use watchtap::intake::TapEvent;
use watchtap::tap::probe::{ProbeOptions, ProbeOutcome};

use super::probe_output::{ProbeOutput, RunningProbe};
use crate::clients::of_clients;
use crate::stage::Stage;

/// The client's requests in two rounds, with status and number of added events.
const EACH_REQUEST: [&str; 8] = [
    "Create configmaps · default/ 201 - events",
    "Create configmaps · default/ 201 - events",
    "List configmaps · default/ · labels none 200 - events",
    "List configmaps · default/ · labels none 200 - events",
    "List configmaps · default/ · limit=1 200 - events",
    "List configmaps · default/ · limit=2 200 - events",
    "Watch configmaps · default/ · RV=N · labels round=1 200 1 events",
    "Watch configmaps · default/ · RV=N · labels round=2 200 1 events",
];

/// The probe's limit, in calls per second. The TLS calls of [`ROUNDS`] rounds stay below it, and the calls for header fields exceed
/// it.
const BUDGET: u32 = 100;
const ROUNDS: usize = 12;

#[test]
fn open_net_http_connection_is_identified_at_its_next_request() {
    check("net/http", None);
}

#[test]
fn open_x_net_connection_is_identified_at_its_next_request() {
    check("x/net", None);
}

#[test]
fn fields_of_connections_to_other_servers_are_not_recorded() {
    for library in ["net/http", "x/net"] {
        check(library, Some(&DemoServer::start(DemoConfig::default()).unwrap()));
    }
}

#[test]
fn fields_encoded_during_another_connections_block_are_not_recorded() {
    check("foreign", None);
}

/// The client has listed and watches when the probe attaches. Then it runs two rounds, with a request to `other` before each of its
/// requests.
fn check(library: &str, other: Option<&DemoServer>) {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut client = Client::start_beside(&server, library, other);
    let stage = Stage::attach(&server);
    for _ in 0..2 {
        client.ask();
    }
    let (snapshot, outcome) = stage.finish();
    client.end();

    let Snapshot { totals, missed, requests, .. } = snapshot;
    let (of_before, known): (Vec<RequestRecord>, Vec<RequestRecord>) = requests.into_iter().partition(|one| one.verb.is_none());
    let mut asked: Vec<String> = known.iter().map(asked).collect();
    asked.sort();
    assert_eq!(asked, EACH_REQUEST, "{library} {outcome:?} {missed:?}");
    for one in &known {
        assert_eq!((one.client.program.as_str(), one.client.identity.is_some()), ("late/v1", true), "{one:?}");
    }
    let [watch] = of_before.as_slice() else { panic!("{of_before:?}") };
    assert!(watch.client.program.is_empty() && watch.client.identity.is_none() && watch.name.is_empty(), "{watch:?}");
    assert_eq!(watch.watch.as_ref().map(|watch| watch.added), Some(2), "{watch:?}");
    let layer = watch.verdict.as_ref().map(|verdict| &verdict.served_from);
    assert_eq!(layer, Some(&ServedFrom::Unknown { reason: UnknownReason::AttachedLate, remaining: Vec::new() }));
    let ProbeOutcome { recording_fields, .. } = outcome;
    assert_eq!((recording_fields, missed.probe.records, missed.probe.unused_fields), (1, 0, 0));
    assert_eq!(
        (totals.connections, missed.unknown_requests, missed.malformed, missed.stopped_directions),
        (1, 1, 0, 0),
        "{missed:?}"
    );
}

#[test]
fn go_client_with_a_wrapped_connection_is_observed() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    // Its program is found while it runs.
    let first = Client::start(&server, "rotated");
    let stage = Stage::attach(&server);
    first.end();
    let mut client = Client::start(&server, "rotated");
    client.ask();
    let (Snapshot { totals, missed, .. }, _outcome) = stage.finish();
    client.end();
    assert_eq!(totals.lists, 4, "{totals:?} {missed:?}");
}

#[test]
fn header_field_probes_detach_over_budget_and_bytes_continue() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut client = Client::start(&server, "net/http");
    let mut probe = RunningProbe::start(&ProbeOptions { calls_per_second: BUDGET, ..of_clients(server.address()) });
    for _ in 0..ROUNDS {
        client.ask();
    }
    let until_then = bytes(probe.until(|output| output.not_probed().any(|(_, why)| why.contains("header fields"))));
    client.ask();
    let output = probe.until(|output| bytes(output) > until_then);
    let is_out_of_sight = |event: &TapEvent| matches!(event, TapEvent::NotObserved { .. });
    assert!(!output.events.iter().any(|(_, event)| is_out_of_sight(event)), "{output:?}");
    let output = probe.finish();
    client.end();
    let left: Vec<&str> = output.not_probed().filter_map(|(file, why)| file.contains("late").then_some(why)).collect();
    let [why] = left.as_slice() else { panic!("{left:?}") };
    assert!(why.contains(&format!("more than the {BUDGET} calls a second")) && why.contains("stay unknown"), "{why}");
}

/// The number of byte events.
fn bytes(output: &ProbeOutput) -> usize {
    output.events.iter().filter(|(_, event)| matches!(event, TapEvent::Bytes { .. })).count()
}

fn asked(one: &RequestRecord) -> String {
    let events = one.watch.as_ref().map_or_else(|| "-".to_owned(), |watch| watch.added.to_string());
    format!("{:?} {} {} {events} events", one.verb.unwrap(), one.shape, one.status.unwrap_or_default())
}

pub(crate) struct Client {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Client {
    pub(crate) fn start(server: &DemoServer, library: &str) -> Self {
        Self::start_beside(server, library, None)
    }

    /// Starts a client with a command that executes its program.
    pub(crate) fn start_by(command: Command, server: &DemoServer, library: &str) -> Self {
        Self::start_with(command, server, library, None)
    }

    /// Starts a client that also sends requests to `other`.
    fn start_beside(server: &DemoServer, library: &str, other: Option<&DemoServer>) -> Self {
        Self::start_with(Command::new(go_late_client().unwrap()), server, library, other)
    }

    fn start_with(mut command: Command, server: &DemoServer, library: &str, other: Option<&DemoServer>) -> Self {
        let authorities: String = [server].into_iter().chain(other).map(DemoServer::ca_pem).collect();
        command.args([&server.address().to_string(), &authorities, server.token(), library]);
        command.args(other.map(|other| other.address().to_string()));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut client = Self { child, stdin, stdout: BufReader::new(stdout) };
        assert_eq!(client.line(), "watching\n");
        client
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn ask(&mut self) {
        self.stdin.write_all(b"ask\n").unwrap();
        assert_eq!(self.line(), "asked\n");
    }

    /// For a client that closes each connection: runs one round and returns the connection's address in the client's memory.
    pub(crate) fn ask_closing(&mut self) -> String {
        self.stdin.write_all(b"ask\n").unwrap();
        let line = self.line();
        line.strip_prefix("asked 0x").unwrap().to_owned()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn end(mut self) {
        drop(self.stdin);
        assert!(self.child.wait().unwrap().success());
    }
}
