//! Tests of API servers whose addresses change while a probe runs. Two demo servers stand for one API server at two addresses.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use observer_core::http::Start;
use observer_core::observer::{RequestRecord, Snapshot};
use observer_demo::{DemoConfig, DemoServer};
use watchtap::api_server::UpstreamId;
use watchtap::intake::TapEvent;
use watchtap::tap::probe::{ProbeOptions, ServerEnds};

use super::clients::{URLLIB, of_clients, python, run};
use super::commanded_client::CommandedClient;
use super::older_connections::Client;
use super::probe_output::{ProbeOutput, RunningProbe};
use super::server_process::ServerProcess;
use super::stage::Stage;

const SERVER: UpstreamId = UpstreamId(0);

fn demo() -> DemoServer {
    DemoServer::start(DemoConfig::default()).unwrap()
}

#[test]
fn requests_at_the_new_address_of_a_server_are_observed() {
    let (first, second) = (demo(), demo());
    let stage = Stage::attach(&first);
    let mut clients = [&first, &second].map(CommandedClient::start);
    for client in &mut clients {
        client.ask(1);
    }
    stage.readdress(&[second.address()]);
    // The second one has a connection that led elsewhere until now; the first one's address is a former one.
    for client in &mut clients {
        client.ask(2);
    }
    let later = [&first, &second].map(|server| {
        let mut client = CommandedClient::start(server);
        client.ask(4);
        client
    });
    let (Snapshot { totals, missed, upstreams, .. }, _) = stage.finish();
    clients.into_iter().chain(later).for_each(CommandedClient::end);
    assert_eq!((totals.requests, totals.connections), (1 + 2 + 2 + 4 + 4, 4), "{missed:?}");
    // They are empty for a single server.
    assert_eq!(upstreams.len(), 0);
    assert_eq!((missed.bytes, missed.malformed, missed.stopped_directions), (0, 0, 0), "{missed:?}");
}

/// Two addresses of one name are one server.
#[test]
fn requests_to_two_servers_behind_one_name_count_once_each() {
    let servers = [demo(), demo()];
    let addresses = servers.each_ref().map(DemoServer::address);
    let probe = RunningProbe::start(&ProbeOptions { api_servers: of(&addresses), ..ProbeOptions::default() });
    let mut clients = servers.each_ref().map(CommandedClient::start);
    for client in &mut clients {
        client.ask(3);
    }
    // The name gets its addresses one by one, and then both: nothing changes for the connections.
    for addresses in [&addresses[..1], &addresses[1..], &addresses] {
        probe.readdress(&of(addresses));
        for client in &mut clients {
            client.ask(1);
        }
    }
    let output = probe.finish();
    clients.into_iter().for_each(CommandedClient::end);
    let opened = output.opened();
    assert_eq!(opened.len(), 2, "{opened:?}");
    assert!(opened.iter().all(|info| info.upstream == Some(SERVER) && info.start == Start::Beginning), "{opened:?}");
    assert_eq!(requests(&output), 2 * 6);
}

#[test]
fn watch_continues_while_its_server_moves() {
    let (first, second, other) = (demo(), demo(), demo());
    // Its program is found while it runs.
    let found = Client::start(&other, "net/http");
    let stage = Stage::attach(&first);
    let mut client = Client::start(&first, "net/http");
    found.end();
    stage.readdress(&[second.address()]);
    client.ask();
    let mut moved = Client::start(&second, "net/http");
    moved.ask();
    let (snapshot, _) = stage.finish();
    client.end();
    moved.end();
    // Each lists twice and watches, then creates, lists twice and watches again.
    let Snapshot { totals, missed, .. } = snapshot;
    assert_eq!((totals.connections, totals.requests), (2, 2 * 7), "{missed:?}");
    assert_eq!((missed.bytes, missed.malformed, missed.stopped_directions, missed.unknown_requests), (0, 0, 0, 0), "{missed:?}");
}

/// Its header blocks refer to earlier ones, which were not observed. So its header fields are recorded.
#[test]
fn open_http2_connection_at_a_new_address_is_identified_at_its_next_request() {
    let (first, second) = (demo(), demo());
    // It has listed, and watches. The probe examines its program before it is ready: a program that starts later may send requests first.
    let mut client = Client::start(&second, "net/http");
    let stage = Stage::attach(&first);
    // The programs in the kernel find that the connection leads elsewhere.
    client.ask();
    stage.readdress(&[second.address()]);
    for _ in 0..2 {
        client.ask();
    }
    let (Snapshot { totals, missed, requests, .. }, outcome) = stage.finish();
    client.end();
    let (of_before, known): (Vec<RequestRecord>, Vec<RequestRecord>) = requests.into_iter().partition(|one| one.verb.is_none());
    assert_eq!((totals.connections, known.len(), of_before.len()), (1, 8, 1), "{known:?} {of_before:?} {missed:?}");
    assert!(known.iter().all(|one| one.client.program == "late/v1"), "{known:?}");
    assert_eq!((outcome.recording_fields, missed.malformed), (1, 0), "{missed:?}");
}

#[test]
fn both_ends_of_a_connection_count_once_when_the_server_moves() {
    for server_ends in [ServerEnds::Added, ServerEnds::Alone] {
        let servers = [ServerProcess::start(), ServerProcess::start()];
        let [first, second] = servers.each_ref().map(|server| server.address);
        let probe = RunningProbe::start(&ProbeOptions { server_ends, ..of_clients(first) });
        let ask = |server: &ServerProcess| {
            run(&mut python(URLLIB, &[server.address.to_string(), server.authority.clone(), "nobody".to_owned()]));
        };
        servers.iter().for_each(ask);
        probe.readdress(&of(&[second]));
        servers.iter().for_each(ask);
        probe.readdress(&of(&[first, second]));
        servers.iter().for_each(ask);
        let output = probe.finish();
        let opened = output.opened();
        let at = |address: SocketAddr| opened.iter().filter(|info| info.server == address).count();
        assert_eq!((at(first), at(second), opened.len()), (9, 6, 15), "{server_ends:?}: {opened:?}");
        assert!(opened.iter().all(|info| info.process.is_some()), "{server_ends:?}: {opened:?}");
        assert_eq!(requests(&output), 15, "{server_ends:?}");
    }
}

fn of(addresses: &[SocketAddr]) -> BTreeMap<SocketAddr, UpstreamId> {
    addresses.iter().map(|address| (*address, SERVER)).collect()
}

/// The number of requests with HTTP/1.1.
fn requests(output: &ProbeOutput) -> usize {
    let bytes =
        output.events.iter().filter_map(|(_, event)| if let TapEvent::Bytes { bytes, .. } = event { Some(bytes) } else { None });
    bytes.filter(|bytes| bytes.starts_with(b"GET ")).count()
}
