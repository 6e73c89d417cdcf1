//! Tests of the harness itself.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::{Cluster, ListCounters, Minor, Options, Response, Signal, kubectl};
use serde_json::Value;

use super::eventually::eventually;

#[test]
fn server_reports_the_version_it_was_built_from() {
    let cluster = Cluster::shared().unwrap();
    let version = cluster.raw("GET", "/version", &[], b"").unwrap().success().unwrap().json().unwrap();
    assert_eq!(version["gitVersion"], cluster.version());
    assert_eq!((&version["major"], &version["minor"]), (&"1".into(), &"34".into()));
    if std::env::var_os("KUBEBUILDER_ASSETS").is_none() {
        assert_eq!(cluster.version(), "v1.34.4");
    }
}

#[test]
fn restarted_api_server_keeps_its_port_and_objects() {
    let mut cluster = Cluster::start(&Options::default()).unwrap();
    cluster.create_configmaps("kept", 3).unwrap();
    let port = cluster.port();
    for signal in [Signal::Terminate, Signal::Kill] {
        cluster.stop_api_server(signal).unwrap();
        let status = cluster.wait_stopped().unwrap();
        assert_eq!(status.success(), signal == Signal::Terminate, "{status}");
        assert!(cluster.raw("GET", "/version", &[], b"").is_err(), "nobody serves the port");
        cluster.start_api_server().unwrap();
        assert_eq!(cluster.port(), port);
        assert_eq!(items(&get(&cluster, "/api/v1/namespaces/kept/configmaps")), 3);
    }
}

#[test]
fn suspended_server_answers_only_after_it_continues() {
    let mut cluster = Cluster::start(&Options::default()).unwrap();
    cluster.stop_api_server(Signal::Stop).unwrap();
    let client = cluster.client();
    let asked = thread::spawn(move || client.get("/version").map(|response| response.status));
    thread::sleep(Duration::from_millis(300));
    assert!(!asked.is_finished());
    cluster.stop_api_server(Signal::Continue).unwrap();
    assert_eq!(asked.join().unwrap().unwrap(), 200);
}

#[test]
fn counters_distinguish_the_cache_from_etcd() {
    // A cluster of its own, because lists of other tests would count too.
    let cluster = Cluster::start(&Options::default()).unwrap();
    let moved_by = |path: &str| {
        let before = cluster.counters("podtemplates").unwrap();
        get(&cluster, path);
        cluster.counters("podtemplates").unwrap() - before
    };
    let from_cache = ListCounters { cache_lists: 1, ..ListCounters::default() };
    // The first lists of a resource may come before its cache is filled.
    let filled = eventually(|| (moved_by("/api/v1/podtemplates?resourceVersion=0") == from_cache).then_some(()));
    filled.expect("a cache is filled");
    assert_eq!(moved_by("/api/v1/podtemplates?resourceVersion=0"), from_cache);
    let consistent = ListCounters { storage_lists: 1, etcd_gets: 1, consistent_reads: 1, ..from_cache };
    assert_eq!(moved_by("/api/v1/podtemplates"), consistent);
}

#[test]
fn user_is_derived_from_token_or_certificate() {
    let cluster = Cluster::shared().unwrap();
    let who = |response: Response| response.json().unwrap()["status"]["userInfo"]["username"].clone();
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let review = serde_json::json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    assert_eq!(who(cluster.client().post(path, &review).unwrap()), "admin");
    assert_eq!(who(cluster.client_with_certificate().unwrap().post(path, &review).unwrap()), "certificate-admin");
}

#[test]
fn visitor_is_authenticated_and_may_not_list() {
    let cluster = Cluster::shared().unwrap();
    let list = |token: &str| {
        let bearer = format!("Bearer {token}");
        cluster.raw("GET", "/api/v1/secrets", &[("Authorization", &bearer)], b"").unwrap().status
    };
    assert_eq!(list(cluster.admin_token()), 200);
    assert_eq!(list(cluster.visitor_token()), 403);
    assert_eq!(list("nobody's"), 401);
}

