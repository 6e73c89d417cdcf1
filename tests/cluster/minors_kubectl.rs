//! kubectl of several minors through watchtap.

use std::io::{self, Write};

use observer_tests::{Cluster, kubectl, kubectl_minors};
use serde_json::{Value, json};

use super::clients::Seen;

#[test]
fn every_installed_kubectl_minor_is_recognised() {
    let cluster = Cluster::shared().unwrap();
    cluster.create_configmaps("minors", 5).unwrap();
    let mut clients = kubectl_minors();
    if clients.is_empty() {
        clients.push((0, kubectl().expect("these tests need kubectl on the PATH")));
    }
    for (minor, client) in &clients {
        let client = client.to_str().unwrap();
        let script = format!(
            "set -e; {client} version -o json | grep -o '\"gitVersion\": *\"[^\"]*\"' | head -n 1 >&2; \
             {client} get configmaps -n minors > /dev/null; {client} get configmaps -n minors -o json > /dev/null; \
             {client} get configmap cm-0 -n minors -o json > /dev/null; \
             {client} get configmaps -n minors --chunk-size=2 -o name > /dev/null; \
             {client} get configmaps -n minors --watch --request-timeout=2s > /dev/null 2>&1 || true"
        );
        let seen = Seen::of(cluster, &["sh", "-c", &script], &[]);
        let programs: Vec<&str> = seen.requests.iter().map(|request| request["client"]["program"].as_str().unwrap()).collect();
        let version = if *minor == 0 { "/v1.".to_owned() } else { format!("/v1.{minor}.") };
        let is_kubectl = |program: &&str| program.starts_with("kubectl") && program.contains(&version);
        assert!(programs.iter().all(is_kubectl), "1.{minor}: {programs:?}");
        check_lists(&seen.requests);
        check_watch(&seen.requests);
        seen.check("h2");
    }
    let minors: Vec<u32> = clients.iter().map(|(minor, _)| *minor).collect();
    // Bypasses the test runner's capture, so that a passing test shows the tested minors.
    writeln!(io::stderr(), "kubectl of these minors of 1 (0: the only one on the PATH): {minors:?}").unwrap();
}

#[track_caller]
fn check_lists(requests: &[Value]) {
    let lists: Vec<&Value> = of_verb(requests, "list");
    let told: Vec<_> = lists
        .iter()
        .map(|list| {
            (list["options"].as_str().unwrap(), list["verdict"]["served_from"].as_str().unwrap(), list["items"].as_u64().unwrap())
        })
        .collect();
    let expected = [
        ("limit=500", "CacheConsistent", 5),
        ("limit=500", "CacheConsistent", 5),
        ("limit=2", "CacheConsistent", 2),
        ("continue · limit=2", "Snapshot", 2),
        ("continue · limit=2", "Snapshot", 1),
        ("limit=500", "CacheConsistent", 5),
    ];
    assert_eq!(told, expected, "{lists:#?}");
    assert!(lists.iter().all(|list| list["client"]["kubectl_command"] == "kubectl get"), "{lists:#?}");
    let [get] = of_verb(requests, "get").into_iter().filter(|get| get["resource"] == "configmaps").collect::<Vec<_>>()[..] else {
        panic!("one get: {requests:#?}")
    };
    assert_eq!((&get["verdict"]["served_from"], &get["name"]), (&json!("Etcd"), &json!("cm-0")));
}

/// It watches from the list's revision and ends the watch itself.
#[track_caller]
fn check_watch(requests: &[Value]) {
    let watches = of_verb(requests, "watch");
    let [watch] = watches[..] else { panic!("one watch: {watches:#?}") };
    assert_eq!((&watch["options"], &watch["verdict"]["served_from"]), (&json!("RV=N"), &json!("Cache")), "{watch:#?}");
}

fn of_verb<'r>(requests: &'r [Value], verb: &str) -> Vec<&'r Value> {
    requests.iter().filter(|request| request["verb"] == verb).collect()
}
