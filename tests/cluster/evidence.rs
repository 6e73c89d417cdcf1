//! Tests each proof of the catalogue with answers of a real API server. A proof confirms the verdict if the server profile is
//! correct, and contradicts it if the profile is wrong.
//!
//! [`NOT_SEEN`] lists the combinations that are impossible in principle or with this server, with the reason. A proof that is
//! neither seen nor listed there nor in [`OF_LOGS`] fails the test.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use observer_core::routing::all_proofs;
use observer_tests::{Client, Cluster, ExecSession, Options, Signal};
use serde_json::{Value, json};

use super::eventually::eventually;

const NAMESPACE: &str = "evidence";
const CONFIRMED: &str = "Confirmed";
const CONTRADICTED: &str = "Contradicted";
/// A revision that no server here reaches.
const FUTURE: u64 = 1 << 40;
/// Maximum number of custom resources, until one is requested before its cache is ready.
const TRIES: usize = 30;

/// A request, and the proof that its answer gives.
struct Case {
    proof: &'static str,
    certainty: &'static str,
    /// watchtap's flags about the server; without flags it learns.
    flags: &'static [&'static str],
    path: String,
    who: TestUser,
    /// Whether an object of another resource is written first, through watchtap, so that watchtap knows a newer revision.
    after_write: bool,
    served_from: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TestUser {
    Admin,
    /// A user without permission to list.
    Visitor,
    /// A user whose priority level has no seat.
    Seatless,
}

/// Combinations that cannot be seen, with the reason.
const NOT_SEEN: [(&str, &str, &str); 10] = [
    (
        "initial-events-ended",
        CONTRADICTED,
        "every layer that a watch can be predicted to come from can send initial events; where a refusal is predicted, not-refused says it",
    ),
    ("other-revision-than-named", CONFIRMED, "a list of the revision that was named is what every layer answers"),
    (
        "other-revision-than-named",
        CONTRADICTED,
        "no server of 1.29 and later does it; 1.18 and earlier, which pass resourceVersionMatch over, cannot be built",
    ),
    ("refused-in-plain-text", CONTRADICTED, "flow control may refuse whatever is predicted"),
    ("refused-by-validation", CONFIRMED, "where a refusal is predicted, refused-as-predicted says it"),
    ("not-refused", CONFIRMED, "it is the opposite of what was predicted"),
    ("refused-as-predicted", CONTRADICTED, "it is what was predicted"),
    ("answered-with-an-error", CONFIRMED, "a proxy answers so, or a server that fails; a sound one does not"),
    ("answered-with-an-error", CONTRADICTED, "it may come whatever is predicted"),
    ("refused-before-storage", CONTRADICTED, "authentication and authorisation may refuse whatever is predicted"),
];

/// Proofs that only the logs of servers give, which no answer shows.
const OF_LOGS: [&str; 5] = ["etcd-time-logged", "no-etcd-time-logged", "etcd-list-traced", "cache-list-traced", "etcd-read-logged"];

const UNCACHED: &[&str] = &["--uncached", "podtemplates"];
/// Servers of 1.28 and 1.29 with this gate treat every list as consistent.
const ALPHA: &[&str] = &["--server-version", "1.29.0", "--gate", "ConsistentListFromCache=true"];

#[test]
fn each_proof_confirms_under_a_true_profile_and_contradicts_a_false_one() {
    let cluster = cluster();
    let mut seen = BTreeSet::new();
    for case in cases() {
        println!("{} {}: {:?} {}", case.proof, case.certainty, case.flags, case.path);
        check(&cluster, &case);
        seen.insert((case.proof, case.certainty));
    }
    for (certainty, flags) in [(CONFIRMED, &[][..]), (CONTRADICTED, &["--server-version", "1.30.4"])] {
        check_not_ready(&cluster, certainty, flags);
        seen.insert(("cache-not-ready", certainty));
    }
    for proof in all_proofs().map(|proof| proof.id.as_str()) {
        for certainty in [CONFIRMED, CONTRADICTED] {
            let reasons = NOT_SEEN.iter().filter(|(not_seen, what, _)| (*not_seen, *what) == (proof, certainty)).count();
            let [found, of_logs] = [seen.contains(&(proof, certainty)), OF_LOGS.contains(&proof)].map(usize::from);
            assert_eq!(reasons + found + of_logs, 1, "{proof} {certainty}: a case, or a reason why there is none");
        }
    }
}

