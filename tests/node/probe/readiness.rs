//! A pod on a node that allows no probe: it stays, reports why, and is not ready.

use observer_tests::node::{InPod, Node, PodSecurity};
use observer_tests::scrape::Scraper;
use serde_json::Value;

use super::pod::pod_without;
use crate::sidecar::stage::Stage;

#[test]
fn pod_without_a_needed_right_stays_and_is_not_ready_for_this_reason() {
    let node = Node::shared().unwrap();
    let stage = Stage::empty(&node, "unready", PodSecurity::Privileged);
    let mut pod = pod_without(Some("BPF"), "unready");
    pod["spec"]["restartPolicy"] = "OnFailure".into();
    stage.namespace.apply(&pod.to_string()).unwrap();
    stage.namespace.wait("pod/unready", "jsonpath={.status.containerStatuses[0].started}=true").unwrap();
    let mut log = stage.namespace.follow_logs("unready", "watchtap").unwrap();
    log.line_with("watchtap waits for its end").unwrap();
    let printed = stage.namespace.logs("unready", "watchtap").unwrap();
    assert!(printed.contains("missing: CAP_BPF (not in effect for this process of user 0); remedy: "), "{printed}");
    assert!(!printed.contains("missing: CAP_PERFMON"), "{printed}");

    let scraper = Scraper::at((stage.namespace.address("unready").unwrap(), 9643).into());
    let answer = |path: &str| node.in_network(|| scraper.get(path, "")).unwrap();
    for path in ["/ready", "/started"] {
        let answer = answer(path);
        assert_eq!((answer.status, answer.text().contains("Missing: CAP_BPF (not in effect")), (503, true), "{answer:?}");
    }
    assert_eq!(answer("/metrics").status, 503);
    let status = status(&stage);
    assert_eq!((&status["ready"], &status["restartCount"]), (&false.into(), &0.into()), "{status:#}");

    // It ends when it is asked to, and that is no failure.
    stage.namespace.signal("unready", InPod::Container("watchtap"), "SIGTERM").unwrap();
    stage.namespace.wait("pod/unready", "jsonpath={.status.phase}=Succeeded").unwrap();
}

fn status(stage: &Stage<'_>) -> Value {
    stage.namespace.object("pod/unready").unwrap()["status"]["containerStatuses"][0].clone()
}
