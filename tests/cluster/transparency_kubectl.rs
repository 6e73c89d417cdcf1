//! Tests with kubectl through watchtap that the plaintext within TLS is the same on both sides of watchtap, in both directions.
//!
//! kubectl → hop → watchtap → hop → kube-apiserver; both hops hash the bytes that they forward.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

use observer_tests::{Client, Cluster, Digest, HeldExec, Hop, Options, Passed, kubectl};
use serde_json::{Value, json};

/// kubectl's HTTP version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Http1,
    Http2,
}

#[test]
fn plaintext_is_equal_at_both_ends_of_a_session_over_http2() {
    session(Protocol::Http2);
}

#[test]
fn plaintext_is_equal_at_both_ends_of_a_session_over_http1() {
    session(Protocol::Http1);
}

#[test]
fn plaintext_is_equal_at_both_ends_of_a_large_list_over_http2() {
    large_list(Protocol::Http2);
}

#[test]
fn plaintext_is_equal_at_both_ends_of_a_large_list_over_http1() {
    large_list(Protocol::Http1);
}

/// Both protocols in parallel, because the writes take most of the time: two watches of four writers, each with its own config map.
#[test]
fn plaintext_is_equal_at_both_ends_of_watches_of_10000_events() {
    const WRITERS: usize = 4;
    const UPDATES: usize = 2_500;
    let clients: Vec<Client> = (0..WRITERS).map(|_| cluster().client_for_bulk().unwrap()).collect();
    let path = new_namespace(&clients[0], "busy");
    let list = clients[0].get(&path).unwrap().json().unwrap();
    let resource_version = list["metadata"]["resourceVersion"].as_str().unwrap();
    let request = format!("{path}?watch=true&resourceVersion={resource_version}&timeoutSeconds=300");
    let chains = [Protocol::Http1, Protocol::Http2].map(Chain::start);
    thread::scope(|scope| {
        for (writer, client) in clients.iter().enumerate() {
            let (path, name) = (&path, format!("writer-{writer}"));
            scope.spawn(move || update(client, path, &name, UPDATES));
        }
        for chain in &chains {
            scope.spawn(|| see_modifications(chain, &request, WRITERS * UPDATES));
        }
    });
    for chain in chains {
        let outcome = chain.finish();
        let [watch] = outcome.requests("watch").try_into().unwrap();
        outcome.assert_counted(watch, &watch["watch"]["added"], WRITERS);
        outcome.assert_counted(watch, &watch["watch"]["modified"], WRITERS * UPDATES);
        outcome.assert_counts_fit();
    }
}

/// One minute of typical use: creates, changes, reads, watches and deletes a config map.
#[track_caller]
fn session(protocol: Protocol) {
    let chain = Chain::start(protocol);
    let namespace = match protocol {
        Protocol::Http1 => "session-http1",
        Protocol::Http2 => "session-http2",
    };
    let output = |arguments: &[&str], input: &str| {
        let (output, _) = chain.kubectl(&[&["--namespace", namespace], arguments].concat(), input);
        output
    };
    output(&["create", "namespace", namespace], "");
    output(&["create", "configmap", "first", "--from-literal=colour=red"], "");
    assert!(output(&["get", "configmaps"], "").contains("first"));
    assert!(output(&["get", "configmap", "first", "-o", "yaml"], "").contains("colour: red"));
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "second"}, "data": {"colour": "green"}});
    assert!(output(&["apply", "-f", "-"], &object.to_string()).contains("created"));
    assert!(output(&["apply", "-f", "-"], &object.to_string().replace("green", "blue")).contains("configured"));
    assert!(output(&["describe", "configmap", "second"], "").contains("blue"));

    let mut watching =
        chain.command(&["--namespace", namespace, "get", "configmaps", "--watch", "-o", "name", "--request-timeout=2m"]);
    let mut watching = watching.stdout(Stdio::piped()).spawn().unwrap();
    let mut seen = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(seen.by_ref().any(|line| line == "configmap/second"));
    output(&["label", "configmap", "first", "size=small"], "");
    assert!(seen.by_ref().any(|line| line == "configmap/first"), "the label was seen");
    watching.kill().unwrap();
    watching.wait().unwrap();

    output(&["delete", "configmap", "first", "second"], "");
    assert!(output(&["get", "configmaps"], "").is_empty());

    let outcome = chain.finish();
    assert_eq!(
        outcome.missed(&["bytes", "gaps", "malformed", "stopped_directions", "connections", "decoder_failures"]),
        0,
        "{:#}",
        outcome.report["missed"]
    );
    for (verb, least) in [("create", 3), ("list", 3), ("get", 3), ("patch", 2), ("watch", 1), ("delete", 2)] {
        let found = outcome.requests(verb).len();
        assert!(found >= least, "{found} requests to {verb}: {:#?}", outcome.report["requests"]);
    }
    outcome.assert_counts_fit();
}

