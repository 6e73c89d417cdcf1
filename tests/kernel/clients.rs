//! Clients that are processes of their own, and how they are probed.

use std::net::SocketAddr;
use std::process::Command;

use watchtap::demo::DemoServer;
use watchtap::tap::probe::ProbeOptions;

/// What each of the clients asks for that ask three times.
pub(crate) const PATHS: [&str; 3] = ["/api/v1/namespaces?limit=500", "/api/v1/namespaces/default/configmaps", "/version"];

/// Asks three times with Python's `urllib`, a new connection each.
pub(crate) const URLLIB: &str = "
import ssl, sys, urllib.request
host, authority, token = sys.argv[1:]
context = ssl.create_default_context(cadata=authority)
for path in ['/api/v1/namespaces?limit=500', '/api/v1/namespaces/default/configmaps', '/version']:
    request = urllib.request.Request('https://' + host + path, headers={'Authorization': 'Bearer ' + token})
    urllib.request.urlopen(request, context=context).read()
";

/// Connections that lead to this server are followed at their clients' ends.
pub(crate) fn of_clients(server: SocketAddr) -> ProbeOptions {
    ProbeOptions { api_servers: vec![server], ..ProbeOptions::default() }
}

/// What the clients take: where it listens, who vouches for it, and who they are.
pub(crate) fn arguments(server: &DemoServer) -> [String; 3] {
    [server.address().to_string(), server.ca_pem().to_owned(), server.token().to_owned()]
}

pub(crate) fn python(script: &str, arguments: &[String]) -> Command {
    let mut python = Command::new("python3");
    python.args(["-c", script]).args(arguments);
    python
}

/// Returns when the client has ended well.
pub(crate) fn run(client: &mut Command) {
    assert!(client.status().unwrap().success());
}
