//! Several kinds of clients through watchtap. The report has the name, version, encoding and protocol of each, and the correct
//! verdict for its requests.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use observer_tests::{Cluster, go_client, output_within, watchtap};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_mins(2);
const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The expected events of a request.
struct ExpectedEvent {
    program: &'static str,
    verb: &'static str,
    /// Options that may follow between verb and resource.
    options: &'static str,
    content_type: &'static str,
    served_from: Value,
    rule: &'static str,
}

#[test]
fn client_go_is_recognised_in_each_encoding_over_http2() {
    client_go_speaks("h2", &[]);
}

#[test]
fn client_go_without_http2_is_recognised_over_http1() {
    client_go_speaks("http/1.1", &[("DISABLE_HTTP2", "1")]);
}

#[track_caller]
fn client_go_speaks(protocol: &str, environment: &[(&str, &str)]) {
    let cluster = Cluster::shared().unwrap();
    let namespace = if protocol == "h2" { "client-go-h2" } else { "client-go-h1" };
    cluster.create_configmaps(namespace, 5).unwrap();
    let client = go_client().unwrap();
    let seen = Seen::of(cluster, &[client.to_str().unwrap(), namespace], environment);

    let cache = || json!("Cache");
    for expected in [
        ExpectedEvent::new("typed", "list", "RV=0 · limit=2", PROTOBUF, cache(), "list-rv0"),
        ExpectedEvent::new("typed", "list", "", PROTOBUF, json!("CacheConsistent"), "list-unset-consistent"),
        ExpectedEvent::new("typed", "get", "", PROTOBUF, json!("Etcd"), "get-unset-etcd"),
        ExpectedEvent::new("typed", "watch", "RV=N", PROTOBUF, cache(), "watch-rv"),
        ExpectedEvent::new("dynamic", "list", "limit=2", JSON, json!("CacheConsistent"), "list-unset-consistent"),
        ExpectedEvent::new("dynamic", "list", "continue · limit=2", JSON, json!("Snapshot"), "list-continue-snapshot"),
        ExpectedEvent::new("dynamic", "watch", "RV=N", JSON, cache(), "watch-rv"),
        ExpectedEvent::new("metadata", "list", "RV=0", PROTOBUF, cache(), "list-rv0"),
        ExpectedEvent::new("metadata", "watch", "RV=N", PROTOBUF, cache(), "watch-rv"),
    ] {
        let program = format!("{}-client/v1.2.3", expected.program);
        let requests =
            seen.requests.iter().filter(|request| request["resource"] == "configmaps" && request["verb"] == expected.verb);
        let found: Vec<&Value> = requests
            .filter(|request| request["client"]["program"] == program.as_str() && request["options"] == expected.options)
            .collect();
        let [request] = found[..] else { panic!("{program} {} {:?}: {found:#?}", expected.verb, expected.options) };
        let content_type = request["content_type"].as_str().unwrap();
        assert_eq!(content_type.split(';').next(), Some(expected.content_type), "{request:#?}");
        assert_eq!(request["verdict"]["served_from"], expected.served_from, "{request:#?}");
        assert_eq!(request["verdict"]["rule"], expected.rule, "{request:#?}");
        assert_eq!(request["scope"], json!({"namespace": namespace}), "{request:#?}");
        if expected.verb == "list" {
            assert!(request["items"].as_u64().unwrap() >= 2, "{request:#?}");
        }
        if expected.verb == "watch" {
            assert!(request["watch"]["last_event"].is_string(), "{request:#?}");
        }
    }
    let asked: Vec<&str> =
        seen.of_program("discovery-client/v1.2.3").map(|request| request["resource"].as_str().unwrap()).collect();
    for path in ["/version", "/api", "/apis", "/openapi/v2", "/openapi/v3"] {
        assert!(asked.contains(&path), "{path} among {asked:?}");
    }
    assert!(seen.of_program("discovery-client/v1.2.3").all(|request| request["verdict"].is_null()), "discovery reads no objects");
    seen.check(protocol);
}