/// 60 config maps of 900 kB in one response, plain and then compressed.
#[track_caller]
fn large_list(protocol: Protocol) {
    const PATH: &str = "/api/v1/namespaces/large/configmaps";
    static REVISION: OnceLock<String> = OnceLock::new();
    let revision = REVISION.get_or_init(|| {
        let client = cluster().client_for_bulk().unwrap();
        fill_with_large_configmaps(&client);
        let list = client.get(&format!("{PATH}?limit=1")).unwrap().json().unwrap();
        list["metadata"]["resourceVersion"].as_str().unwrap().to_owned()
    });
    // The state of one revision, since other tests write meanwhile, and each list has the revision of its state.
    let path = format!("{PATH}?resourceVersion={revision}&resourceVersionMatch=Exact");
    let chain = Chain::start(protocol);
    let (_, printed) = chain.kubectl(&["get", "--raw", &path, "--disable-compression"], "");
    assert!(printed.length > 50_000_000, "{printed:?}");
    let (_, inflated) = chain.kubectl(&["get", "--raw", &path], "");
    assert_eq!(inflated, printed);
    // Decoding may begin only after the lookup of kubectl's process, which takes at most 2 s.
    chain.watchtap.wait_until_quiet().unwrap();
    let outcome = chain.finish();
    let [plain, compressed] = outcome.requests("list").try_into().unwrap();
    for list in [plain, compressed] {
        assert_eq!((&list["status"], &list["end"]), (&json!(200), &json!("complete")));
        outcome.assert_counted(list, &list["items"], LARGE_CONFIGMAPS);
    }
    assert_eq!(plain["bytes"], printed.length, "kubectl prints the body as it came");
    assert!(compressed["bytes"].as_u64().unwrap() < printed.length, "{compressed:#}");
    outcome.assert_counts_fit();
}

const LARGE_CONFIGMAPS: usize = 60;

fn fill_with_large_configmaps(client: &Client) {
    const LENGTH: usize = 900_000;
    let path = new_namespace(client, "large");
    for number in 0..LARGE_CONFIGMAPS {
        let text = format!("a line of {number}\n").repeat(LENGTH / 10);
        let object = json!({"metadata": {"name": format!("large-{number}")}, "data": {"text": text.get(..LENGTH).unwrap()}});
        client.post(&path, &object).unwrap().success().unwrap();
    }
}

/// Runs a watching kubectl until it has seen this many modifications, and kills it.
#[track_caller]
fn see_modifications(chain: &Chain, request: &str, count: usize) {
    let mut watching = chain.command(&["get", "--raw", request]).stdout(Stdio::piped()).spawn().unwrap();
    let frames = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    let modified = frames.filter(|frame| frame.starts_with(r#"{"type":"MODIFIED""#)).take(count).count();
    assert_eq!(modified, count, "the watch ended early");
    watching.kill().unwrap();
    watching.wait().unwrap();
}

/// Creates a config map and updates it this many times.
fn update(client: &Client, path: &str, name: &str, times: usize) {
    client.post(path, &json!({"metadata": {"name": name}})).unwrap().success().unwrap();
    let path = format!("{path}/{name}");
    for number in 1..=times {
        let object =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"number": number.to_string()}});
        let headers = [("Content-Type", "application/json")];
        client.raw("PUT", &path, &headers, object.to_string().as_bytes()).unwrap().success().unwrap();
    }
}

/// Creates the namespace; returns the path of its config maps.
fn new_namespace(client: &Client, name: &str) -> String {
    client.post("/api/v1/namespaces", &json!({"metadata": {"name": name}})).unwrap().success().unwrap();
    format!("/api/v1/namespaces/{name}/configmaps")
}

