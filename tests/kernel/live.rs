//! Processes that run are probed, and what they say is what the observer hears.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use observer_core::observer::Snapshot;
use watchtap::demo::{DemoConfig, DemoServer};
use watchtap::tap::probe::ProbeOutcome;

use crate::stage::Stage;

/// Asks with Python's own client, which uses OpenSSL, on one connection that stays open.
const PYTHON: &str = "
import http.client, ssl, sys
host, authority, token = sys.argv[1:]
connection = http.client.HTTPSConnection(host, context=ssl.create_default_context(cadata=authority))
for path in ['/api/v1/namespaces?limit=500', '/api/v1/namespaces/default/configmaps', '/version']:
    connection.request('GET', path, headers={'Authorization': 'Bearer ' + token, 'User-Agent': 'probed/v1'})
    connection.getresponse().read()
print('asked', flush=True)
sys.stdin.readline()
";

#[test]
fn lists_of_a_python_client_are_seen_without_a_proxy() {
    let (snapshot, outcome) = probed(|server| {
        let arguments = [&server.address().to_string(), server.ca_pem(), server.token()];
        let mut python = Command::new("python3");
        let mut client = python.args(["-c", PYTHON]).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "asked\n");
        client
    });
    let Snapshot { totals, missed, lists, .. } = snapshot;
    assert_eq!((totals.connections, totals.requests, totals.lists, totals.items), (1, 3, 2, 4), "{outcome:?} {missed:?}");
    assert_eq!((outcome.no_room, missed.bytes, missed.malformed, missed.dark), (0, 0, 0, 0), "{missed:?}");
    let asked: Vec<String> = lists.iter().map(|row| row.shape.to_string()).collect();
    assert_eq!(asked, ["namespaces · cluster · limit=500", "configmaps · default/"]);
}

fn probed(act: impl FnOnce(&DemoServer) -> Child) -> (Snapshot, ProbeOutcome) {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let stage = Stage::attach(&server);
    let mut client = act(&server);
    let seen = stage.finish();
    drop(client.stdin.take());
    assert!(client.wait().unwrap().success());
    seen
}
