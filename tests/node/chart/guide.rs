//! The commands of `deploy/README.md` for a cluster, as they stand there: from `helm install` to the page, and back to a cluster that has no
//! object of ours.

use observer_tests::node::Node;
use observer_tests::pod_client::PodClient;
use observer_tests::{Helm, HelmRelease, Screen, wait_within};

use super::commands::{Guide, commands_of};
use super::installed::{IMAGE, LIMIT, all_objects, eventually, expect, run, settle};
use crate::sidecar::stage::Stage;

/// The workload in the commands, and its namespace.
const WORKLOAD: &str = "deployment/my-controller";
const PLACE: &str = "my-system";

#[test]
fn commands_of_the_guide_install_the_webhook_and_leave_nothing_after_its_end() {
    let commands = commands_of("A cluster with the webhook");
    let [install, label, status, attach, unlabel, uninstall] = commands.as_slice() else { panic!("{commands:#?}") };
    let node = Node::alone().unwrap();
    let stage = Stage::prepare(&node, "by-label");
    stage.load_watchtap(IMAGE);
    stage.load(PodClient::KubeRs).expect("kube-rs needs nothing that is not here");
    settle(&node);
    let before = all_objects(&node);

    for release in HelmRelease::ALL {
        let helm = Helm::of(release).unwrap();
        let guide = Guide::of(&node, &helm, &[(PLACE, stage.namespace.name())]);
        let command = |line: &str| guide.command(line);
        run(command(install));
        stage.namespace.apply(&Stage::deployment(PodClient::KubeRs, "my-controller")).unwrap();
        stage.namespace.wait(WORKLOAD, "condition=Available").unwrap();
        let original = stage.namespace.object(WORKLOAD).unwrap()["spec"]["template"].clone();
        run(command(label));
        let reported = run(command(status));
        assert!(reported.contains("my-controller"), "{reported}");

        let mut screen = Screen::open(LIMIT).unwrap();
        screen.resize(120, 40).unwrap();
        let mut page = screen.start(&command(attach)).unwrap();
        let shown = screen.wait_for("[1 Reflectors(1)]").unwrap();
        let row = shown.lines().find(|line| line.contains("configmaps")).unwrap_or_else(|| panic!("{shown}"));
        assert!(row.contains("app:my-controller") && row.contains("watching"), "{shown}");
        screen.press("q").unwrap();
        assert_eq!(wait_within(&mut page, LIMIT).unwrap().code(), Some(0));
        let calls = stage.calls("my-controller");
        assert!(calls.count("list") >= 2, "{calls}");

        run(command(unlabel));
        assert_eq!(stage.namespace.object(WORKLOAD).unwrap()["spec"]["template"], original);
        run(command(uninstall));
        stage.namespace.delete(WORKLOAD).unwrap();
        // Controllers remove what belongs to deleted objects, such as the Secret with the webhook's CA.
        eventually(|| expect(&before.differences(&all_objects(&node)), &Vec::new()));
    }
}
