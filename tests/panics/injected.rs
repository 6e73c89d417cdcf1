//! Tests in which one component panics, with a message that contains all data that it was processing.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use observer_tests::canary::{Canary, Places, Private, Search};
use observer_tests::{ClientStream, HeldExec, ScriptedUpstream, ServerStream, connect, read_head};
use serde_json::{Value, json};

/// Secrets that must not appear in any output: in the kubeconfig, in each request, in each object of the responses.
const KUBECONFIG_TOKEN: &str = "c4n4ry-kubeconfig-token-8f2e";
const REQUEST_TOKEN: &str = "c4n4ry-request-token-8f2e";
const ANNOTATION: &str = "c4n4ry-annotation-8f2e";

#[test]
fn panic_in_a_decoder_ends_the_observation_of_its_connection() {
    assert_one_connection_is_not_observed("fault-in-decoder");
}

#[test]
fn panic_in_a_decoder_at_a_body_ends_the_observation_of_its_connection() {
    assert_one_connection_is_not_observed(ANSWERED_WITH_A_FAULT);
}

#[test]
fn panic_in_the_observer_ends_all_observation() {
    let mut faulty = Faulty::with("fault-in-observer");
    let said = faulty.exec.messages();
    assert!(said.contains("observing failed and stops here; the traffic continues"), "{said}");
    let report = faulty.report();
    assert!(notes(&report).contains("observing failed and stopped"), "{:#}", report["notes"]);
    assert_eq!(namespaces(&report), ["before"], "what came before is reported");
}

#[test]
fn panic_before_the_first_connection_leaves_a_report() {
    let report = before_a_server_called("fault-in-observer");
    assert!(notes(&report).contains("observing failed and stopped"), "{:#}", report["notes"]);
    assert_eq!(report["totals"]["connections"], 0);
}

#[test]
fn panic_at_connection_close_counts_one_decoder_failure() {
    let report = before_a_server_called("fault-in-close");
    assert_eq!(report["missed"]["decoder_failures"], 1, "{:#}", report["missed"]);
    let [forwarded, observed] = [&report["totals"]["forwarded"], &report["totals"]["observed"]];
    assert!(forwarded["response"].as_u64() > Some(0) && forwarded == observed, "{:#}", report["totals"]);
}

#[test]
fn panic_in_a_view_ends_the_view() {
    let mut faulty = Faulty::with("fault-in-view");
    let said = faulty.exec.messages();
    assert!(said.contains("stopped writing --events because of an internal error"), "{said}");
    let report = faulty.report();
    assert!(notes(&report).contains("stopped writing --events because of an internal error"), "{:#}", report["notes"]);
    assert_eq!(namespaces(&report), ["before", "fault-in-view", "behind-it", "after", "long-after"], "the report has everything");
    let events = fs::read_to_string(faulty.events()).unwrap();
    assert!(events.contains("before") && !events.contains("behind-it"), "{events}");
}

#[test]
fn panic_in_the_report_is_logged_and_exits_with_125() {
    let mut faulty = Faulty::with("fault-in-report");
    let status = faulty.end();
    assert_eq!(status.code(), Some(125));
    let said = faulty.exec.messages();
    assert!(said.contains("the report could not be created because of an internal error"), "{said}");
}

/// Checks that the report has neither the request at which the decoder failed nor the next one on that connection.
#[track_caller]
fn assert_one_connection_is_not_observed(fault: &str) {
    let mut faulty = Faulty::with(fault);
    assert!(faulty.exec.messages().contains("internal error at "), "{}", faulty.exec.messages());
    let report = faulty.report();
    assert_eq!(report["missed"]["decoder_failures"], 1, "{:#}", report["missed"]);
    assert_eq!(namespaces(&report), ["before", "after", "long-after"]);
}

/// A watchtap that met a fault, with every kind of output.
struct Faulty {
    exec: HeldExec,
    places: Places,
    /// The panic message, which may contain secrets and is not searched.
    words: PathBuf,
}

impl Faulty {
    /// Lists pods before the fault, at the fault, after it on the same connection, and then on another one. Every response must
    /// arrive unchanged.
    #[track_caller]
    fn with(fault: &str) -> Self {
        let places = Places::new().unwrap();
        let words = places.give("words", "").unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_faulty-watchtap"));
        places.enclose(&mut program);
        program.env("FAULTY_WATCHTAP_WORDS", &words).env("WATCHTAP_LOG", "trace").env("RUST_BACKTRACE", "full");
        let upstream = ScriptedUpstream::start(&[b"http/1.1"], answer_all).unwrap();
        let flags = ["--server-version", "v1.34.4", "--events", "events", "--capture", "capture"];
        let exec = HeldExec::before_by(program, upstream.address(), upstream.ca_pem(), KUBECONFIG_TOKEN, &flags).unwrap();
        list_on_one_connection(&exec, &["before"]);
        exec.wait_until_idle().unwrap();
        list_on_one_connection(&exec, &[fault, "behind-it"]);
        list_on_one_connection(&exec, &["after", "long-after"]);
        exec.wait_until_idle().unwrap();
        let faulty = Self { exec, places, words };
        faulty.assert_clean();
        faulty
    }