fn cases() -> Vec<Case> {
    let configmaps = format!("/api/v1/namespaces/{NAMESPACE}/configmaps");
    let podtemplates = format!("/api/v1/namespaces/{NAMESPACE}/podtemplates");
    let watch_list = "watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let refused = |status: u16, etcd_touched: bool| json!({"Rejected": {"status": status, "etcd_touched": etcd_touched}});
    let case = |proof, certainty, flags, path: String, served_from| Case {
        proof,
        certainty,
        flags,
        path,
        who: TestUser::Admin,
        after_write: false,
        served_from,
    };
    let of_any = json!({"Unknown": {"reason": "Contradicted", "remaining": ["Cache", "CacheConsistent"]}});
    let any_read = json!({"Unknown": {"reason": "Contradicted", "remaining": ["Cache", "CacheConsistent", "Snapshot", "Etcd"]}});

    let ignored = format!("{configmaps}?limit=2&resourceVersion=0");
    let paged = format!("{podtemplates}?limit=2&resourceVersion=0");
    let behind = format!("/api/v1/namespaces/{NAMESPACE}/limitranges?resourceVersion=0");
    let too_large = format!("{configmaps}?resourceVersion={FUTURE}&resourceVersionMatch=NotOlderThan&limit=2");
    let in_etcd = format!("{podtemplates}?resourceVersion={FUTURE}");
    let compacted = format!("{podtemplates}?resourceVersion=2&resourceVersionMatch=Exact");
    let window = format!("{configmaps}?watch=1&timeoutSeconds=1&resourceVersion=1");
    let watch_compacted = format!("{podtemplates}?watch=1&timeoutSeconds=1&resourceVersion=2");
    vec![
        case("more-than-the-limit", CONFIRMED, &[], ignored.clone(), json!("Cache")),
        case("more-than-the-limit", CONTRADICTED, &["--uncached", "configmaps"], ignored, of_any.clone()),
        case("paged-at-rv0", CONFIRMED, UNCACHED, paged.clone(), json!("Etcd")),
        case("paged-at-rv0", CONTRADICTED, ALPHA, paged, json!("Etcd")),
        Case { after_write: true, ..case("behind-what-was-seen", CONFIRMED, &[], behind.clone(), json!("Cache")) },
        Case { after_write: true, ..case("behind-what-was-seen", CONTRADICTED, ALPHA, behind, json!("Cache")) },
        case("too-large-after-waiting", CONFIRMED, &[], too_large.clone(), refused(504, false)),
        case("too-large-after-waiting", CONTRADICTED, &["--server-version", "1.30.4"], too_large, refused(504, false)),
        case("too-large-in-etcd", CONFIRMED, UNCACHED, in_etcd.clone(), refused(504, true)),
        case("too-large-in-etcd", CONTRADICTED, &["--server-version", "1.34.4"], in_etcd, refused(504, true)),
        case("compacted-in-etcd", CONFIRMED, UNCACHED, compacted.clone(), refused(410, true)),
        // Servers before 1.19 ignore resourceVersionMatch.
        case("compacted-in-etcd", CONTRADICTED, &["--server-version", "1.18.4"], compacted, refused(410, true)),
        case("event-window-passed", CONFIRMED, &[], window.clone(), json!("Cache")),
        case("event-window-passed", CONTRADICTED, &["--uncached", "configmaps"], window, of_any),
        case("watch-compacted-in-etcd", CONFIRMED, UNCACHED, watch_compacted.clone(), json!("Etcd")),
        case("watch-compacted-in-etcd", CONTRADICTED, &["--server-version", "1.34.4"], watch_compacted, json!("Etcd")),
        case(
            "initial-events-ended",
            CONFIRMED,
            &["--no-version-request", "--no-metrics-request"],
            format!("{configmaps}?resourceVersion=0&{watch_list}"),
            json!("Cache"),
        ),
        Case { who: TestUser::Seatless, ..case("refused-in-plain-text", CONFIRMED, &[], configmaps.clone(), refused(429, false)) },
        Case { who: TestUser::Visitor, ..case("refused-before-storage", CONFIRMED, &[], configmaps.clone(), refused(403, false)) },
        case("refused-as-predicted", CONFIRMED, &[], format!("{configmaps}?resourceVersionMatch=Exact"), refused(422, false)),
        // Only 1.27 and later know the option, and refuse it for lists.
        case(
            "refused-by-validation",
            CONTRADICTED,
            &["--server-version", "1.26.0"],
            format!("{configmaps}?sendInitialEvents=true"),
            refused(422, false),
        ),
        case("not-refused", CONTRADICTED, &["--gate", "WatchList=false"], format!("{configmaps}?{watch_list}"), any_read.clone()),
        case("not-refused", CONTRADICTED, &["--server-version", "1.31.4"], format!("{configmaps}?{watch_list}"), any_read),
    ]
}

