//! One place after the other panics, in words that hold all that it was working on.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::Command;

use observer_tests::{ClientStream, HeldExec, ScriptedUpstream, ServerStream, connect};
use serde_json::{Value, json};

/// A token that must not be found in what watchtap says.
const CANARY: &str = "canary-8f2e";

#[test]
fn panic_in_a_decoder_ends_the_observation_of_its_connection() {
    let (exec, others) = with_fault_in("fault-in-decoder", &[]);
    assert!(exec.messages().contains("internal error at "), "{}", exec.messages());
    let report = exec.finish().unwrap();
    assert_eq!(report["missed"]["decoder_failures"], 1, "{:#}", report["missed"]);
    // Neither the request at which it failed, nor the one behind it on the same connection.
    assert_eq!(namespaces(&report), others);
}

#[test]
fn panic_in_the_observer_ends_all_observation() {
    let (exec, _) = with_fault_in("fault-in-observer", &[]);
    let said = exec.messages();
    assert!(said.contains("observing failed and stops here; the traffic goes on"), "{said}");
    let report = exec.finish().unwrap();
    assert!(notes(&report).contains("observing failed and stopped"), "{:#}", report["notes"]);
    assert_eq!(namespaces(&report), ["before"], "what came before is reported");
}

#[test]
fn panic_in_a_view_ends_the_view() {
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events.jsonl");
    let (exec, others) = with_fault_in("fault-in-view", &["--events", events.to_str().unwrap()]);
    assert!(exec.messages().contains("--events ended early: an internal error"), "{}", exec.messages());
    let report = exec.finish().unwrap();
    assert!(notes(&report).contains("--events ended early: an internal error"), "{:#}", report["notes"]);
    let mut all = others;
    all.splice(1..1, ["fault-in-view".to_owned(), "behind-it".to_owned()]);
    assert_eq!(namespaces(&report), all, "the report has everything");
    let events = fs::read_to_string(events).unwrap();
    assert!(events.contains("before") && !events.contains("behind-it"), "{events}");
}

#[test]
fn panic_in_the_report_is_said() {
    let (mut exec, _) = with_fault_in("fault-in-report", &[]);
    let status = exec.end().unwrap();
    assert_eq!(status.code(), Some(125));
    let said = exec.messages();
    assert!(said.contains("the report could not be made: an internal error"), "{said}");
    assert!(!said.contains(CANARY), "{said}");
}

/// Lists pods: before the fault, at it, behind it on the same connection, and then on another one. All must get what the server sent.
/// Returns watchtap, which has said nothing of what it was working on, and the namespaces beside those of the connection with the fault.
#[track_caller]
fn with_fault_in(fault: &str, flags: &[&str]) -> (HeldExec, Vec<String>) {
    let upstream = ScriptedUpstream::start(&[b"http/1.1"], answer_all).unwrap();
    let flags = [&["--server-version", "v1.34.4"], flags].concat();
    let program = Command::new(env!("CARGO_BIN_EXE_faulty-watchtap"));
    let exec = HeldExec::before_by(program, upstream.address(), upstream.ca_pem(), CANARY, &flags).unwrap();
    list_on_one_connection(&exec, &["before"]);
    exec.wait_until_idle().unwrap();
    list_on_one_connection(&exec, &[fault, "behind-it"]);
    list_on_one_connection(&exec, &["after", "long-after"]);
    exec.wait_until_idle().unwrap();
    assert!(!exec.messages().contains(CANARY), "{}", exec.messages());
    (exec, ["before", "after", "long-after"].map(str::to_owned).to_vec())
}

#[track_caller]
fn list_on_one_connection(exec: &HeldExec, namespaces: &[&str]) {
    let stream = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap();
    let mut stream = BufReader::new(stream);
    for namespace in namespaces {
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        write!(stream.get_mut(), "GET {path} HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {CANARY}\r\n\r\n").unwrap();
        let mut answer = vec![0; answer_to(&path).len()];
        stream.read_exact(&mut answer).unwrap();
        assert!(answer == answer_to(&path).as_bytes(), "{path} was answered otherwise than the server did");
        // What is told of the one is not mixed up with the next.
        exec.wait_until_idle().unwrap();
    }
    end(stream.into_inner());
}

#[track_caller]
fn end(mut stream: ClientStream) {
    observer_tests::end_sending(&mut stream).unwrap();
    assert_eq!(io::copy(&mut stream, &mut io::sink()).unwrap(), 0, "nothing comes behind the last answer");
}

/// Requests without bodies, one after the other, until the client ends.
fn answer_all(stream: &mut ServerStream) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while stream.read_line(&mut head)? > 0 {
        if head.ends_with("\r\n\r\n") {
            let path = head.split(' ').nth(1).unwrap_or_default();
            let answer = answer_to(path);
            stream.get_mut().write_all(answer.as_bytes())?;
            head.clear();
        }
    }
    Ok(())
}

/// A list of as many pods as fill some records of TLS.
fn answer_to(path: &str) -> String {
    const PODS: usize = 1_000;
    let pods: Vec<Value> =
        (0..PODS).map(|pod| json!({"metadata": {"name": format!("{path}-{pod}"), "uid": pod.to_string()}})).collect();
    let list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "17"}, "items": pods}).to_string();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{list}", list.len())
}

/// Those of all requests that were seen to their end, in the order of their beginning.
fn namespaces(report: &Value) -> Vec<String> {
    let requests = report["requests"].as_array().unwrap();
    let complete = requests.iter().filter(|request| request["end"] == "complete" && request["items"] == 1_000);
    complete.map(|request| request["scope"]["namespace"].as_str().unwrap_or_default().to_owned()).collect()
}

fn notes(report: &Value) -> String {
    report["notes"].to_string()
}
