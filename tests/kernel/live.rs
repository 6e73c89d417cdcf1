//! Tests that the Observer receives the plaintext of running processes from the probe.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use observer_core::observer::Snapshot;
use observer_demo::{DemoConfig, DemoServer};
use watchtap::tap::probe::ProbeOutcome;

use super::clients::{PATHS, URLLIB, arguments, python, run};
use super::stage::{Stage, assert_all_seen};

/// Sends requests with Python's own client, which uses OpenSSL, on one connection that stays open.
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

/// Sends three requests on one asyncio connection, whose TLS reads from memory and writes to memory.
const ASYNCIO: &str = "
import asyncio, ssl, sys
host, authority, token = sys.argv[1:]
name, port = host.rsplit(':', 1)
async def ask():
    context = ssl.create_default_context(cadata=authority)
    reader, writer = await asyncio.open_connection(name, int(port), ssl=context)
    for path in ['/api/v1/namespaces?limit=500', '/api/v1/namespaces/default/configmaps', '/version']:
        head = f'GET {path} HTTP/1.1\\r\\nHost: {host}\\r\\nAuthorization: Bearer {token}\\r\\n\\r\\n'
        writer.write(head.encode())
        head = await reader.readuntil(b'\\r\\n\\r\\n')
        lengths = [line.split(b':')[1] for line in head.splitlines() if line.lower().startswith(b'content-length')]
        await reader.readexactly(int(lengths[0]))
    writer.close()
asyncio.run(ask())
";

#[test]
fn lists_of_a_python_client_are_seen_without_a_proxy() {
    let (mut client, (snapshot, outcome)) = probed(|server| {
        let mut client = python(PYTHON, &arguments(server)).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "asked\n");
        client
    });
    drop(client.stdin.take());
    assert!(client.wait().unwrap().success());
    assert_all_seen(&snapshot, &outcome, 1);
}

#[test]
fn short_connections_are_observed() {
    let ((), (snapshot, outcome)) = probed(|server| run(&mut python(URLLIB, &arguments(server))));
    assert_all_seen(&snapshot, &outcome, 3);
}

#[test]
fn connection_with_in_memory_tls_is_observed() {
    let ((), (snapshot, outcome)) = probed(|server| run(&mut python(ASYNCIO, &arguments(server))));
    assert_all_seen(&snapshot, &outcome, 1);
}

#[test]
fn in_memory_tls_to_another_server_is_not_counted_as_missed() {
    let (api_server, other) =
        (DemoServer::start(DemoConfig::default()).unwrap(), DemoServer::start(DemoConfig::default()).unwrap());
    let stage = Stage::attach(&api_server);
    // Its first plaintext is recorded before it sends any byte.
    run(&mut python(ASYNCIO, &arguments(&other)));
    let (Snapshot { totals, missed, .. }, _) = stage.finish();
    assert_eq!((totals.connections, missed.probe.unplaced), (0, 0), "{missed:?}");
}

#[test]
fn curl_requests_are_observed_without_its_descriptor() {
    let ((), (snapshot, outcome)) = probed(|server| {
        let mut authority = tempfile::NamedTempFile::new().unwrap();
        authority.write_all(server.ca_pem().as_bytes()).unwrap();
        for path in PATHS {
            let mut curl = Command::new("curl");
            curl.args(["--silent", "--fail", "--http1.1", "--output", "/dev/null", "--cacert"]).arg(authority.path());
            curl.args(["--header", &format!("Authorization: Bearer {}", server.token())]);
            run(curl.arg(format!("https://{}{path}", server.address())));
        }
    });
    assert_all_seen(&snapshot, &outcome, 3);
}

#[test]
fn thousands_of_short_processes_hide_no_client() {
    let ((), (snapshot, outcome)) = probed(|server| {
        let mut shell = Command::new("sh");
        let mut herd = shell.args(["-c", "for _ in $(seq 2000); do /bin/true; done"]).spawn().unwrap();
        run(&mut python(URLLIB, &arguments(server)));
        assert!(herd.wait().unwrap().success());
    });
    assert_all_seen(&snapshot, &outcome, 3);
    assert_eq!(snapshot.missed.probe.lifetimes, 0);
}

/// The result of `act`, and the probe's results.
fn probed<Left>(act: impl FnOnce(&DemoServer) -> Left) -> (Left, (Snapshot, ProbeOutcome)) {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let stage = Stage::attach(&server);
    let left = act(&server);
    (left, stage.finish())
}
