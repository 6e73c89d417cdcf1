//! What watchtap does with the limit of open descriptors, and what it does when there are none.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use observer_tests::{ClientStream, HeldExec, ScriptedUpstream, ServerStream, connect, output_within, watchtap};
use rustix::process::{Resource, Rlimit, prlimit};

use super::exec_cli::Place;
use super::exec_plugins;
use super::upstream::Upstream;

/// Nothing here takes longer, however loaded the machine is.
const LIMIT: Duration = Duration::from_secs(30);
const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

#[test]
fn limit_is_raised_for_watchtap_and_not_for_the_command() {
    let upstream = upstream();
    let folder = tempfile::tempdir().unwrap();
    // watchtap has the command's limit until it has been started.
    let show = "ulimit -Sn; ulimit -Hn; until grep -q 'open files *4000 ' /proc/$PPID/limits; do :; done";
    let mut command = limited("300:4000");
    command.args(["exec", "--server-version", "v1.34.4", "--upstream", &format!("https://{}", upstream.address())]);
    command.args(["--upstream-insecure", "--", "sh", "-c", show]).env("HOME", folder.path()).env_remove("KUBECONFIG");
    let output = output_within(&mut command, LIMIT).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "300\n4000\n");
}

#[test]
fn limit_is_not_raised_for_a_plug_in_that_watchtap_runs_itself() {
    let place = Place::new();
    let kubeconfig =
        place.write("kubeconfig", &exec_plugins::kubeconfig(&Upstream::start(), &["sh", "-c", "ulimit -Sn >&2; exit 7"]));
    let mut command = limited("300:4000");
    command.args(["verify", "--kubeconfig", kubeconfig.to_str().unwrap()]).env("HOME", kubeconfig.parent().unwrap());
    let output = output_within(&mut command, LIMIT).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the exec plug-in `sh` ended with exit status: 7"), "it was run: {said}");
    assert!(said.lines().any(|line| line == "300"), "{said}");
}

/// With 80 descriptors 32 are for everything else, and each connection takes two.
#[test]
fn clients_wait_when_all_descriptors_are_in_use_and_are_served_when_some_are_free() {
    const CONNECTIONS: usize = 24;
    const WAITING: usize = 10;
    let upstream = upstream();
    let exec = started(&upstream, limited("80:80"));
    let mut served: Vec<ClientStream> = (0..CONNECTIONS).map(|_| client(&exec)).collect();
    served.iter_mut().for_each(get);
    let waiting: Vec<JoinHandle<()>> = (0..WAITING).map(|_| client_in_a_thread(&exec)).collect();
    said(&exec, "new clients wait until a connection ends");

    assert_little_is_done(&exec);
    served.iter_mut().for_each(get);
    assert!(waiting.iter().all(|client| !client.is_finished()), "nobody is let in, and nobody is turned away");
    assert_eq!(exec.messages().matches("new clients wait").count(), 1, "{}", exec.messages());

    drop(served);
    for client in waiting {
        client.join().unwrap();
    }
    let report = exec.finish().unwrap();
    assert!(report["notes"].to_string().contains("for a free descriptor"), "{:#}", report["notes"]);
    assert_eq!(report["totals"]["connections"], CONNECTIONS + WAITING);
    assert_eq!(report["missed"]["connect_failures"], 0);
}

#[test]
fn client_waits_when_the_system_gives_no_descriptor_for_it() {
    assert_served_once_there_are_descriptors(0);
}

#[test]
fn client_waits_when_the_system_gives_no_descriptor_for_its_upstream() {
    assert_served_once_there_are_descriptors(1);
}

/// Takes from a running watchtap all but so many of its free descriptors, and gives them back when a client has come.
#[track_caller]
fn assert_served_once_there_are_descriptors(free: usize) {
    let upstream = upstream();
    let exec = started(&upstream, limited("1000:1000"));
    let mut before = client(&exec);
    get(&mut before);
    exec.wait_until_idle().unwrap();
    let used = exec.usage().unwrap().descriptors;
    let few = Rlimit { current: Some(limit_that_leaves(free, &exec)), maximum: Some(1000) };
    let all = prlimit(Some(exec.process()), Resource::Nofile, few).unwrap();
    let waiting = client_in_a_thread(&exec);
    if free == 0 {
        said(&exec, "the system gives us no descriptor");
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
}

/// The limit is above all numbers, of which new descriptors get the lowest that is free.
fn limit_that_leaves(free: usize, exec: &HeldExec) -> u64 {
    let folder = format!("/proc/{}/fd", exec.process().as_raw_nonzero());
    let numbers = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap());
    let used: BTreeSet<u64> = numbers.collect();
    (0..).filter(|number| !used.contains(number)).nth(free).unwrap()
}

/// Whoever waits does not spin.
#[track_caller]
fn assert_little_is_done(exec: &HeldExec) {
    const LASTS: Duration = Duration::from_secs(1);
    let before = exec.usage().unwrap().processor_time;
    thread::sleep(LASTS);
    let used = exec.usage().unwrap().processor_time.saturating_sub(before);
    assert!(used < LASTS / 10, "{used:?} of processor time in {LASTS:?}");
}

/// watchtap with a limit of `SOFT:HARD` descriptors.
fn limited(descriptors: &str) -> Command {
    let mut command = Command::new("prlimit");
    command.arg(format!("--nofile={descriptors}")).arg("--").arg(watchtap().unwrap().get_program());
    command
}

fn started(upstream: &ScriptedUpstream, command: Command) -> HeldExec {
    let flags = ["--server-version", "v1.34.4"];
    HeldExec::before_by(command, upstream.address(), upstream.ca_pem(), "token", &flags).unwrap()
}

fn client(exec: &HeldExec) -> ClientStream {
    connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap()
}

/// Connects, asks for something, and must get it.
fn client_in_a_thread(exec: &HeldExec) -> JoinHandle<()> {
    let (address, authority) = (exec.address().unwrap(), exec.ca_pem().unwrap());
    thread::spawn(move || get(&mut connect(address, &authority, &[b"http/1.1"]).unwrap()))
}

#[track_caller]
fn get(stream: &mut ClientStream) {
    stream.write_all(b"GET /api/v1/namespaces/a/pods/b HTTP/1.1\r\nHost: kubernetes\r\n\r\n").unwrap();
    let mut answer = vec![0; ANSWER.len()];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, ANSWER.as_bytes());
}

#[track_caller]
fn said(exec: &HeldExec, words: &str) {
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
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while stream.read_line(&mut head)? > 0 {
        if head.ends_with("\r\n\r\n") {
            stream.get_mut().write_all(ANSWER.as_bytes())?;
            head.clear();
        }
    }
    Ok(())
}
