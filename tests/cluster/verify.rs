//! `watchtap verify` on real API servers: it confirms correct rules and detects wrong ones.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use observer_tests::{Cluster, Minor, Options, output_within, watchtap};
use serde_json::{Value, json};

/// The API server creates some roles at its start, and no other client reads them.
const ROLES: [&str; 2] = ["--resource", "roles.rbac.authorization.k8s.io"];
/// Time limit of the command, which itself announces about twenty seconds.
const ENDS_WITHIN: Duration = Duration::from_mins(5);

const SNAPSHOTS: [&str; 5] =
    ["list, RV=N, limit", "list, RV=N, Exact", "list, RV=N, Exact, limit", "list, continued", "list, continued, RV=0"];
const CONSISTENT_LISTS: [&str; 6] = [
    "list, RV unset",
    "list, RV unset, one namespace",
    "list, RV unset, label selector",
    "list, RV unset, one name",
    "list, RV unset, limit",
    "list, RV unset, limit, label selector",
];
const AT_THE_LATEST: &str = "list, continued at the latest revision";
const WATCH_LISTS: [&str; 3] = ["watch list, RV unset", "watch list, RV=0", "watch list, RV=N"];

#[test]
fn every_shape_agrees_and_false_flags_are_detected() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    // Without flags, it finds an idle resource, and everything agrees.
    let verified = verify(&cluster, &[]);
    assert_eq!((verified.exit_code, verified.disagreeing()), (Some(0), vec![]), "{verified:?}");
    assert_eq!(verified.document["tally"]["agree"], verified.document["tally"]["shapes"]);
    assert!(verified.stderr.contains("searching 5 s for an idle resource"), "{}", verified.stderr);
    assert!(verified.stderr.contains("requests, reads only, about"), "{}", verified.stderr);

    for (lie, expected) in [
        (["--gate", "ListFromCacheSnapshot=false"], [SNAPSHOTS.as_slice(), &[AT_THE_LATEST]].concat()),
        (["--gate", "WatchList=false"], [["watch, RV unset"].as_slice(), &WATCH_LISTS].concat()),
        (["--etcd-version", "3.5.10"], [CONSISTENT_LISTS.as_slice(), &[AT_THE_LATEST], &WATCH_LISTS].concat()),
        (["--server-version", "1.31.14"], [SNAPSHOTS.as_slice(), &[AT_THE_LATEST, "watch, RV unset"], &WATCH_LISTS].concat()),
    ] {
        let verified = verify(&cluster, &[ROLES, lie].concat());
        assert_eq!(verified.disagreeing(), expected, "{lie:?} {verified:?}");
        assert_eq!((verified.exit_code, &verified.document["tally"]["noisy"]), (Some(1), &0.into()), "{lie:?}");
    }
}

#[test]
fn disabled_gates_are_detected_without_a_flag() {
    let off = "--feature-gates=ListFromCacheSnapshot=false,WatchList=false".to_owned();
    let cluster = Cluster::start(&Options { api_server_arguments: vec![off], ..Options::default() }).unwrap();
    let verified = verify(&cluster, &ROLES);
    assert_eq!((verified.exit_code, verified.disagreeing()), (Some(0), vec![]), "{verified:?}");
    assert_eq!(verified.row("list, RV=N, Exact")["predicted"], "Etcd");
}

#[test]
fn older_server_agrees_with_the_rules_of_its_own_version() {
    let cluster = Cluster::start(&Options { minor: Minor(31), ..Options::default() }).unwrap();
    let verified = verify(&cluster, &ROLES);
    assert_eq!((verified.exit_code, verified.disagreeing()), (Some(0), vec![]), "{verified:?}");
    let lied = verify(&cluster, &[ROLES, ["--server-version", "1.34.4"]].concat());
    let expected = [SNAPSHOTS.as_slice(), &[AT_THE_LATEST, "watch, RV unset"], &WATCH_LISTS].concat();
    assert_eq!((lied.exit_code, lied.disagreeing()), (Some(1), expected));
}

#[test]
fn user_without_metrics_access_gets_the_missing_rbac_rule() {
    let cluster = Cluster::shared().unwrap();
    let verified = verify_as(&cluster.kubeconfig_visitor().unwrap(), &[]);
    assert_eq!(verified.exit_code, Some(125));
    for expected in ["answered /metrics with 403", "nonResourceURLs: [\"/metrics\"]", "verbs: [\"get\"]"] {
        assert!(verified.stderr.contains(expected), "{}", verified.stderr);
    }
}

#[test]
fn every_credential_kind_can_verify() {
    let cluster = Cluster::shared().unwrap();
    for kubeconfig in [
        cluster.kubeconfig_client_cert().unwrap(),
        cluster.kubeconfig_exec_token().unwrap(),
        cluster.kubeconfig_exec_certificate().unwrap(),
    ] {
        let verified = verify_as(&kubeconfig, &[ROLES, ["--shape", "get, RV=0"]].concat());
        assert_eq!(verified.exit_code, Some(0), "{} {verified:?}", kubeconfig.display());
        assert_eq!(verified.document["tally"]["agree"], 1);
    }
}

