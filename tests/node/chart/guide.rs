//! The commands of `deploy/README.md` for a cluster, as they stand there: from `helm install` to the page, and back to a cluster that has no
//! object of ours.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use observer_tests::node::Node;
use observer_tests::pod_client::PodClient;
use observer_tests::{Helm, HelmRelease, Screen, built, chart, kubectl, wait_within};

use super::installed::{IMAGE, LIMIT, REGISTRY_OF_THE_GUIDE, all_objects, eventually, expect, run, settle, shell};
use crate::sidecar::stage::Stage;

/// The workload in the commands, and its namespace.
const WORKLOAD: &str = "deployment/my-controller";
const PLACE: &str = "my-system";

#[test]
fn commands_of_the_guide_install_the_webhook_and_leave_nothing_after_its_end() {
    let commands = commands();
    let [install, label, status, attach, unlabel, uninstall] = commands.as_slice() else { panic!("{commands:#?}") };
    let node = Node::alone().unwrap();
    let stage = Stage::prepare(&node, "by-label");
    stage.load_watchtap(IMAGE);
    stage.load(PodClient::KubeRs).expect("kube-rs needs nothing that is not here");
    settle(&node);
    let before = all_objects(&node);

    for release in HelmRelease::ALL {
        let programs = tempfile::tempdir().unwrap();
        let helm = Helm::of(release).unwrap();
        for (name, program) in
            [("watchtap", built("watchtap")), ("kubectl", Ok(kubectl().unwrap())), ("helm", Ok(helm.program().to_owned()))]
        {
            symlink(program.unwrap(), programs.path().join(name)).unwrap();
        }
        let (registry, _) = IMAGE.split_once('/').unwrap();
        let command = |line: &str| -> Command {
            let line = line.replace(PLACE, stage.namespace.name()).replace(REGISTRY_OF_THE_GUIDE, registry);
            shell(&node, programs.path(), &line)
        };
        assert!(install.contains(REGISTRY_OF_THE_GUIDE), "{install}");
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

/// The commands in the fenced blocks of the chapter, without those of its sections.
fn commands() -> Vec<String> {
    let guide = fs::read_to_string(chart().join("../README.md")).unwrap();
    let chapter = guide.split("\n## ").find(|chapter| chapter.starts_with("A cluster with the webhook")).unwrap();
    let chapter = chapter.split("\n### ").next().unwrap();
    let blocks = chapter.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| block.replace("\\\n", " ").trim().to_owned()).collect()
}
