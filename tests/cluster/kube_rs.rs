//! A kube-rs watcher under `watchtap exec`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use observer_tests::{Cluster, wait_within, watchtap};
use serde_json::{Value, json};
use tempfile::TempDir;

const NAMESPACE: &str = "kube-rs";
const AT_FIRST: usize = 20;
const ADDED: usize = 5;
/// The added objects, one update and one delete.
const EVENTS: usize = ADDED + 2;

#[test]
fn kube_rs_list_and_watch_arrive_complete_and_are_reported() {
    let cluster = Cluster::shared().unwrap();
    cluster.create_configmaps(NAMESPACE, AT_FIRST).unwrap();
    let mut watcher = Watcher::start(cluster);
    watcher.follow(|watcher| watcher.listed);
    assert_eq!(watcher.objects, direct_list(cluster));

    cluster.create_configmaps(NAMESPACE, AT_FIRST + ADDED).unwrap();
    let changed = json!({"data": {"changed": "yes"}}).to_string();
    let merge = [("Content-Type", "application/merge-patch+json")];
    cluster.raw("PATCH", &path("/cm-0"), &merge, changed.as_bytes()).unwrap().success().unwrap();
    cluster.raw("DELETE", &path("/cm-1"), &[], b"").unwrap().success().unwrap();
    watcher.follow(|watcher| watcher.events == EVENTS);
    assert_eq!(watcher.objects, direct_list(cluster));

    let report = watcher.finish();
    let requests = report["requests"].as_array().unwrap();
    let [list, watch] = requests.as_slice() else { panic!("one list, one watch: {requests:#?}") };
    check_list(list);
    check_watch(watch);
    assert_eq!((&report["missed"]["bytes"], &report["exit_code"]), (&json!(0), &json!(0)));
}

/// kube-rs lists 500 objects per page and without a resourceVersion (kube-runtime 5.0, `watcher::Config::default`).
#[track_caller]
fn check_list(list: &Value) {
    assert_eq!((&list["verb"], &list["resource"]), (&json!("list"), &json!("configmaps")));
    assert_eq!(list["list_options"]["limit"], 500, "{list:#?}");
    assert_eq!(list["list_options"]["resource_version"], "unset", "{list:#?}");
    assert_eq!(list["verdict"]["served_from"], "CacheConsistent", "{list:#?}");
    assert_eq!((&list["items"], &list["end"]), (&json!(AT_FIRST), &json!("complete")), "{list:#?}");
}

/// It watches from the list's revision and requests bookmarks; the client ends the watch.
#[track_caller]
fn check_watch(watch: &Value) {
    assert_eq!((&watch["verb"], &watch["resource"]), (&json!("watch"), &json!("configmaps")));
    assert_eq!(watch["verdict"]["served_from"], "Cache", "{watch:#?}");
    let counted = ["added", "modified", "deleted"].map(|kind| watch["watch"][kind].as_u64().unwrap());
    assert_eq!(counted, [ADDED as u64, 1, 1], "{watch:#?}");
}

/// `watchtap exec -- kube-watcher`, and its output so far.
struct Watcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    folder: TempDir,
    /// Resource version by name.
    objects: BTreeMap<String, String>,
    listed: bool,
    events: usize,
}

impl Watcher {
    fn start(cluster: &Cluster) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = watchtap()
            .unwrap()
            .args(["exec", "--format", "json", "--report"])
            .arg(folder.path().join("report.json"))
            .args(["--", env!("CARGO_BIN_EXE_kube-watcher"), NAMESPACE, &EVENTS.to_string()])
            .env("KUBECONFIG", cluster.kubeconfig_token().unwrap())
            .env("HOME", folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, folder, objects: BTreeMap::new(), listed: false, events: 0 }
    }

    /// Reads the watcher's output until `enough`.
    #[track_caller]
    fn follow(&mut self, enough: impl Fn(&Self) -> bool) {
        while !enough(self) {
            let line = self.lines.next().expect("the watcher has more to say").unwrap();
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["initial-list-done"] => self.listed = true,
                ["listed", name, revision] => self.insert(name, revision),
                ["applied", name, revision] => {
                    self.events += 1;
                    self.insert(name, revision);
                }
                ["deleted", name, _] => {
                    self.events += 1;
                    assert!(self.objects.remove(name).is_some(), "{name} was there");
                }
                _ => panic!("unknown line: {line}"),
            }
        }
    }

    fn insert(&mut self, name: &str, revision: &str) {
        self.objects.insert(name.to_owned(), revision.to_owned());
    }

    /// Waits until the watcher exits by itself, and reads the report.
    #[track_caller]
    fn finish(mut self) -> Value {
        let status = wait_within(&mut self.child, Duration::from_secs(30)).unwrap();
        assert!(status.success(), "{status}");
        serde_json::from_str(&std::fs::read_to_string(self.folder.path().join("report.json")).unwrap()).unwrap()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It still runs only if the test fails.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn direct_list(cluster: &Cluster) -> BTreeMap<String, String> {
    let list = cluster.raw("GET", &path(""), &[], b"").unwrap().success().unwrap().json().unwrap();
    let text = |item: &Value, field: &str| item["metadata"][field].as_str().unwrap().to_owned();
    list["items"].as_array().unwrap().iter().map(|item| (text(item, "name"), text(item, "resourceVersion"))).collect()
}

fn path(rest: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps{rest}")
}
