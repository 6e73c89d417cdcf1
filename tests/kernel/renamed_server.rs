//! Test of `watchtap probe` with a name whose address changes, by a file of hosts of its own.

use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use observer_demo::{DemoConfig, DemoServer};
use observer_tests::watchtap;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::clients::{python, run};

const NAME: &str = "api.watchtap.test";
/// Names are looked up at least once a minute.
const WITHIN: Duration = Duration::from_mins(3);

/// Sends two requests. The certificate is for another address.
const CLIENT: &str = "
import http.client, ssl, sys
host, authority, token = sys.argv[1:]
context = ssl.create_default_context(cadata=authority)
context.check_hostname = False
connection = http.client.HTTPSConnection(host, context=context)
for path in ['/api/v1/namespaces?limit=500', '/api/v1/namespaces/default/configmaps']:
    connection.request('GET', path, headers={'Authorization': 'Bearer ' + token})
    connection.getresponse().read()
connection.close()
";

#[test]
fn name_that_moves_while_the_probe_runs_is_followed() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let first = server.address();
    let second = SocketAddr::from(([127, 0, 0, 2], first.port()));
    forward(second, first);
    let folder = tempfile::tempdir().unwrap();
    let [hosts, report] = ["hosts", "report"].map(|name| folder.path().join(name));
    is_at(&hosts, first);
    let mut probe = start(&hosts, &format!("{NAME}:{}", first.port()), &report);
    let said = lines(&mut probe);
    until(&said, "Ctrl-C unloads");
    ask(&server, first);
    // The probe does not know this address yet.
    ask(&server, second);
    is_at(&hosts, second);
    until(&said, &format!("{NAME}:{} is at {second}, too", first.port()));
    ask(&server, first);
    ask(&server, second);
    kill_process(Pid::from_child(&probe), Signal::TERM).unwrap();
    assert!(probe.wait().unwrap().success());
    let report: Value = serde_json::from_str(&fs::read_to_string(report).unwrap()).unwrap();
    assert_eq!((&report["totals"]["connections"], &report["totals"]["requests"]), (&3.into(), &6.into()), "{report:#}");
}

/// Starts a probe that sees this file as /etc/hosts.
fn start(hosts: &Path, name: &str, report: &Path) -> Child {
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", "mount --bind \"$1\" /etc/hosts && shift && exec \"$@\"", "sh"]).arg(hosts);
    command.arg(watchtap().unwrap().get_program()).args(["probe", "--api-server", name, "--quiet", "--format", "json"]);
    command.args(["--no-version-request", "--no-attach", "--report"]).arg(report);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Changes the file in its place, since it is mounted.
fn is_at(hosts: &Path, address: SocketAddr) {
    fs::write(hosts, format!("{} {NAME}\n", address.ip())).unwrap();
}

fn lines(probe: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    let stderr = BufReader::new(probe.stderr.take().unwrap());
    thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    receiver
}

/// Waits for a line with these words.
fn until(said: &Receiver<String>, words: &str) {
    let mut so_far = Vec::new();
    while !so_far.last().is_some_and(|line: &String| line.contains(words)) {
        so_far.push(said.recv_timeout(WITHIN).unwrap_or_else(|error| panic!("{error}: {so_far:#?}")));
    }
}

fn ask(server: &DemoServer, address: SocketAddr) {
    run(&mut python(CLIENT, &[address.to_string(), server.ca_pem().to_owned(), server.token().to_owned()]));
}

/// Passes connections on until the test process ends.
fn forward(from: SocketAddr, to: SocketAddr) {
    let listener = TcpListener::bind(from).unwrap();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(to).unwrap();
            for (mut from, mut to) in
                [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server.try_clone().unwrap(), client)]
            {
                thread::spawn(move || {
                    // The end of one direction is passed on, too.
                    let _bytes: io::Result<u64> = io::copy(&mut from, &mut to);
                    let _ended = to.shutdown(std::net::Shutdown::Write);
                });
            }
        }
    });
}
