//! Clients without a Kubernetes library: they list and watch, and print each line of the watch.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use observer_tests::{CacheProcess, HttpVersion, Listening};

/// Python's own client, with OpenSSL as a shared library. It flushes standard output after each line.
const PYTHON: &str = "
import http.client, ssl, sys
host, authority, token, path = sys.argv[1:]
connection = http.client.HTTPSConnection(host, context=ssl.create_default_context(cafile=authority))
heads = {'Authorization': 'Bearer ' + token, 'User-Agent': 'python/1'}
connection.request('GET', path, headers=heads)
connection.getresponse().read()
connection.request('GET', path + '?watch=true&resourceVersion=0', headers=heads)
for line in connection.getresponse():
    print(line.decode(), end='', flush=True)
";

/// Node over HTTP/1.1, with OpenSSL linked into its program.
const NODE_1: &str = "
const [host, authority, token, path] = process.argv.slice(1);
const [hostname, port] = host.split(':');
const agent = new (require('https').Agent)({ keepAlive: true, ca: require('fs').readFileSync(authority) });
const ask = (path, answered) => require('https').get(
  { hostname, port, path, agent, headers: { authorization: 'Bearer ' + token, 'user-agent': 'node/1' } }, answered);
ask(path, (listed) => listed.resume().on('end', () =>
  setImmediate(() => ask(path + '?watch=true&resourceVersion=0', (watched) => watched.pipe(process.stdout).on('finish', process.exit)))));
";

/// Node over HTTP/2. It exits immediately: with `close` both sides end the connection at once, and proxy and probe could see
/// another order.
const NODE_2: &str = "
const [host, authority, token, path] = process.argv.slice(1);
const session = require('http2').connect('https://' + host, { ca: require('fs').readFileSync(authority) });
const ask = (path) => session.request({ ':path': path, authorization: 'Bearer ' + token, 'user-agent': 'node/2' });
ask(path).resume().on('end', () => ask(path + '?watch=true&resourceVersion=0').on('end', process.exit).pipe(process.stdout));
";

/// A client without a Kubernetes library.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Watcher {
    Python,
    Curl(HttpVersion),
    Node(HttpVersion),
}

impl Watcher {
    pub(crate) const ALL: [Self; 5] = [
        Self::Python,
        Self::Curl(HttpVersion::Two),
        Self::Curl(HttpVersion::One),
        Self::Node(HttpVersion::Two),
        Self::Node(HttpVersion::One),
    ];

    /// Starts it for the config maps of a namespace; `folder` receives its CA file.
    pub(crate) fn start(self, server: &Listening, token: &str, namespace: &str, folder: &Path) -> Result<CacheProcess> {
        let authority = folder.join("authority.pem");
        std::fs::write(&authority, &server.authority)?;
        let (host, path) = (server.address.to_string(), format!("/api/v1/namespaces/{namespace}/configmaps"));
        let mut command = match self {
            Self::Python => script("python3", "-c", PYTHON),
            Self::Node(HttpVersion::One) => script("node", "-e", NODE_1),
            // Only client-go pings.
            Self::Node(HttpVersion::Two | HttpVersion::TwoWithoutPings) => script("node", "-e", NODE_2),
            Self::Curl(http) => {
                let version = if http == HttpVersion::One { "--http1.1" } else { "--http2" };
                let mut curl = Command::new("curl");
                curl.args(["--silent", "--no-buffer", version, "--user-agent", version, "--cacert"]).arg(&authority);
                curl.args(["--header", &format!("Authorization: Bearer {token}")]);
                curl.args(["", "?watch=true&resourceVersion=0"].map(|query| format!("https://{host}{path}{query}")));
                return CacheProcess::spawn(curl);
            }
        };
        command.arg(host).arg(&authority).args([token, &path]);
        CacheProcess::spawn(command)
    }
}

fn script(program: &str, flag: &str, text: &str) -> Command {
    let mut command = Command::new(program);
    command.args([flag, text]);
    command
}