#[test]
fn curl_over_http1_is_recognised() {
    let cluster = Cluster::shared().unwrap();
    cluster.create_configmaps("curl", 5).unwrap();
    let script = format!(
        "set -e; server=$(sed -n 's/^ *\"server\": *\"\\(.*\\)\",*$/\\1/p' \"$KUBECONFIG\"); \
         for query in '?limit=2' '?resourceVersion=0' '?watch=1&timeoutSeconds=1&resourceVersion=0'; do \
           curl --http1.1 --compressed --silent --show-error --fail --insecure --header 'Authorization: Bearer {}' \
             \"$server/api/v1/namespaces/curl/configmaps$query\" > /dev/null; \
         done",
        cluster.admin_token()
    );
    let seen = Seen::of(cluster, &["sh", "-c", &script], &[]);
    let version = String::from_utf8(Command::new("curl").arg("--version").output().expect("curl is on the PATH").stdout).unwrap();
    let program = format!("curl/{}", version.split_whitespace().nth(1).unwrap());
    let requests: Vec<&Value> = seen.of_program(&program).collect();
    let told: Vec<_> = requests
        .iter()
        .map(|request| (request["options"].as_str().unwrap(), request["verdict"]["rule"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [("limit=2", "list-unset-consistent"), ("RV=0", "list-rv0"), ("RV=0", "watch-rv0-rewritten")],
        "{requests:#?}"
    );
    assert!(requests.iter().all(|request| request["content_type"] == JSON && request["client"]["identity"]["kind"] == "bearer"));
    assert_eq!((&requests[1]["items"], &requests[2]["watch"]["added"]), (&json!(5), &json!(5)));
    assert_eq!(requests[2]["end"], "complete");
    seen.check("http/1.1");
}

impl ExpectedEvent {
    const fn new(
        program: &'static str,
        verb: &'static str,
        options: &'static str,
        content_type: &'static str,
        served_from: Value,
        rule: &'static str,
    ) -> Self {
        Self { program, verb, options, content_type, served_from, rule }
    }
}

/// watchtap's observations of a command.
pub(crate) struct Seen {
    report: Value,
    pub(crate) requests: Vec<Value>,
    /// The HTTP version of each connection.
    protocols: BTreeMap<u64, Value>,
}

impl Seen {
    /// Runs the command under `watchtap exec`; it must succeed.
    #[track_caller]
    pub(crate) fn of(cluster: &Cluster, command: &[&str], environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let mut exec = watchtap().unwrap();
        exec.args(["exec", "--format", "json", "--report"]).arg(file("report.json")).arg("--events").arg(file("events.jsonl"));
        exec.arg("--").args(command).env("KUBECONFIG", cluster.kubeconfig_token().unwrap()).env("HOME", folder.path());
        exec.envs(environment.iter().copied());
        let output = output_within(&mut exec, LIMIT).unwrap();
        assert!(output.status.success(), "{output:#?}");
        let read = |path: &Path| std::fs::read_to_string(path).unwrap();
        let report: Value = serde_json::from_str(&read(&file("report.json"))).unwrap();
        let events = read(&file("events.jsonl"));
        let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let opened = events.filter(|event| event["event"] == "connection-opened");
        let protocols = opened.map(|event| (event["connection"].as_u64().unwrap(), event["protocol"].clone())).collect();
        let requests = report["requests"].as_array().unwrap().clone();
        Self { report, requests, protocols }
    }

    pub(crate) fn of_program(&self, program: &str) -> impl Iterator<Item = &Value> {
        self.requests.iter().filter(move |request| request["client"]["program"] == program)
    }

    /// Checks that every request used this protocol, that nothing was missed, and that no verdict was contradicted.
    #[track_caller]
    pub(crate) fn check(&self, protocol: &str) {
        assert!(!self.requests.is_empty());
        for request in &self.requests {
            let spoken = &self.protocols[&request["connection"].as_u64().unwrap()];
            // A client without an ALPN offer speaks HTTP/1.1.
            assert_eq!(spoken.as_str().unwrap_or("http/1.1"), protocol, "{request:#?}");
        }
        let missed = self.report["missed"].as_object().unwrap();
        let missed: Vec<_> = missed.iter().filter(|(_, value)| **value != json!(0) && **value != json!({})).collect();
        assert!(missed.is_empty(), "{missed:?}");
        assert_eq!(self.report["totals"]["contradicted"], 0, "{:#}", self.report["totals"]);
        assert_eq!(self.report["totals"]["lists_unknown"], 0, "{:#}", self.report["totals"]);
    }
}
