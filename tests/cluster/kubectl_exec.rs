//! `watchtap exec -- kubectl …` on a real API server: verdicts compared with the server's own counters.

use std::ops::Deref;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use observer_tests::{Cluster, ListCounters, Options, kubectl, watchtap};
use serde_json::{Value, json};

/// The output of a run of `watchtap exec`.
struct Run {
    output: Output,
    report: Value,
    /// The changes of the server's counters for config maps during the run.
    moved: ListCounters,
}

#[test]
fn kubectl_get_pages_come_from_cache_and_snapshots() {
    let cluster = with_configmaps();
    let run = exec(&cluster, &[kubectl_path(), "get", "configmaps", "-A", "-o", "name"]);
    assert!(run.output.status.success(), "{run:#?}", run = run.output);
    let lists = lists(&run.report);
    let served: Vec<&Value> = lists.iter().map(|list| &list["verdict"]["served_from"]).collect();
    assert_eq!(served, ["CacheConsistent", "Snapshot", "Snapshot"]);
    let items: Vec<u64> = lists.iter().map(|list| list["items"].as_u64().unwrap()).collect();
    let total = configmaps(&cluster);
    assert_eq!(items, [500, 500, total - 1000]);
    assert!(lists.iter().all(|list| list["bytes"].as_u64().unwrap() > 10_000 && list["end"] == "complete"), "{lists:#?}");
    assert_eq!(run.report["missed"]["bytes"], 0);
    // The first page is a consistent read. No page is read from etcd.
    let expected = ListCounters { cache_lists: 3, storage_lists: 1, etcd_gets: 1, etcd_lists: 0, consistent_reads: 1 };
    assert_eq!(run.moved, expected);
}

/// The same command with two profiles: an old server, given by flag, and the actual one.
#[test]
fn label_selector_of_kubectl_get_is_applied_after_reading() {
    let cluster = with_configmaps();
    let kubeconfig = cluster.kubeconfig_token().unwrap();
    let pods = json!({
        "operation": "Range", "purpose": "Data", "key": "/registry/pods/default/", "range_end": "/registry/pods/default0", "limit": 500,
        "repeated": true,
    });
    let filtered = json!(["selectors filter after reading: every object of the range is read"]);
    for (flags, served_from, read, notes) in
        [(&["--server-version", "v1.20.15"][..], "Etcd", Some(&pods), filtered), (&[], "CacheConsistent", None, Value::Null)]
    {
        let run = exec_with(&cluster, &kubeconfig, flags, &[kubectl_path(), "get", "pods", "-n", "default", "-l", "app=x"]);
        let [list] = of_verb(&run.report, "list", "pods").try_into().unwrap();
        let verdict = &list["verdict"];
        assert_eq!((&list["options"], &verdict["served_from"]), (&json!("limit=500 · labels app=x"), &json!(served_from)));
        assert_eq!(
            (verdict["etcd_reads"].get(0).filter(|read| read["purpose"] == "Data"), &verdict["notes"]),
            (read, &notes),
            "{verdict:#}"
        );
    }
}

#[test]
fn list_at_rv_0_comes_from_the_cache() {
    let cluster = with_configmaps();
    let run = exec(&cluster, &[kubectl_path(), "get", "--raw", "/api/v1/configmaps?resourceVersion=0&limit=10"]);
    let [list] = lists(&run.report).try_into().unwrap();
    assert_eq!(list["verdict"]["served_from"], "Cache");
    assert_eq!(list["items"], configmaps(&cluster), "RV=0 ignores the limit");
    assert_eq!(run.moved, ListCounters { cache_lists: 1, ..ListCounters::default() });
}

#[test]
fn exact_list_of_a_listed_revision_is_a_snapshot() {
    let cluster = with_configmaps();
    let kubectl = kubectl_path();
    let script = format!(
        "set -e; rv=$({kubectl} get --raw /api/v1/configmaps?resourceVersion=0 | grep -o '\"resourceVersion\":\"[0-9]*\"' | head -n 1 | \
         tr -dc 0-9); {kubectl} get --raw \"/api/v1/configmaps?resourceVersion=$rv&limit=3\" >/dev/null"
    );
    let run = exec(&cluster, &["sh", "-c", &script]);
    assert!(run.output.status.success(), "{}", String::from_utf8_lossy(&run.output.stderr));
    let [any, exact] = lists(&run.report).try_into().unwrap();
    assert_eq!((&any["verdict"]["served_from"], &exact["verdict"]["served_from"]), (&json!("Cache"), &json!("Snapshot")));
    assert_eq!(exact["items"], 3);
    assert_eq!(run.moved, ListCounters { cache_lists: 2, ..ListCounters::default() });
}

