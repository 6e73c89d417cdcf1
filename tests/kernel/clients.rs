//! Clients that run as separate processes, and the options of the probe for them.

use std::net::SocketAddr;
use std::process::Command;

use observer_demo::DemoServer;
use watchtap::api_server::UpstreamId;
use watchtap::intake::ProbeLimits;
use watchtap::tap::probe::ProbeOptions;

/// The three requests of the clients that send three.
pub(crate) const PATHS: [&str; 3] = ["/api/v1/namespaces?limit=500", "/api/v1/namespaces/default/configmaps", "/version"];

/// Sends three requests with Python's `urllib`, each on a new connection.
pub(crate) const URLLIB: &str = "
import ssl, sys, urllib.request
host, authority, token = sys.argv[1:]
context = ssl.create_default_context(cadata=authority)
for path in ['/api/v1/namespaces?limit=500', '/api/v1/namespaces/default/configmaps', '/version']:
    request = urllib.request.Request('https://' + host + path, headers={'Authorization': 'Bearer ' + token})
    urllib.request.urlopen(request, context=context).read()
";

/// Options for a probe that follows connections to this server at the client's end. It has no budget of processor time, because
/// the time of all tests that run at once in this process would count.
pub(crate) fn of_clients(server: SocketAddr) -> ProbeOptions {
    ProbeOptions { api_servers: [(server, UpstreamId::default())].into(), processor_budget: 0, ..ProbeOptions::default() }
}

/// The usual memory, with a ring buffer of so many bytes.
pub(crate) fn ring_of(bytes: u32) -> ProbeLimits {
    ProbeLimits { ring: bytes, ..ProbeLimits::default() }
}

/// The clients' arguments: server address, CA and bearer token.
pub(crate) fn arguments(server: &DemoServer) -> [String; 3] {
    [server.address().to_string(), server.ca_pem().to_owned(), server.token().to_owned()]
}

pub(crate) fn python(script: &str, arguments: &[String]) -> Command {
    let mut python = Command::new("python3");
    python.args(["-c", script]).args(arguments);
    python
}

/// Runs the client; it must exit with success.
pub(crate) fn run(client: &mut Command) {
    assert!(client.status().unwrap().success());
}
