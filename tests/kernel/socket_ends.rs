//! Tests of the kernel's socket records: how connections end, and from which end the probe sees them.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Stdio};
use std::time::Duration;

use observer_core::http::Direction;
use observer_tests::{ScriptedUpstream, ServerStream, connect};
use socket2::SockRef;
use watchtap::intake::{EndManner, TapEvent};
use watchtap::tap::probe::ProbeOptions;

use super::clients::{URLLIB, of_clients, python, run};
use super::probe_output::ProbeOutput;

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

/// Answers each request with an empty object.
const SERVER: &str = "
import http.server, ssl, sys
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'{}')
    def log_message(self, *_): pass
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(*sys.argv[1:])
server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Answers)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
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
    let server = Process::server();
    let options = ProbeOptions { server_ends: true, ..of_clients(server.address) };
    let infos = ProbeOutput::during(&options, || {
        run(&mut python(URLLIB, &[server.address.to_string(), server.authority.clone(), "nobody".to_owned()]));
    })
    .opened();
    assert_eq!(infos.len(), 3, "{infos:?}");
    assert!(infos.iter().all(|info| info.server == server.address && info.process.is_some()), "{infos:?}");
}

#[test]
fn server_end_is_observed_only_if_requested() {
    let server = Process::server();
    for server_ends in [true, false] {
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
            assert!(infos.is_empty() && !server_ends, "{infos:?}");
            continue;
        };
        assert!(server_ends);
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

/// A server that runs as a separate process.
struct Process {
    child: Child,
    address: SocketAddr,
    authority: String,
}

impl Process {
    fn server() -> Self {
        let identity = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let authority = identity.cert.pem();
        let folder = tempfile::tempdir().unwrap();
        let files = [("certificate", &authority), ("key", &identity.signing_key.serialize_pem())].map(|(name, text)| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            file.to_str().unwrap().to_owned()
        });
        let mut child = python(SERVER, &files).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        let address = format!("127.0.0.1:{}", port.trim()).parse().unwrap();
        Self { child, address, authority }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both calls fail only if it has already exited.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}
