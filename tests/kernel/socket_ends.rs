//! Tests of the kernel's socket records: how connections end, and from which end the probe sees them.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use observer_core::http::Direction;
use observer_tests::{ScriptedUpstream, ServerStream, connect};
use socket2::SockRef;
use watchtap::intake::{EndManner, TapEvent};
use watchtap::tap::probe::{ProbeOptions, ServerEnds};

use super::clients::{URLLIB, of_clients, python, run};
use super::probe_output::ProbeOutput;
use super::server_process::ServerProcess;

/// Sends one request and ends as its argument states. It never asks its TLS library to close the connection.
const CLIENT: &str = "
import os, signal, socket, ssl, struct, sys
host, authority, end = sys.argv[1:]
name, port = host.rsplit(':', 1)
context = ssl.create_default_context(cadata=authority)
# Without it OpenSSL 3 sends an alert to the server that has cut, which answers with RST if it is in time.
context.options |= getattr(ssl, 'OP_IGNORE_UNEXPECTED_EOF', 0)
client = context.wrap_socket(socket.create_connection((name, int(port))), server_hostname=name)
client.sendall(b'GET /version HTTP/1.1\\r\\nHost: it\\r\\n\\r\\n')
client.recv(1000)
if end == 'wait':
    try:
        while client.recv(1000): pass
    except OSError: pass
if end == 'kill':
    os.kill(os.getpid(), signal.SIGKILL)
if end == 'linger':
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
client.close()
os._exit(0)
";

/// Sends this many requests, each on a new connection, and ends every second one with RST.
const ONE_AFTER_THE_OTHER: &str = "
import socket, ssl, struct, sys
host, authority, connections = sys.argv[1:]
name, port = host.rsplit(':', 1)
context = ssl.create_default_context(cadata=authority)
for number in range(int(connections)):
    client = context.wrap_socket(socket.create_connection((name, int(port))), server_hostname=name)
    client.sendall(b'GET /version HTTP/1.1\\r\\nHost: it\\r\\n\\r\\n')
    client.recv(1000)
    if number % 2:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    client.close()
";

/// The server's action after its answer.
#[derive(Clone, Copy, Debug)]
enum Server {
    WaitsForTheClient,
    /// FIN without `close_notify`.
    Cuts,
    Resets,
}

#[test]
fn connection_ends_are_reported_with_side_and_manner() {
    let (request, response) = (Direction::Request, Direction::Response);
    for (client, server, expected) in [
        ("close", Server::WaitsForTheClient, &[(request, EndManner::Fin)][..]),
        ("kill", Server::WaitsForTheClient, &[(request, EndManner::Fin)]),
        ("linger", Server::WaitsForTheClient, &[(request, EndManner::Reset)]),
        ("wait", Server::Cuts, &[(response, EndManner::Fin), (request, EndManner::Fin)]),
        ("wait", Server::Resets, &[(response, EndManner::Reset)]),
    ] {
        assert_eq!(ends(client, server), expected, "{client}, {server:?}");
    }
}

#[test]
fn ends_of_successive_connections_are_distinguished() {
    let server = answering(Server::WaitsForTheClient);
    let output = ProbeOutput::during(&of_clients(server.address()), || {
        let arguments = [server.address().to_string(), server.ca_pem().to_owned(), "40".to_owned()];
        run(&mut python(ONE_AFTER_THE_OTHER, &arguments));
    });
    let mut ended: Vec<_> = output.events.iter().filter_map(|(id, event)| Some((*id, end(event)?))).collect();
    ended.sort_by_key(|(id, _)| *id);
    let ended: Vec<_> = ended.into_iter().map(|(_, end)| end).collect();
    assert_eq!(ended, [(Direction::Request, EndManner::Fin), (Direction::Request, EndManner::Reset)].repeat(20));
}

#[test]
fn connection_with_both_ends_on_this_machine_counts_once() {
    let server = ServerProcess::start();
    let options = ProbeOptions { server_ends: ServerEnds::Added, ..of_clients(server.address) };
    let infos = ProbeOutput::during(&options, || {
        run(&mut python(URLLIB, &[server.address.to_string(), server.authority.clone(), "nobody".to_owned()]));
    })
    .opened();
    assert_eq!(infos.len(), 3, "{infos:?}");
    assert!(infos.iter().all(|info| info.server == server.address && info.process.is_some()), "{infos:?}");
}

#[test]
fn server_end_is_observed_only_if_requested() {
    let server = ServerProcess::start();
    for server_ends in [ServerEnds::Added, ServerEnds::Alone, ServerEnds::Ignored] {
        let options = ProbeOptions { server_ends, ..of_clients(server.address) };
        let infos = ProbeOutput::during(&options, || {
            // The probe does not record this process.
            let mut stream = connect(server.address, &server.authority, &[]).unwrap();
            stream.write_all(b"GET /version HTTP/1.0\r\n\r\n").unwrap();
            // The result does not matter: the Python process determines how the connection ends.
            let _ended: io::Result<usize> = stream.read_to_end(&mut Vec::new());
        })
        .opened();
        let [info] = infos.as_slice() else {
            assert!(infos.is_empty() && server_ends == ServerEnds::Ignored, "{infos:?}");
            continue;
        };
        assert_ne!(server_ends, ServerEnds::Ignored);
        assert_eq!((info.server, &info.process), (server.address, &None));
    }
}

fn ends(client: &str, does: Server) -> Vec<(Direction, EndManner)> {
    let server = answering(does);
    let output = ProbeOutput::during(&of_clients(server.address()), || {
        let arguments = [server.address().to_string(), server.ca_pem().to_owned(), client.to_owned()];
        assert_eq!(python(CLIENT, &arguments).status().unwrap().success(), client != "kill");
    });
    output.events.iter().filter_map(|(_, event)| end(event)).collect()
}

fn end(event: &TapEvent) -> Option<(Direction, EndManner)> {
    let TapEvent::Ended { direction, manner, .. } = event else { return None };
    Some((*direction, *manner))
}

fn answering(does: Server) -> ScriptedUpstream {
    let server = ScriptedUpstream::start(&[], move |stream| {
        let mut request = [0; 1000];
        let _length = stream.read(&mut request)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")?;
        after_its_answer(does, stream)
    });
    server.unwrap()
}

fn after_its_answer(does: Server, stream: &mut ServerStream) -> io::Result<()> {
    match does {
        Server::WaitsForTheClient => {
            let _end: io::Result<usize> = stream.read(&mut [0; 1]);
        }
        Server::Cuts => {}
        Server::Resets => SockRef::from(&stream.sock).set_linger(Some(Duration::ZERO))?,
    }
    Err(io::Error::other("the connection is cut"))
}