    /// The lines of `--events`.
    fn events(&self) -> PathBuf {
        self.places.left().join("events")
    }

    /// Ends watchtap, and returns its exit status. Checks that the panic message contained secrets, and that no output contains
    /// them.
    #[track_caller]
    fn end(&mut self) -> ExitStatus {
        let status = self.exec.end().unwrap();
        self.assert_clean();
        let words = search().hits(&fs::read(&self.words).unwrap());
        let places: BTreeSet<&str> = words.iter().map(|hit| hit.place.as_str()).collect();
        assert!(places.contains("token of a request") && places.contains("annotation"), "the panic's own words hold {places:?}");
        status
    }

    /// The report on exit.
    #[track_caller]
    fn report(&mut self) -> Value {
        assert!(self.end().success(), "{}", self.exec.messages());
        self.exec.report().unwrap()
    }

    /// Searches all files and messages.
    #[track_caller]
    fn assert_clean(&self) {
        let is_for_the_client = |file: &Path| file.file_name().is_some_and(|name| name == "kubeconfig");
        let left = self.places.search(&search(), is_for_the_client).unwrap();
        let at_home = Private::below([self.exec.home().to_owned()], &search(), |_| false).unwrap();
        let leaks = [left.leaks, at_home.leaks].concat();
        assert!(leaks.is_empty(), "\n{}", leaks.join("\n"));
    }
}

fn search() -> Search {
    let canaries = [
        Canary::new("token of the kubeconfig", KUBECONFIG_TOKEN),
        Canary::new("token of a request", REQUEST_TOKEN),
        Canary::new("annotation", ANNOTATION),
    ];
    Search::new(&canaries).unwrap()
}

/// Lists pods on one connection to a server whose name ends with `end`, because the name includes the URL's path.
#[track_caller]
fn before_a_server_called(end: &str) -> Value {
    let upstream = ScriptedUpstream::start(&[b"http/1.1"], answer_all).unwrap();
    let program = Command::new(env!("CARGO_BIN_EXE_faulty-watchtap"));
    let server = format!("{}/{end}", upstream.address());
    let exec = HeldExec::before_by(program, server, upstream.ca_pem(), KUBECONFIG_TOKEN, &["--server-version", "v1.34.4"]).unwrap();
    list_on_one_connection(&exec, &["any"]);
    exec.wait_until_idle().unwrap();
    exec.finish().unwrap()
}

#[track_caller]
fn list_on_one_connection(exec: &HeldExec, namespaces: &[&str]) {
    let mut stream = connect(exec.address().unwrap(), &exec.ca_pem().unwrap(), &[b"http/1.1"]).unwrap();
    for namespace in namespaces {
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let head = format!("GET {path} HTTP/1.1\r\nHost: kubernetes\r\nAuthorization: Bearer {REQUEST_TOKEN}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = vec![0; answer_to(&path).len()];
        stream.read_exact(&mut answer).unwrap();
        assert!(answer == answer_to(&path).as_bytes(), "{path} was answered otherwise than the server did");
        // Keeps the events of the requests apart.
        exec.wait_until_idle().unwrap();
    }
    end(stream);
}

#[track_caller]
fn end(mut stream: ClientStream) {
    observer_tests::end_sending(&mut stream).unwrap();
    assert_eq!(io::copy(&mut stream, &mut io::sink()).unwrap(), 0, "nothing comes behind the last answer");
}

/// Answers requests without bodies until the client closes.
fn answer_all(stream: &mut ServerStream) -> io::Result<()> {
    while let Some(head) = read_head(stream)? {
        let path = head.split(' ').nth(1).unwrap_or_default();
        stream.write_all(answer_to(path).as_bytes())?;
    }
    Ok(())
}

/// The namespace whose pods have an annotation at which the decoder fails.
const ANSWERED_WITH_A_FAULT: &str = "answered-with-a-fault";

/// A list with enough pods for several TLS records.
fn answer_to(path: &str) -> String {
    const PODS: usize = 1_000;
    let fault = if path.contains(ANSWERED_WITH_A_FAULT) { "fault-in-decoder" } else { "no fault" };
    let annotations = json!({"note": format!("{ANNOTATION} {fault}")});
    let pods: Vec<Value> = (0..PODS)
        .map(|pod| json!({"metadata": {"name": format!("{path}-{pod}"), "uid": pod.to_string(), "annotations": annotations}}))
        .collect();
    let list = json!({"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "17"}, "items": pods}).to_string();
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{list}", list.len())
}

/// The namespaces of all completely observed requests, in order of their start.
fn namespaces(report: &Value) -> Vec<String> {
    let requests = report["requests"].as_array().unwrap();
    let complete = requests.iter().filter(|request| request["end"] == "complete" && request["items"] == 1_000);
    complete.map(|request| request["scope"]["namespace"].as_str().unwrap_or_default().to_owned()).collect()
}

fn notes(report: &Value) -> String {
    report["notes"].to_string()
}
