//! Exec plugins with kube-rs.

use std::process::Stdio;
use std::time::Duration;

use observer_tests::{Cluster, Lines, wait_within, watchtap};

const LIMIT: Duration = Duration::from_mins(1);
const NAMESPACE: &str = "exec-plugins";

#[test]
fn kube_rs_watcher_authenticates_with_a_plugin_certificate() {
    let cluster = Cluster::shared().unwrap();
    cluster.create_configmaps(NAMESPACE, 1).unwrap();
    let mut child = watchtap()
        .unwrap()
        .args(["exec", "--", env!("CARGO_BIN_EXE_kube-watcher"), NAMESPACE, "1"])
        .env("KUBECONFIG", cluster.kubeconfig_exec_certificate().unwrap())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = Lines::of(child.stdout.take().unwrap(), LIMIT);
    let output = || lines.next_line().unwrap().expect("it has more to say");
    assert!(output().starts_with("listed cm-0 "));
    assert_eq!(output(), "initial-list-done");
    cluster.create_configmaps(NAMESPACE, 2).unwrap();
    assert!(output().starts_with("applied cm-1 "));
    assert!(wait_within(&mut child, LIMIT).unwrap().success());
}
