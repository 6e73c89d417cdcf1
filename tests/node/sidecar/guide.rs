//! The commands of `deploy/README.md`, as they stand there, from a Deployment without a sidecar to the page, and back.
//!
//! Commands 1 and 2 build the image and push it to a registry. Here, the image is loaded under the name that they give it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use observer_tests::node::Node;
use observer_tests::pod_client::{Calls, PodClient};
use observer_tests::{Screen, built, kubectl, output_within, wait_within};
use serde_json::Value;

use super::stage::Stage;

/// The image in the commands.
const IMAGE: &str = "registry.example/watchtap:0.1.0";
/// The namespace in the commands.
const NAMESPACE: &str = "my-system";
const LIMIT: Duration = Duration::from_mins(2);

#[test]
fn commands_of_the_guide_lead_to_the_page_of_a_controller_and_back() {
    let commands = commands();
    let [build, push, inject, wait, attach, back] = commands.as_slice() else { panic!("{commands:#?}") };
    assert!(build.starts_with(&format!("cargo xtask image --name {IMAGE} ")), "{build}");
    assert!(push.ends_with(&format!("docker://{IMAGE}")), "{push}");

    let node = Node::shared().unwrap();
    let stage = Stage::prepare(&node, "guide");
    stage.load_watchtap(IMAGE);
    stage.load(PodClient::KubeRs).expect("kube-rs needs nothing that is not here");
    stage.namespace.apply(&deployment()).unwrap();
    stage.namespace.wait("deployment/my-controller", "condition=Available").unwrap();
    let original = spec(&stage);

    let programs = tempfile::tempdir().unwrap();
    symlink(built("watchtap").unwrap(), programs.path().join("watchtap")).unwrap();
    symlink(kubectl().unwrap(), programs.path().join("kubectl")).unwrap();
    let shell = |line: &str| {
        let mut shell = node.command(Path::new("sh")).unwrap();
        let path = format!("{}:/usr/bin:/bin", programs.path().display());
        shell.arg("-euc").arg(line.replace(NAMESPACE, stage.namespace.name())).env("PATH", path).env("TERM", "xterm-256color");
        shell
    };
    run(shell(inject));
    run(shell(wait));

    let mut screen = Screen::open(LIMIT).unwrap();
    screen.resize(120, 40).unwrap();
    let mut page = screen.start(&shell(attach)).unwrap();
    let shown = screen.wait_for("[1 Reflectors(1)]").unwrap();
    let row = shown.lines().find(|line| line.contains("configmaps")).unwrap_or_else(|| panic!("{shown}"));
    assert!(row.contains("app:my-controller") && row.contains("watching"), "{shown}");
    screen.press("2").unwrap();
    let requests = screen.wait_for("SERVED FROM").unwrap();
    assert!(requests.contains("cache, consistent"), "{requests}");
    screen.press("q").unwrap();
    assert_eq!(wait_within(&mut page, LIMIT).unwrap().code(), Some(0));

    // The list that the page shows is one of the server's, for each of the two pods that there were.
    let calls = Calls::of(&node.audit_log().unwrap(), "my-controller");
    assert_eq!((calls.count("list"), calls.count("watch")), (2, 2), "{calls}");

    run(shell(back));
    run(shell(wait));
    assert_eq!(spec(&stage), original);
}

/// The commands in the fenced blocks of the guide's first chapter.
fn commands() -> Vec<String> {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/README.md")).unwrap();
    let chapter = guide.split("\n## ").find(|chapter| chapter.starts_with("A controller's page")).unwrap();
    let blocks = chapter.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| block.replace("\\\n", " ").trim().to_owned()).collect()
}

fn deployment() -> String {
    let pod = Stage::pod(PodClient::KubeRs, "my-controller");
    let spec = pod.split_once("spec:\n").unwrap().1;
    let spec = spec.trim_end().replace('\n', "\n    ");
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: my-controller
spec:
  selector:
    matchLabels: {{app: my-controller}}
  template:
    metadata:
      labels: {{app: my-controller}}
    spec:
    {spec}
"
    )
}

/// The template of the Deployment, as the API server has it.
fn spec(stage: &Stage<'_>) -> Value {
    stage.namespace.object("deployment/my-controller").unwrap()["spec"]["template"].clone()
}

#[track_caller]
fn run(mut command: Command) {
    let output = output_within(&mut command, LIMIT).unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
}
