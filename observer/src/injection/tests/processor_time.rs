//! Pods of strangers: the time for a decision grows with the size of the pod, and not with its square.

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use super::check::options;
use crate::injection::{Admission, admit};
use crate::pod_layout::SERVICE_ACCOUNT;

/// Processor time of a test build for a pod of a few MB. Where each of some 50,000 items is compared with each of as many others, it
/// takes minutes.
const LIMIT_SECONDS: i64 = 10;

fn many(count: usize, item: impl Fn(usize) -> Value) -> Vec<Value> {
    (0..count).map(item).collect()
}

fn container(name: &str, volume: &str) -> Value {
    json!({"name": name, "image": "a", "volumeMounts": [{"name": volume, "mountPath": SERVICE_ACCOUNT}]})
}

fn labelled(spec: &Value) -> Value {
    json!({"metadata": {"labels": {"watchtap.dev/inject": "enabled"}}, "spec": spec})
}

#[track_caller]
fn admitted(spec: &Value) -> Admission {
    let mut pod = labelled(spec);
    let begun = clock_gettime(ClockId::ThreadCPUTime).tv_sec;
    let admission = admit(&mut pod, "shop", &options());
    let took = clock_gettime(ClockId::ThreadCPUTime).tv_sec - begun;
    assert!(took < LIMIT_SECONDS, "{took} s");
    admission
}

#[track_caller]
fn assert_refused(spec: &Value, reason: &str) {
    let Admission::Refused { refusal, .. } = admitted(spec) else { panic!("not refused") };
    assert!(refusal.starts_with(reason), "{refusal}");
}

#[test]
fn containers_times_volumes() {
    let volumes = many(50_000, |_| json!({"name": "v"}));
    let spec =
        |count: usize| json!({"volumes": volumes, "containers": many(count, |number| container(&format!("c{number}"), "w"))});
    assert_refused(&spec(14_000), "the pod has 14000 containers, and watchtap decides about at most 1024");
    assert_refused(&spec(1_024), "the pod has 1024 containers to observe");
}

#[test]
fn containers_times_files_of_their_volume() {
    let items = many(50_000, |_| json!({"path": "token"}));
    let volumes = json!([{"name": "v", "projected": {"sources": [{"secret": {"items": items}}]}}]);
    let spec = json!({"volumes": volumes, "containers": many(1_024, |number| container(&format!("c{number}"), "v"))});
    assert_refused(&spec, "the pod has 1024 containers to observe");
}

#[test]
fn mounts_times_volumes() {
    let mut app = container("app", "token");
    let mounts = app["volumeMounts"].as_array_mut().unwrap();
    mounts.extend(many(40_000, |number| json!({"name": "none", "mountPath": format!("/{number}")})));
    let volumes = many(25_000, |number| json!({"name": format!("v{number}"), "hostPath": {"path": "/opt/cni"}}));
    let Admission::Injected { warnings, .. } = admitted(&json!({"volumes": volumes, "containers": [app]})) else {
        panic!("no sidecar")
    };
    assert_eq!(warnings, Vec::<String>::new());
}

#[test]
fn variables_times_sources_of_variables() {
    let mut app = container("app", "token");
    app["env"] = many(40_000, |number| json!({"name": format!("V{number}"), "value": "a"})).into();
    app["envFrom"] = many(40_000, |_| json!({"secretRef": {"name": "a"}})).into();
    let Admission::Injected { warnings, .. } = admitted(&json!({"containers": [app]})) else { panic!("no sidecar") };
    assert_eq!(warnings.len(), 1);
}

#[test]
fn changes_times_containers() {
    let led = many(128, |number| container(&format!("led{number}"), "token"));
    let others = |count: usize| many(count, |number| json!({"name": format!("c{number}"), "image": "a"}));
    let with = |count: usize| json!({"containers": (others(count).into_iter().chain(led.clone()).collect::<Vec<_>>())});
    assert_refused(&with(60_000), "the pod has 60128 containers");
    let Admission::Injected { led, .. } = admitted(&with(896)) else { panic!("no sidecar") };
    assert_eq!(led.len(), 128);
}