#[track_caller]
fn check(cluster: &Cluster, case: &Case) {
    let session = ExecSession::start(&cluster.kubeconfig_token().unwrap(), case.flags).unwrap();
    if case.after_write {
        let admin = by_way_of(&session, cluster, TestUser::Admin);
        // An up-to-date list of the resource shows that it shares its etcd with others.
        admin.get(case.path.split('?').next().unwrap()).unwrap();
        let object = json!({"metadata": {"generateName": "newer-"}});
        admin.post(&format!("/api/v1/namespaces/{NAMESPACE}/configmaps"), &object).unwrap().success().unwrap();
    }
    let client = by_way_of(&session, cluster, case.who);
    let waits = (case.who == TestUser::Seatless).then(|| take_the_last_seat(cluster));
    client.raw("GET", &case.path, &[], b"").unwrap();
    if let Some(waits) = waits {
        waits.join().unwrap();
    }
    let finished = session.finish().unwrap();
    let record = finished.report["requests"].as_array().unwrap().last().unwrap();
    let verdict = &record["verdict"];
    let told = (&verdict["certainty"], &verdict["proof"], &verdict["served_from"]);
    assert_eq!(told, (&json!(case.certainty), &json!(case.proof), &case.served_from), "{:?} {}: {record:#}", case.flags, case.path);
    check_contradicted_event(case.certainty, case.proof, verdict, &finished.events);
    if case.who != TestUser::Seatless {
        assert!(record["audit_id"].is_string(), "every answer that passed flow control has an Audit-Id: {record:#}");
    }
}

/// Checks that a contradiction gives an event with both layers, and that nothing else does.
#[track_caller]
fn check_contradicted_event(certainty: &str, proof: &str, verdict: &Value, events: &[Value]) {
    let contradictions: Vec<&Value> = events.iter().filter(|event| event["event"] == "contradicted").collect();
    if certainty == CONTRADICTED {
        let [event] = contradictions[..] else { panic!("{proof}: {contradictions:#?}") };
        assert_eq!((&event["verdict"]["proof"], &event["verdict"]["served_from"]), (&json!(proof), &verdict["served_from"]));
        assert!(!event["verdict"]["predicted"].is_null() && event["because"].is_string(), "{event:#}");
    } else {
        assert!(contradictions.is_empty(), "{proof}: {contradictions:#?}");
    }
}

/// Requests custom resources immediately after their definition, until one is not ready.
#[track_caller]
fn check_not_ready(cluster: &Cluster, certainty: &str, flags: &[&str]) {
    let session = ExecSession::start(&cluster.kubeconfig_token().unwrap(), flags).unwrap();
    let client = by_way_of(&session, cluster, TestUser::Admin);
    let refused = (0..TRIES).any(|number| {
        let plural = format!("{}{number}s", certainty.to_lowercase());
        define(cluster, &plural);
        client.raw("GET", &format!("/apis/evidence.example.com/v1/{plural}"), &[], b"").unwrap().status == 429
    });
    assert!(refused, "no cache that was not ready in {TRIES} tries");
    let finished = session.finish().unwrap();
    let verdict = &finished.report["requests"].as_array().unwrap().last().unwrap()["verdict"];
    assert_eq!((&verdict["certainty"], &verdict["proof"]), (&json!(certainty), &json!("cache-not-ready")), "{verdict:#}");
    check_contradicted_event(certainty, "cache-not-ready", verdict, &finished.events);
}

fn by_way_of(session: &ExecSession, cluster: &Cluster, who: TestUser) -> Client {
    let authority = session.kubeconfig()["clusters"][0]["cluster"]["certificate-authority-data"].as_str().unwrap();
    let authority = String::from_utf8(base64::Engine::decode(&base64::prelude::BASE64_STANDARD, authority).unwrap()).unwrap();
    let token = match who {
        TestUser::Admin => cluster.admin_token(),
        TestUser::Visitor => cluster.visitor_token(),
        TestUser::Seatless => &cluster.service_account_token(NAMESPACE, "seatless").unwrap(),
    };
    Client::of_server(session.server().unwrap(), &authority, token).unwrap()
}

