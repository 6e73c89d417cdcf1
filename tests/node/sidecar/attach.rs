//! `watchtap attach` to the sidecar of a pod, by kubectl.

use std::time::Duration;

use observer_tests::node::Node;
use observer_tests::pod_client::PodClient;
use observer_tests::{Screen, built, output_within, wait_within};
use serde_json::Value;

use super::stage::{Stage, WATCHTAP, inject};

const LIMIT: Duration = Duration::from_mins(1);

#[test]
fn attached_page_and_report_show_the_reflectors_of_a_pod() {
    let node = Node::shared().unwrap();
    let stage = Stage::prepare(&node, "attach");
    stage.load(PodClient::KubeRs).expect("kube-rs needs nothing that is not here");
    stage.namespace.apply(&inject(&Stage::pod(PodClient::KubeRs, "app"))).unwrap();
    stage.namespace.wait("pod/app", "condition=Ready").unwrap();
    stage.namespace.follow_logs("app", "app").unwrap().line_with("synced").unwrap();

    let mut screen = Screen::open(LIMIT).unwrap();
    screen.resize(120, 40).unwrap();
    let mut attach = node.command(&built("watchtap").unwrap()).unwrap();
    attach.args(["attach", "pod/app", "--namespace", stage.namespace.name()]).env("TERM", "xterm-256color");
    let mut page = screen.start(&attach).unwrap();
    let shown = screen.wait_for("[1 Reflectors(1)]").unwrap();
    let row = shown.lines().find(|line| line.contains("configmaps"));
    assert!(row.is_some_and(|row| row.contains("app:app") && row.contains("watching")), "{shown}");
    screen.press("q").unwrap();
    assert_eq!(wait_within(&mut page, LIMIT).unwrap().code(), Some(0));

    let mut attach = node.command(&built("watchtap").unwrap()).unwrap();
    attach.args(["attach", "pod/app", "--namespace", stage.namespace.name(), "--format", "json"]);
    let output = output_within(&mut attach, LIMIT).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let by_server = stage.calls("app");
    let [reflector] = report["reflectors"].as_array().unwrap().as_slice() else { panic!("{report:#}") };
    assert_eq!((&reflector["resource"], &reflector["state"]), (&"configmaps".into(), &"watching".into()), "{report:#}");
    assert_eq!((by_server.count("list"), by_server.count("watch")), (1, 1), "{by_server}");
    // Numbers that are 0 are left out.
    assert_eq!(report["totals"]["relists"], Value::Null, "{report:#}");
}

#[test]
fn other_containers_of_the_pod_do_not_reach_the_socket() {
    let node = Node::shared().unwrap();
    let stage = Stage::prepare(&node, "intruder");
    let pod = Stage::pod_of("intruder", WATCHTAP, "attach, --socket, /var/run/secrets/watchtap/own/attach.sock, --format, json");
    stage.namespace.apply(&inject(&pod.replace("  containers:", "  restartPolicy: Never\n  containers:"))).unwrap();
    stage.namespace.wait("pod/intruder", "jsonpath={.status.phase}=Failed").unwrap();
    let log = stage.namespace.logs("intruder", "app").unwrap();
    assert!(log.contains("attach.sock") && log.contains("No such file"), "{log}");
}