#[test]
fn kubectl_works_with_each_kubeconfig() {
    let cluster = Cluster::shared().unwrap();
    let kubectl = kubectl().expect("these tests need kubectl on the PATH");
    let namespaces = |kubeconfig: &Path| {
        let mut command = Command::new(&kubectl);
        let output = command.args(["get", "namespaces", "-o", "name"]).env("KUBECONFIG", kubeconfig).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    for kubeconfig in [cluster.kubeconfig_token().unwrap(), cluster.kubeconfig_client_cert().unwrap()] {
        let listed = namespaces(&kubeconfig);
        assert!(listed.contains("namespace/kube-system"), "{listed}");
    }
    let refused = namespaces(&cluster.kubeconfig_visitor().unwrap());
    assert!(refused.contains("User \"visitor\" cannot list resource \"namespaces\""), "{refused}");
}

#[test]
fn audit_log_records_verb_and_user_of_a_request() {
    let cluster = Cluster::shared().unwrap();
    get(cluster, "/api/v1/limitranges?labelSelector=mark%3Daudit");
    let completed =
        |event: &Value| event["stage"] == "ResponseComplete" && event["requestURI"].as_str().unwrap().ends_with("mark%3Daudit");
    let events = cluster.audit_log_when(|events| events.iter().any(completed)).unwrap();
    let event = events.into_iter().find(completed).unwrap();
    assert_eq!((&event["verb"], &event["user"]["username"]), (&"list".into(), &"admin".into()));
    assert_eq!(event["level"], "Metadata");
}

#[test]
fn config_maps_are_created_up_to_the_count() {
    let cluster = Cluster::shared().unwrap();
    let started = Instant::now();
    cluster.create_configmaps("many", 1200).unwrap();
    let took = started.elapsed();
    println!("1200 config maps: {took:?}");
    assert_eq!(items(&get(cluster, "/api/v1/namespaces/many/configmaps")), 1200);
    cluster.create_configmaps("many", 1200).unwrap();
    assert_eq!(items(&get(cluster, "/api/v1/namespaces/many/configmaps")), 1200, "a second call changes nothing");
}

#[test]
fn unsupported_minor_error_points_to_the_readme() {
    let options = Options { minor: Minor(1), ..Options::default() };
    let error = format!("{:#}", Cluster::start(&options).unwrap_err());
    assert!(error.contains("no kube-apiserver v1.1 here; tests/cluster/go/README.md"), "{error}");
}

#[test]
fn failed_start_error_contains_the_end_of_the_log() {
    let options = Options { api_server_arguments: vec!["--no-such-flag".to_owned()], ..Options::default() };
    let error = format!("{:#}", Cluster::start(&options).unwrap_err());
    assert!(error.contains("unknown flag: --no-such-flag"), "{error}");
}

#[test]
fn dropped_cluster_leaves_no_process_or_folder() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let processes = cluster.process_ids();
    let folder = cluster.kubeconfig_token().unwrap().parent().unwrap().to_owned();
    assert_eq!(processes.iter().filter(|id| runs(**id)).count(), 2);
    drop(cluster);
    assert_eq!(processes.iter().filter(|id| runs(**id)).count(), 0);
    assert!(!folder.exists());
}

#[test]
fn servers_exit_when_the_test_process_is_killed() {
    let mut holder = Command::new(env!("CARGO_BIN_EXE_test-cluster")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let description: Value = serde_json::from_str(&line).unwrap();
    let processes: Vec<u32> = serde_json::from_value(description["processes"].clone()).unwrap();
    assert_eq!(processes.iter().filter(|id| runs(**id)).count(), 2);

    holder.kill().unwrap();
    holder.wait().unwrap();
    let killed = Instant::now();
    while processes.iter().any(|id| runs(*id)) {
        assert!(killed.elapsed() < Duration::from_secs(10), "{processes:?} outlived their test");
        thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn get(cluster: &Cluster, path: &str) -> Response {
    cluster.raw("GET", path, &[], b"").unwrap().success().unwrap()
}

#[track_caller]
fn items(list: &Response) -> usize {
    list.json().unwrap()["items"].as_array().unwrap().len()
}

/// Whether the process exists and is not a zombie.
fn runs(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    state.is_some_and(|state| state != 'Z')
}