#[test]
fn exact_list_of_an_unseen_revision_is_unknown() {
    let cluster = with_configmaps();
    let run = exec(&cluster, &[kubectl_path(), "get", "--raw", "/api/v1/configmaps?resourceVersion=2&limit=3"]);
    let [list] = lists(&run.report).try_into().unwrap();
    let unknown = &list["verdict"]["served_from"]["Unknown"];
    assert_eq!(unknown["remaining"], json!(["Snapshot", "Etcd"]), "{list:#?}");
    let from_snapshot = ListCounters { cache_lists: 1, ..ListCounters::default() };
    let from_etcd = ListCounters { storage_lists: 1, etcd_lists: 1, ..ListCounters::default() };
    assert!([from_snapshot, from_etcd].contains(&run.moved), "{:?} is one of the two", run.moved);
}

#[test]
fn get_of_an_object_reads_etcd() {
    let cluster = with_configmaps();
    let run = exec(&cluster, &[kubectl_path(), "get", "--raw", "/api/v1/namespaces/many/configmaps/cm-0"]);
    let gets = of_verb(&run.report, "get", "configmaps");
    assert_eq!(gets[0]["verdict"]["served_from"], "Etcd");
    assert_eq!(run.moved, ListCounters { etcd_gets: 1, ..ListCounters::default() });
}

#[test]
fn client_certificate_user_is_kept_through_watchtap() {
    let cluster = with_configmaps();
    let kubeconfig = cluster.kubeconfig_client_cert().unwrap();
    let run =
        exec_with(&cluster, &kubeconfig, &[], &[kubectl_path(), "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"]);
    assert_eq!(String::from_utf8_lossy(&run.output.stdout), "certificate-admin", "{:?}", run.output);
}

#[test]
fn forbidden_user_is_refused_through_watchtap() {
    let cluster = with_configmaps();
    let kubeconfig = cluster.kubeconfig_visitor().unwrap();
    let run = exec_with(&cluster, &kubeconfig, &[], &[kubectl_path(), "get", "configmaps", "-A"]);
    assert_eq!(run.output.status.code(), Some(1), "kubectl's own exit code");
    assert!(String::from_utf8_lossy(&run.output.stderr).contains("Forbidden"), "{:?}", run.output);
    let [list] = lists(&run.report).try_into().unwrap();
    assert_eq!(list["verdict"]["served_from"]["Rejected"]["status"], 403);
}

#[test]
fn kubectl_watch_is_followed_until_complete() {
    let cluster = with_configmaps();
    let args = [kubectl_path(), "get", "--raw", "/api/v1/namespaces/many/configmaps?watch=true&timeoutSeconds=1&resourceVersion=0"];
    let run = exec(&cluster, &args);
    let watches = of_verb(&run.report, "watch", "configmaps");
    assert_eq!(watches.len(), 1);
    assert_eq!(watches[0]["watch"]["added"], 1200, "{:#?}", watches[0]);
    assert_eq!(watches[0]["end"], "complete");
}

/// A cluster of these tests only, with 1 200 config maps. The counters are per server, so these tests run one at a time.
struct Quiet {
    cluster: &'static Cluster,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Quiet {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        self.cluster
    }
}

fn with_configmaps() -> Quiet {
    static TURN: Mutex<()> = Mutex::new(());
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let cluster = CLUSTER.get_or_init(|| {
        // Every five minutes, the server would compare its cache with etcd, and count the two lists of that.
        let arguments = vec!["--feature-gates=DetectCacheInconsistency=false".to_owned()];
        let cluster = Cluster::start(&Options { api_server_arguments: arguments, ..Options::default() }).unwrap();
        cluster.create_configmaps("many", 1200).unwrap();
        cluster
    });
    Quiet { cluster, _turn: turn }
}

fn configmaps(cluster: &Cluster) -> u64 {
    let list = cluster.raw("GET", "/api/v1/configmaps?resourceVersion=0", &[], b"").unwrap().success().unwrap().json().unwrap();
    list["items"].as_array().unwrap().len() as u64
}

fn kubectl_path() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| kubectl().expect("kubectl is on the PATH").to_str().unwrap().to_owned())
}

#[track_caller]
fn exec(cluster: &Cluster, command: &[&str]) -> Run {
    exec_with(cluster, &cluster.kubeconfig_token().unwrap(), &[], command)
}

#[track_caller]
fn exec_with(cluster: &Cluster, kubeconfig: &Path, flags: &[&str], command: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report.json");
    let before = cluster.counters("configmaps").unwrap();
    let mut watchtap: Command = watchtap().unwrap();
    let output = watchtap
        .args(["exec", "--format", "json", "--report"])
        .arg(&report)
        .args(flags)
        .arg("--")
        .args(command)
        .env("KUBECONFIG", kubeconfig)
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let moved = cluster.counters("configmaps").unwrap() - before;
    let text = std::fs::read_to_string(&report).unwrap_or_else(|error| panic!("no report: {error}; {output:?}"));
    Run { output, report: serde_json::from_str(&text).unwrap(), moved }
}

fn lists(report: &Value) -> Vec<Value> {
    of_verb(report, "list", "configmaps")
}

fn of_verb(report: &Value, verb: &str, resource: &str) -> Vec<Value> {
    let requests = report["requests"].as_array().unwrap();
    requests.iter().filter(|request| request["verb"] == verb && request["resource"] == resource).cloned().collect()
}
