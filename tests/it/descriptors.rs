//! watchtap and the limit of open descriptors: how it sets the limit, and what it does at the limit.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Result;
use observer_tests::{
    ClientStream, HeldExec, ScriptedUpstream, ServerStream, connect, output_within, read_head, shake_hands, watchtap,
};
use rustix::process::{Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::Value;

use super::exec_cli::TestHome;
use super::exec_plugins;
use super::upstream::Upstream;

/// Time limit of every wait, also on a loaded machine.
const LIMIT: Duration = Duration::from_secs(30);
const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

#[test]
fn descriptor_limit_is_raised_for_watchtap_but_not_the_command() {
    let upstream = upstream();
    let folder = tempfile::tempdir().unwrap();
    // watchtap itself has the command's limit until the command has been started.
    let show = "ulimit -Sn; ulimit -Hn; until grep -q 'open files *4000 ' /proc/$PPID/limits; do :; done";
    let mut command = limited("300:4000");
    command.args(["exec", "--server-version", "v1.34.4", "--upstream", &format!("https://{}", upstream.address())]);
    command.args(["--upstream-insecure", "--", "sh", "-c", show]).env("HOME", folder.path()).env_remove("KUBECONFIG");
    let output = output_within(&mut command, LIMIT).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "300\n4000\n");
}

#[test]
fn descriptor_limit_is_not_raised_for_a_plugin() {
    let place = TestHome::new();
    let kubeconfig =
        place.write("kubeconfig", &exec_plugins::kubeconfig(&Upstream::start(), &["sh", "-c", "ulimit -Sn >&2; exit 7"]));
    let mut command = limited("300:4000");
    command.args(["verify", "--kubeconfig", kubeconfig.to_str().unwrap()]).env("HOME", kubeconfig.parent().unwrap());
    let output = output_within(&mut command, LIMIT).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the exec plugin `sh` ended with exit status: 7"), "it was run: {said}");
    assert!(said.lines().any(|line| line == "300"), "{said}");
}

/// Of 80 descriptors, 32 are reserved for other uses, and each connection takes two.
#[test]
fn clients_wait_until_a_descriptor_is_free() {
    const CONNECTIONS: usize = 24;
    const WAITING: usize = 10;
    let upstream = upstream();
    let exec = started(&upstream, limited("80:80"));
    let mut served: Vec<ClientStream> = (0..CONNECTIONS).map(|_| client(&exec)).collect();
    served.iter_mut().for_each(get);
    assert!(!exec.messages().contains("new clients wait"), "nobody waits yet: {}", exec.messages());
    let waiting: Vec<JoinHandle<()>> = (0..WAITING).map(|_| client_in_a_thread(&exec)).collect();
    wait_for_message(&exec, "new clients wait until a connection closes");

    assert_little_is_done(&exec);
    served.iter_mut().for_each(get);
    assert!(waiting.iter().all(|client| !client.is_finished()), "nobody is let in, and nobody is turned away");
    assert_eq!(exec.messages().matches("new clients wait").count(), 1, "{}", exec.messages());

    drop(served);
    for client in waiting {
        client.join().unwrap();
    }
    let report = exec.finish().unwrap();
    assert!(report["notes"].to_string().contains("for a free file descriptor"), "{:#}", report["notes"]);
    assert_eq!(report["totals"]["connections"], CONNECTIONS + WAITING);
    assert_eq!(report["missed"]["connect_failures"], 0);
}

/// The same limit; all clients connect before watchtap accepts the first.
#[test]
fn simultaneous_clients_are_admitted_up_to_the_descriptor_limit() {
    const CONNECTIONS: usize = 24;
    const WAITING: usize = 20;
    let upstream = upstream();
    let exec = started(&upstream, limited("80:80"));
    let (address, authority) = (exec.address().unwrap(), exec.ca_pem().unwrap());
    let before = exec.usage().unwrap().descriptors;
    kill_process(exec.process(), Signal::STOP).unwrap();
    let herd: Vec<TcpStream> = (0..CONNECTIONS + WAITING).map(|_| TcpStream::connect(address).unwrap()).collect();
    kill_process(exec.process(), Signal::CONT).unwrap();
    let (served, next_served) = mpsc::channel();
    for socket in herd {
        let (served, authority) = (served.clone(), authority.clone());
        thread::spawn(move || served.send(served_over(socket, &authority)).ok());
    }

    let let_in: Vec<ClientStream> = (0..CONNECTIONS).map(|_| next_served.recv_timeout(LIMIT).unwrap().unwrap()).collect();
    exec.wait_until_idle().unwrap();
    let open = exec.usage().unwrap().descriptors;
    // In addition to two descriptors per connection, there may be one for a connection that tests whether upstream accepts.
    assert!(open < before + 2 * CONNECTIONS + WAITING / 2, "{open} are open now, and {before} were before");
    assert!(next_served.try_recv().is_err(), "nobody is let in, and nobody is turned away");

    drop(let_in);
    (0..WAITING).for_each(|_| drop(next_served.recv_timeout(LIMIT).unwrap().unwrap()));
    assert_eq!(exec.finish().unwrap()["missed"]["connect_failures"], 0);
}