/// Starts a cluster with a watch cache for config maps and none for pod templates, a user without a seat, and a compacted history.
fn cluster() -> Cluster {
    let arguments = ["--watch-cache-sizes=podtemplates#0", "--etcd-compaction-interval=2s"];
    let options = Options { api_server_arguments: arguments.map(str::to_owned).to_vec(), ..Options::default() };
    let mut cluster = Cluster::start(&options).unwrap();
    cluster.create_configmaps(NAMESPACE, 5).unwrap();
    let client = cluster.client();
    let template = json!({"metadata": {}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    for number in 0..5 {
        let object = json!({"metadata": {"name": format!("template-{number}")}, "template": template});
        client.post(&format!("/api/v1/namespaces/{NAMESPACE}/podtemplates"), &object).unwrap().success().unwrap();
    }
    leave_without_a_seat(&cluster);
    // The event windows start after all these writes.
    cluster.stop_api_server(Signal::Kill).unwrap();
    cluster.wait_stopped().unwrap();
    cluster.start_api_server().unwrap();
    let compacted = format!("/api/v1/namespaces/{NAMESPACE}/podtemplates?resourceVersion=2&resourceVersionMatch=Exact");
    eventually(|| (client.raw("GET", &compacted, &[], b"").unwrap().status == 410).then_some(())).expect("etcd is compacted");
    cluster
}

fn leave_without_a_seat(cluster: &Cluster) {
    let flow_control = "/apis/flowcontrol.apiserver.k8s.io/v1";
    let limited = json!({"nominalConcurrencyShares": 0, "lendablePercent": 0, "borrowingLimitPercent": 0, "limitResponse": {"type": "Reject"}});
    let level = json!({"metadata": {"name": "seatless"}, "spec": {"type": "Limited", "limited": limited}});
    cluster.service_account_token(NAMESPACE, "seatless").unwrap();
    let subject = json!({"kind": "ServiceAccount", "serviceAccount": {"name": "seatless", "namespace": NAMESPACE}});
    let everything = json!({"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "clusterScope": true, "namespaces": ["*"]});
    let schema = json!({"metadata": {"name": "seatless"}, "spec": {
        "priorityLevelConfiguration": {"name": "seatless"},
        "matchingPrecedence": 2,
        "rules": [{"subjects": [subject], "resourceRules": [everything]}],
    }});
    for (path, object) in [("prioritylevelconfigurations", level), ("flowschemas", schema)] {
        cluster.client().post(&format!("{flow_control}/{path}"), &object).unwrap().success().unwrap();
    }
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"});
    let account = json!({"kind": "ServiceAccount", "name": "seatless", "namespace": NAMESPACE});
    let binding = json!({"metadata": {"name": "seatless"}, "roleRef": role, "subjects": [account]});
    cluster.client().post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", &binding).unwrap().success().unwrap();
}

/// Occupies the priority level that has no seat: it admits a request only if no other one is running. This request waits for a
/// revision.
#[track_caller]
fn take_the_last_seat(cluster: &Cluster) -> JoinHandle<()> {
    let bearer = format!("Bearer {}", cluster.service_account_token(NAMESPACE, "seatless").unwrap());
    let status = {
        let (client, bearer) = (cluster.client(), bearer.clone());
        move |query: &str| {
            let path = format!("/api/v1/namespaces/{NAMESPACE}/configmaps{query}");
            client.raw("GET", &path, &[("Authorization", &bearer)], b"").unwrap().status
        }
    };
    let (waiting, over) = (status.clone(), Arc::new(AtomicBool::new(false)));
    let done = Arc::clone(&over);
    let waits = thread::spawn(move || {
        while !done.load(Ordering::Relaxed) {
            waiting(&format!("?resourceVersion={FUTURE}"));
        }
    });
    eventually(|| (status("") == 429).then_some(())).expect("flow control refuses who has no seat");
    over.store(true, Ordering::Relaxed);
    waits
}

/// Defines a custom resource, and waits until it is served.
fn define(cluster: &Cluster, plural: &str) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.evidence.example.com")},
        "spec": {
            "group": "evidence.example.com", "scope": "Cluster",
            "names": {"plural": plural, "singular": plural, "kind": plural.to_uppercase()},
            "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}],
        },
    });
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    cluster.client().post(definitions, &definition).unwrap().success().unwrap();
    let established = || {
        let found = cluster.client().get(&format!("{definitions}/{plural}.evidence.example.com")).unwrap().json().unwrap();
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|condition| condition["type"] == "Established" && condition["status"] == "True")
    };
    eventually(|| established().then_some(())).expect("a custom resource is served");
}