/// A cluster of these tests only: their writes would be too many for the lists that other tests count.
fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(&Options::default()).unwrap())
}

/// kubectl's route to the API server.
struct Chain {
    protocol: Protocol,
    before: Hop,
    watchtap: HeldExec,
    behind: Hop,
    kubeconfig: PathBuf,
}

impl Chain {
    fn start(protocol: Protocol) -> Self {
        let cluster = cluster();
        let behind = Hop::start(([127, 0, 0, 1], cluster.port()).into(), cluster.ca_pem()).unwrap();
        // With a given version, watchtap opens no connection of its own.
        let flags = ["--server-version", cluster.version()];
        let watchtap = HeldExec::before(behind.address(), behind.ca_pem(), cluster.admin_token(), &flags).unwrap();
        let before = Hop::start(watchtap.address().unwrap(), &watchtap.ca_pem().unwrap()).unwrap();
        let kubeconfig = watchtap.kubeconfig_by_way_of(before.address(), before.ca_pem()).unwrap();
        Self { protocol, before, watchtap, behind, kubeconfig }
    }

    /// kubectl with its own cache, so that each chain includes discovery.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(kubectl().expect("these tests need kubectl on the PATH"));
        command.args(arguments).env("KUBECONFIG", &self.kubeconfig).env("HOME", self.kubeconfig.parent().unwrap());
        command.stderr(Stdio::null());
        if self.protocol == Protocol::Http1 {
            command.env("DISABLE_HTTP2", "1");
        }
        command
    }

    /// Runs kubectl until it exits; returns its output.
    #[track_caller]
    fn kubectl(&self, arguments: &[&str], input: &str) -> (String, Digest) {
        let mut command = self.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "kubectl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let digest = Digest::of(&output.stdout);
        (String::from_utf8(output.stdout).unwrap(), digest)
    }

    /// Stops everything; both hops must have the same digests.
    #[track_caller]
    fn finish(self) -> Outcome {
        // Without this wait, the report would depend on how much watchtap decodes before the shutdown's time limit.
        self.watchtap.wait_until_idle().unwrap();
        let before = self.before.finish().unwrap();
        let report = self.watchtap.finish().unwrap();
        let behind = self.behind.finish().unwrap();
        assert_eq!(before, behind, "left: what kubectl and watchtap exchanged; right: what watchtap and the API server exchanged");
        assert!(!before.is_empty());
        for connection in &before {
            let is_http2 = connection.protocol.as_deref() == Some("h2");
            assert_eq!(is_http2, self.protocol == Protocol::Http2, "{connection:?}");
        }
        Outcome { connections: before, report }
    }
}

/// The output of a chain.
struct Outcome {
    connections: Vec<Passed>,
    report: Value,
}

impl Outcome {
    /// The sum of these counters.
    fn missed(&self, counters: &[&str]) -> u64 {
        counters.iter().map(|counter| self.report["missed"][counter].as_u64().unwrap()).sum()
    }

    fn requests(&self, verb: &str) -> Vec<&Value> {
        self.report["requests"].as_array().unwrap().iter().filter(|request| request["verb"] == verb).collect()
    }

    /// Checks that a count in a body is exact. It may be lower if both the request and the report state that something was missed.
    #[track_caller]
    fn assert_counted(&self, request: &Value, counted: &Value, expected: usize) {
        if request.get("missed_bytes").is_none() {
            assert_eq!(counted, expected, "{request:#}");
        } else {
            let is_less = counted.as_u64().unwrap() <= expected as u64;
            assert!(is_less && self.missed(&["bytes"]) > 0, "{counted} of {expected}: {request:#}, {:#}", self.report["missed"]);
        }
    }

    /// Checks that the bytes of bodies are most of the plaintext, and not more than all of it.
    #[track_caller]
    fn assert_counts_fit(&self) {
        let totals = &self.report["totals"];
        assert_eq!(totals["connections"], self.connections.len());
        let bodies = totals["response_bytes"].as_u64().unwrap();
        let plaintext: u64 = self.connections.iter().map(|connection| connection.response.plaintext.length).sum();
        assert!((plaintext / 2..plaintext).contains(&bodies), "{bodies} bytes of bodies in {plaintext} bytes of plaintext");
    }
}
