//! The demo API server compared with the real one: one script, the same answers.
//!
//! The test compares status and reason, the number of items, whether a page follows, and the order of revisions among all answers.
//! It also compares the events of watches and the changes of the server's own counters.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use observer_demo::{DemoConfig, DemoServer};
use observer_tests::{Client, Cluster, ListCounters, Metrics, Options, Response};
use serde_json::{Value, json};

const ALL: &str = "/api/v1/namespaces/parity/podtemplates";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/parity/deployments";

/// Name, method, path with query, body. `{x.rv}` and `{x.next}` are the revision and continue token of the answer named `x`. Before
/// a request whose name has `+`, an object of another kind is written. This raises the revision, so that answers can differ in
/// their revisions.
const SCRIPT: &[(&str, &str, &str, &str)] = &[
    (
        "deployment",
        "POST",
        DEPLOYMENTS,
        r#"{"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}"#,
    ),
    ("scale", "GET", "/apis/apps/v1/namespaces/parity/deployments/d/scale", ""),
    ("scale-none", "GET", "/apis/apps/v1/namespaces/parity/deployments/none/scale", ""),
    ("scale-patched", "PATCH", "/apis/apps/v1/namespaces/parity/deployments/d/scale", r#"{"spec":{"replicas":5}}"#),
    (
        "scale-late",
        "PUT",
        "/apis/apps/v1/namespaces/parity/deployments/d/scale",
        r#"{"metadata":{"name":"d","namespace":"parity","resourceVersion":"{scale.rv}"},"spec":{"replicas":4}}"#,
    ),
    (
        "scale-replaced",
        "PUT",
        "/apis/apps/v1/namespaces/parity/deployments/d/scale",
        r#"{"metadata":{"name":"d","namespace":"parity","resourceVersion":"{scale-patched.rv}"},"spec":{"replicas":4}}"#,
    ),
    ("scale-negative", "PATCH", "/apis/apps/v1/namespaces/parity/deployments/d/scale", r#"{"spec":{"replicas":-1}}"#),
    ("scale-created", "POST", "/apis/apps/v1/namespaces/parity/deployments/d/scale", "{}"),
    ("deployment-scaled", "GET", "/apis/apps/v1/namespaces/parity/deployments/d", ""),
    ("+consistent", "GET", ALL, ""),
    ("+first", "GET", "/api/v1/namespaces/parity/podtemplates?limit=3", ""),
    ("+second", "GET", "/api/v1/namespaces/parity/podtemplates?limit=3&continue={first.next}", ""),
    ("third", "GET", "/api/v1/namespaces/parity/podtemplates?limit=3&continue={second.next}", ""),
    ("any", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion=0", ""),
    ("any-limited", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion=0&limit=3", ""),
    ("not-older", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion={first.rv}", ""),
    ("+legacy-exact", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion={first.rv}&limit=3", ""),
    (
        "not-older-limited",
        "GET",
        "/api/v1/namespaces/parity/podtemplates?resourceVersion={first.rv}&limit=3&resourceVersionMatch=NotOlderThan",
        "",
    ),
    ("exact", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion={first.rv}&resourceVersionMatch=Exact", ""),
    ("any-not-older", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion=0&resourceVersionMatch=NotOlderThan", ""),
    ("+labelled", "GET", "/api/v1/namespaces/parity/podtemplates?labelSelector=half%3Deven", ""),
    ("+labelled-page", "GET", "/api/v1/namespaces/parity/podtemplates?labelSelector=half+in+(even)&limit=2", ""),
    ("+everywhere", "GET", "/api/v1/podtemplates?labelSelector=!none", ""),
    ("+by-name", "GET", "/api/v1/namespaces/parity/podtemplates?fieldSelector=metadata.name%3Dt-1", ""),
    ("by-name-any", "GET", "/api/v1/namespaces/parity/podtemplates?fieldSelector=metadata.name%3Dt-1&resourceVersion=0", ""),
    (
        "by-name-exact",
        "GET",
        "/api/v1/namespaces/parity/podtemplates?fieldSelector=metadata.name%3Dt-1&resourceVersion={first.rv}&resourceVersionMatch=Exact",
        "",
    ),
    ("field", "GET", "/api/v1/namespaces/parity/podtemplates?fieldSelector=spec.x%3Dy", ""),
    ("label", "GET", "/api/v1/namespaces/parity/podtemplates?labelSelector=a+in+b", ""),
    ("match-alone", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersionMatch=Exact", ""),
    ("match-any-exact", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersionMatch=Exact&resourceVersion=0", ""),
    ("match-unknown", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersionMatch=Newest&resourceVersion=5", ""),
    (
        "match-continue",
        "GET",
        "/api/v1/namespaces/parity/podtemplates?resourceVersionMatch=NotOlderThan&resourceVersion=0&continue={first.next}",
        "",
    ),
    ("initial-events-list", "GET", "/api/v1/namespaces/parity/podtemplates?sendInitialEvents=false", ""),
    ("token-rubbish", "GET", "/api/v1/namespaces/parity/podtemplates?continue=rubbish", ""),
    ("token-revision", "GET", "/api/v1/namespaces/parity/podtemplates?continue={first.next}&resourceVersion={first.rv}", ""),
    ("limit-rubbish", "GET", "/api/v1/namespaces/parity/podtemplates?limit=ten", ""),
    ("revision-rubbish", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion=ten", ""),
    ("future", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion=99999999", ""),
    ("future-exact", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion=99999999&resourceVersionMatch=Exact", ""),
    ("get", "GET", "/api/v1/namespaces/parity/podtemplates/t-1", ""),
    ("get-any", "GET", "/api/v1/namespaces/parity/podtemplates/t-1?resourceVersion=0", ""),
    ("get-not-older", "GET", "/api/v1/namespaces/parity/podtemplates/t-1?resourceVersion={first.rv}", ""),
    ("get-none", "GET", "/api/v1/namespaces/parity/podtemplates/none", ""),
    ("get-none-any", "GET", "/api/v1/namespaces/parity/podtemplates/none?resourceVersion=0", ""),
    ("get-rubbish", "GET", "/api/v1/namespaces/parity/podtemplates/t-1?resourceVersion=ten", ""),
    ("created", "POST", ALL, r#"{"metadata":{"name":"t-7"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}"#),
    ("created-again", "POST", ALL, r#"{"metadata":{"name":"t-7"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}"#),
    ("nameless", "POST", ALL, r#"{"metadata":{},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}"#),
    (
        "nowhere",
        "POST",
        "/api/v1/namespaces/nowhere/podtemplates",
        r#"{"metadata":{"name":"t"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}"#,
    ),
    ("before-it", "GET", "/api/v1/namespaces/parity/podtemplates?resourceVersion={first.rv}&resourceVersionMatch=Exact", ""),
    ("patched", "PATCH", "/api/v1/namespaces/parity/podtemplates/t-7", r#"{"metadata":{"labels":{"half":"even"}}}"#),
    (
        "patched-late",
        "PATCH",
        "/api/v1/namespaces/parity/podtemplates/t-7",
        r#"{"metadata":{"resourceVersion":"{created.rv}","labels":{"half":"odd"}}}"#,
    ),
    ("deleted", "DELETE", "/api/v1/namespaces/parity/podtemplates/t-7", ""),
    ("deleted-again", "DELETE", "/api/v1/namespaces/parity/podtemplates/t-7", ""),
    ("+afterwards", "GET", ALL, ""),
    ("watch-history", "GET", "/api/v1/namespaces/parity/podtemplates?watch=1&timeoutSeconds=1&resourceVersion={first.rv}", ""),
    ("watch-any", "GET", "/api/v1/namespaces/parity/podtemplates?watch=1&timeoutSeconds=1&resourceVersion=0", ""),
    (
        "+watch-list",
        "GET",
        "/api/v1/namespaces/parity/podtemplates?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true",
        "",
    ),
    (
        "watch-labelled",
        "GET",
        "/api/v1/namespaces/parity/podtemplates?watch=1&timeoutSeconds=1&resourceVersion={first.rv}&labelSelector=half%3Deven",
        "",
    ),
    (
        "watch-match",
        "GET",
        "/api/v1/namespaces/parity/podtemplates?watch=1&timeoutSeconds=1&resourceVersion=5&resourceVersionMatch=NotOlderThan",
        "",
    ),
    (
        "watch-future-list",
        "GET",
        "/api/v1/namespaces/parity/podtemplates?watch=1&timeoutSeconds=5&resourceVersion=99999999&sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
        "",
    ),
    ("watch-rubbish", "GET", "/api/v1/namespaces/parity/podtemplates?watch=1&timeoutSeconds=1&resourceVersion=ten", ""),
    ("collection", "DELETE", "/api/v1/namespaces/parity/podtemplates?labelSelector=half%3Deven", ""),
    ("+left", "GET", ALL, ""),
    (
        "protobuf",
        "POST",
        ALL,
        "k8s\0\x0a\x11\x0a\x02v1\x12\x0bPodTemplate\x12\x13\x0a\x05\x0a\x03t-8\x12\x0a\x12\x08\x12\x06\x0a\x01c\x12\x01i",
    ),
    ("protobuf-cut", "POST", ALL, "k8s\0\x0a\x11\x0a\x02v1\x12\x0bPodTemplate\x12\x13\x0a\x05\x0a\x03t-9\x12"),
    ("protobuf-unwrapped", "POST", ALL, "k8s\0"),
];

#[test]
fn demo_responses_match_the_real_api_server() {
    let options =
        Options { api_server_arguments: vec!["--feature-gates=APIServerIdentity=false".to_owned()], ..Options::default() };
    let cluster = Cluster::start(&options).unwrap();
    let demo = DemoServer::start(DemoConfig { version: cluster.version().to_owned(), ..DemoConfig::default() }).unwrap();
    let client = Client::of_server(&format!("https://{}", demo.address()), demo.ca_pem(), demo.token()).unwrap();
    let (real, ours) = (Transcript::of(&cluster.client()), Transcript::of(&client));
    let differences = real.differences(&ours);
    assert!(differences.is_empty(), "real, then demo:\n{differences}");
}

/// A server's answers to the complete script.
struct Transcript {
    answers: Vec<Reply>,
    lasted: Duration,
}

struct Reply {
    name: &'static str,
    /// Everything except revisions, as text.
    said: String,
    revision: Option<u64>,
    next: String,
    counters: ListCounters,
}

impl Transcript {
    fn of(client: &Client) -> Self {
        prepare(client);
        let started = Instant::now();
        let mut answers: Vec<Reply> = Vec::new();
        for (number, (name, method, path, body)) in SCRIPT.iter().enumerate() {
            if name.starts_with('+') {
                touch(client, number);
            }
            let fill = |text: &str| {
                answers.iter().fold(text.to_owned(), |text, answer| {
                    let revision = answer.revision.map(|revision| revision.to_string()).unwrap_or_default();
                    text.replace(&format!("{{{}.rv}}", answer.name), &revision)
                        .replace(&format!("{{{}.next}}", answer.name), &answer.next)
                })
            };
            let (path, body) = (fill(path), fill(body));
            let kind = match *method {
                "PATCH" => "application/merge-patch+json",
                _ if body.starts_with("k8s") => "application/vnd.kubernetes.protobuf",
                _ => "application/json",
            };
            let headers: &[_] = if body.is_empty() { &[] } else { &[("Content-Type", kind)] };
            let before = counters(client, &path);
            let response = client.raw(method, &path, headers, body.as_bytes()).unwrap();
            let moved = counters(client, &path) - before;
            answers.push(Reply::read(name.trim_start_matches('+'), path.contains("watch=1"), &response, moved));
        }
        Self { answers, lasted: started.elapsed() }
    }

    fn differences(&self, other: &Self) -> String {
        let mut text = String::new();
        let mut own_questions = 1 + self.lasted.as_secs() / OWN_QUESTIONS.as_secs();
        for (ours, theirs) in self.answers.iter().zip(&other.answers) {
            if ours.said == theirs.said && own_questions > 0 && ours.counters == with_own_question(theirs.counters) {
                own_questions -= 1;
            } else if (&ours.said, ours.counters) != (&theirs.said, theirs.counters) {
                writeln!(text, "{}:\n  {} {:?}\n  {} {:?}", ours.name, ours.said, ours.counters, theirs.said, theirs.counters)
                    .unwrap();
            }
        }
        let (ours, theirs) = (self.order(), other.order());
        let pairs = ours.iter().filter(|(pair, order)| theirs.get(*pair) != Some(order));
        for ((first, second), order) in pairs {
            writeln!(text, "revisions of {first} and {second}: {order:?}, {:?}", theirs.get(&(*first, *second))).unwrap();
        }
        text
    }

    /// The order of the revisions of each pair of answers.
    fn order(&self) -> BTreeMap<(&'static str, &'static str), Ordering> {
        let with_revision = || self.answers.iter().filter_map(|answer| Some((answer.name, answer.revision?)));
        with_revision()
            .enumerate()
            .flat_map(|(index, (first, before))| {
                with_revision().skip(index + 1).map(move |(second, after)| ((first, second), before.cmp(&after)))
            })
            .collect()
    }
}

impl Reply {
    fn read(name: &'static str, is_watch: bool, response: &Response, counters: ListCounters) -> Self {
        let mut said = response.status.to_string();
        if is_watch && response.status == 200 {
            for line in response.text().lines() {
                let event: Value = serde_json::from_str(line).unwrap();
                let object = &event["object"];
                write!(said, " {} {}{}", event["type"].as_str().unwrap(), object["metadata"]["name"], object["code"]).unwrap();
            }
            return Self { name, said, revision: None, next: String::new(), counters };
        }
        let body = response.json().unwrap();
        let metadata = &body["metadata"];
        if let Some(items) = body["items"].as_array() {
            write!(said, " {} items", items.len()).unwrap();
        }
        let next = metadata["continue"].as_str().unwrap_or_default().to_owned();
        write!(
            said,
            " {} kind={} remaining={} next={}",
            body["reason"],
            body["kind"],
            metadata["remainingItemCount"],
            !next.is_empty()
        )
        .unwrap();
        let details = &body["details"];
        write!(said, " retry={} details={}/{}", details["retryAfterSeconds"], details["name"], details["kind"]).unwrap();
        for cause in details["causes"].as_array().into_iter().flatten() {
            write!(said, " {}@{}", cause["reason"], cause["field"]).unwrap();
        }
        let revision = metadata["resourceVersion"].as_str().and_then(|text| text.parse().ok());
        Self { name, said, revision, next, counters }
    }
}

/// Interval at which the real server requests the current revision of each resource by itself, for the size of its objects
/// (kubernetes/apiserver pkg/storage/etcd3/stats.go v0.34, `sizerRefreshInterval`).
const OWN_QUESTIONS: Duration = Duration::from_mins(1);

fn with_own_question(counters: ListCounters) -> ListCounters {
    ListCounters { storage_lists: counters.storage_lists + 1, etcd_gets: counters.etcd_gets + 1, ..counters }
}

fn counters(client: &Client, path: &str) -> ListCounters {
    let resource = if path.contains("/deployments") { "deployments.apps" } else { "podtemplates" };
    ListCounters::of(&Metrics::parse(&client.get("/metrics").unwrap().text()).unwrap(), resource)
}

/// Creates a namespace with seven objects, and one of another kind.
fn prepare(client: &Client) {
    let made = |path: &str, object: Value| client.post(path, &object).unwrap().success().unwrap();
    made("/api/v1/namespaces", json!({"metadata": {"name": "parity"}}));
    made("/api/v1/namespaces/parity/configmaps", json!({"metadata": {"name": "other"}}));
    for number in 0..7 {
        let half = if number % 2 == 0 { "even" } else { "odd" };
        let template = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
        made(ALL, json!({"metadata": {"name": format!("t-{number}"), "labels": {"half": half}}, "template": template}));
    }
}

/// Advances the store's revision with an object that the script does not read.
fn touch(client: &Client, number: usize) {
    let patch = json!({"data": {"number": number.to_string()}}).to_string();
    let headers = [("Content-Type", "application/merge-patch+json")];
    client.raw("PATCH", "/api/v1/namespaces/parity/configmaps/other", &headers, patch.as_bytes()).unwrap().success().unwrap();
}