#[test]
fn client_waits_when_accept_gets_no_descriptor() {
    let report = assert_served_once_there_are_descriptors(0, "127.0.0.1");
    let notes = report["notes"].to_string();
    assert!(notes.contains("1 client had to wait for a free file descriptor"), "each client is counted once: {notes}");
}

#[test]
fn client_waits_when_the_upstream_connection_gets_no_descriptor() {
    assert_served_once_there_are_descriptors(1, "127.0.0.1");
}

#[test]
fn client_waits_when_the_upstream_lookup_gets_no_descriptor() {
    assert_served_once_there_are_descriptors(1, "localhost");
}

/// Takes all but `free` of the unused descriptors from a running watchtap in front of `host`, and returns them after a client has
/// come. Returns the report.
#[track_caller]
fn assert_served_once_there_are_descriptors(free: usize, host: &str) -> Value {
    let upstream = upstream();
    let exec = started_before(host, &upstream, limited("1000:1000"));
    let mut before = client(&exec);
    get(&mut before);
    exec.wait_until_idle().unwrap();
    let used = exec.usage().unwrap().descriptors;
    let few = Rlimit { current: Some(limit_that_leaves(free, &exec)), maximum: Some(1000) };
    let all = prlimit(Some(exec.process()), Resource::Nofile, few).unwrap();
    let waiting = client_in_a_thread(&exec);
    if free == 0 {
        wait_for_message(&exec, "new clients wait: the system cannot accept them");
    } else {
        eventually(|| exec.usage().unwrap().descriptors == used + free);
    }
    assert_little_is_done(&exec);
    get(&mut before);
    assert!(!waiting.is_finished(), "it is neither let in nor turned away");

    prlimit(Some(exec.process()), Resource::Nofile, all).unwrap();
    waiting.join().unwrap();
    let report = exec.finish().unwrap();
    assert_eq!(report["missed"]["connect_failures"], 0, "{:#}", report["missed"]);
    report
}

/// The limit applies to descriptor numbers; a new descriptor gets the lowest free number.
fn limit_that_leaves(free: usize, exec: &HeldExec) -> u64 {
    let folder = format!("/proc/{}/fd", exec.process().as_raw_nonzero());
    let numbers = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap());
    let used: BTreeSet<u64> = numbers.collect();
    (0..).filter(|number| !used.contains(number)).nth(free).unwrap()
}

/// Checks that watchtap uses little processor time while a client waits.
#[track_caller]
fn assert_little_is_done(exec: &HeldExec) {
    const LASTS: Duration = Duration::from_secs(1);
    let before = exec.usage().unwrap().processor_time;
    thread::sleep(LASTS);
    let used = exec.usage().unwrap().processor_time.saturating_sub(before);
    assert!(used < LASTS / 10, "{used:?} of processor time in {LASTS:?}");
}

/// watchtap with the descriptor limits `SOFT:HARD`.
fn limited(descriptors: &str) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={descriptors}")).arg("--").arg(watchtap().unwrap().get_program());
    command
}

fn started(upstream: &ScriptedUpstream, command: Command) -> HeldExec {
    started_before("127.0.0.1", upstream, command)
}

fn started_before(host: &str, upstream: &ScriptedUpstream, command: Command) -> HeldExec {
    let server = format!("{host}:{}", upstream.address().port());
    HeldExec::before_by(command, server, upstream.ca_pem(), "token", &["--server-version", "v1.34.4"]).unwrap()
}

fn client(exec: &HeldExec) -> ClientStream {
    connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap()
}

/// Connects, sends a request, and must receive the response.
fn client_in_a_thread(exec: &HeldExec) -> JoinHandle<()> {
    let (address, authority) = (exec.address().unwrap(), exec.ca_pem().unwrap());
    thread::spawn(move || get(&mut connect(address, &authority, &[b"http/1.1"]).unwrap()))
}

/// Completes the TLS handshake on an existing connection, sends a request, and must receive the response.
fn served_over(socket: TcpStream, authority: &str) -> Result<ClientStream> {
    let mut stream = shake_hands(socket, authority, &[b"http/1.1"])?;
    get(&mut stream);
    Ok(stream)
}

#[track_caller]
fn get(stream: &mut ClientStream) {
    stream.write_all(b"GET /api/v1/namespaces/a/pods/b HTTP/1.1\r\nHost: kubernetes\r\n\r\n").unwrap();
    let mut answer = vec![0; ANSWER.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, ANSWER.as_bytes());
}

#[track_caller]
fn wait_for_message(exec: &HeldExec, words: &str) {
    eventually(|| exec.messages().contains(words));
}

#[track_caller]
fn eventually(condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < LIMIT, "never so");
        thread::sleep(Duration::from_millis(5));
    }
}

fn upstream() -> ScriptedUpstream {
    ScriptedUpstream::start(&[b"http/1.1"], answer_all).unwrap()
}

fn answer_all(stream: &mut ServerStream) -> io::Result<()> {
    while read_head(stream)?.is_some() {
        stream.write_all(ANSWER.as_bytes())?;
    }
    Ok(())
}