#[test]
fn disturbed_rows_are_noisy_and_count_other_requests() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let audit_log = cluster.audit_log_file();
    let stop = AtomicBool::new(false);
    let client = cluster.client_for_bulk().unwrap();
    let verified = thread::scope(|scope| {
        let _stopped = SetWhenDropped(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                client.get("/apis/rbac.authorization.k8s.io/v1/roles").unwrap();
            }
        });
        let watched = ["--shape", "list, RV=N, Exact", "--audit-log", audit_log.to_str().unwrap()];
        let lie = ["--gate", "ListFromCacheSnapshot=false"];
        verify(&cluster, &[ROLES.as_slice(), &watched, &lie].concat())
    });
    assert_eq!((verified.exit_code, verified.disagreeing()), (Some(2), vec![]), "{verified:?}");
    for row in verified.rows().filter(|row| row["judgement"] == "Noisy") {
        assert!(row["attempts"].as_array().unwrap().iter().all(|attempt| attempt["other_requests"].as_u64() > Some(0)), "{row:#}");
    }
    assert!(verified.document["tally"]["noisy"].as_u64() > Some(0));
}

#[test]
fn etcd_log_is_a_witness_and_one_without_reads_is_refused() {
    let loud = Options { etcd_arguments: vec!["--log-level=debug".to_owned()], ..Options::default() };
    let cluster = Cluster::start(&loud).unwrap();
    let log = cluster.etcd_log_file();
    let verified = verify(&cluster, &[ROLES.as_slice(), &["--etcd-log", log.to_str().unwrap()]].concat());
    assert_eq!(verified.exit_code, Some(0), "{verified:?}");
    assert_eq!(verified.document["witnesses"][1], "etcd's log");

    let quiet = Cluster::shared().unwrap();
    let log = quiet.etcd_log_file();
    let verified = verify(quiet, &[ROLES.as_slice(), &["--etcd-log", log.to_str().unwrap()]].concat());
    assert_eq!(verified.exit_code, Some(125), "{verified:?}");
    assert!(verified.stderr.contains("contains none of the last reads"), "{}", verified.stderr);
}

#[test]
fn missing_watch_permission_is_noted_without_disagreement() {
    let cluster = Cluster::start(&Options::default()).unwrap();
    let client = cluster.client();
    let rules = json!([
        {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["list", "get"]},
        {"nonResourceURLs": ["/metrics"], "verbs": ["get"]},
    ]);
    let api = "/apis/rbac.authorization.k8s.io/v1";
    let metadata = json!({"name": "lists"});
    client.post(&format!("{api}/clusterroles"), &json!({"metadata": metadata, "rules": rules})).unwrap().success().unwrap();
    let subjects = json!([{"kind": "User", "name": "visitor", "apiGroup": "rbac.authorization.k8s.io"}]);
    let role = json!({"kind": "ClusterRole", "name": "lists", "apiGroup": "rbac.authorization.k8s.io"});
    let binding = json!({"metadata": metadata, "subjects": subjects, "roleRef": role});
    client.post(&format!("{api}/clusterrolebindings"), &binding).unwrap().success().unwrap();
    let verified = verify_as(&cluster.kubeconfig_visitor().unwrap(), &[ROLES.as_slice(), &["--shape", "watch"]].concat());
    assert_eq!((verified.exit_code, verified.disagreeing()), (Some(2), vec![]), "{verified:?}");
    assert!(verified.rows().all(|row| row["note"] == "you may not watch it"), "{verified:?}");
}

#[test]
fn unusable_resource_is_named_with_the_reason() {
    let cluster = Cluster::shared().unwrap();
    for (resource, expected) in [
        ("nosuchthings", "serves no resource `nosuchthings`"),
        ("deployments.no.such.group", "serves no resource `deployments.no.such.group`"),
        ("../secrets", "serves no resource `../secrets`"),
        ("replicationcontrollers", "replicationcontrollers cannot be used: it has 0 objects; a second page needs two"),
    ] {
        let verified = verify(cluster, &["--resource", resource]);
        assert_eq!(verified.exit_code, Some(125), "{verified:?}");
        assert!(verified.stderr.contains(expected), "{}", verified.stderr);
    }
}

/// Sets the flag when it is dropped, so that a thread that waits for the flag also ends if the test fails.
struct SetWhenDropped<'s>(&'s AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug)]
struct Verified {
    exit_code: Option<i32>,
    document: Value,
    stderr: String,
}

impl Verified {
    fn rows(&self) -> impl Iterator<Item = &Value> {
        self.document["rows"].as_array().unwrap().iter()
    }

    #[track_caller]
    fn row(&self, shape: &str) -> &Value {
        self.rows().find(|row| row["shape"] == shape).unwrap()
    }

    fn disagreeing(&self) -> Vec<&str> {
        self.rows().filter(|row| row["judgement"] == "Disagree").map(|row| row["shape"].as_str().unwrap()).collect()
    }
}

#[track_caller]
fn verify(cluster: &Cluster, arguments: &[&str]) -> Verified {
    verify_as(&cluster.kubeconfig_token().unwrap(), arguments)
}

#[track_caller]
fn verify_as(kubeconfig: &Path, arguments: &[&str]) -> Verified {
    let mut command = watchtap().unwrap();
    command.args(["verify", "--format", "json"]).args(arguments).env("KUBECONFIG", kubeconfig);
    let output = output_within(&mut command, ENDS_WITHIN).unwrap();
    Verified {
        exit_code: output.status.code(),
        document: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
