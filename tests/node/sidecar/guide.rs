//! The commands of `deploy/README.md`, as they stand there, from a Deployment without a sidecar to the page, and back.
//!
//! Commands 1 and 2 build the image, which takes minutes, and push it to a registry. They run if `cargo xtask test` has built the image
//! before, because then most of it is there. Else an image with the program of the tests is loaded under the name that they give it.
//!
//! The way back starts without kubectl's record of the last `apply`, as after Helm, Flux or a server-side apply.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use observer_tests::node::{Node, Registry};
use observer_tests::pod_client::PodClient;
use observer_tests::{Screen, built, kubectl, output_within, wait_within};
use serde_json::Value;

use super::stage::Stage;

/// The image in the commands.
const IMAGE: &str = concat!("registry.example:5000/watchtap:", env!("CARGO_PKG_VERSION"));
const REGISTRY: &str = "registry.example:5000";
/// Set if the image was built, for this machine's architecture (`xtask/src/test/command.rs`).
const IS_BUILT: &str = "WATCHTAP_TESTS_IMAGE";
/// The architecture of the commands is that of this machine.
const FITS: bool = cfg!(target_arch = "x86_64");
/// The namespace in the commands.
const NAMESPACE: &str = "my-system";
const LIMIT: Duration = Duration::from_mins(2);
/// The build takes seconds if nothing has changed.
const BUILT_WITHIN: Duration = Duration::from_mins(20);

#[test]
fn commands_of_the_guide_lead_to_the_page_of_a_controller_and_back() {
    let commands = commands();
    let [build, push, inject, wait, attach, back] = commands.as_slice() else { panic!("{commands:#?}") };
    assert!(build.starts_with("cargo xtask image ") && build.contains(&format!("--name {IMAGE} ")), "{build}");
    assert!(push.ends_with(&format!("docker://{IMAGE}")), "{push}");

    let node = Node::shared().unwrap();
    let stage = Stage::prepare(&node, "guide");
    let registry = if FITS && std::env::var_os(IS_BUILT).is_some() {
        Some(build_and_push(&node, build, push))
    } else {
        let replaced = "replaced: commands 1 and 2 of deploy/README.md. `cargo xtask test --only image,node` on x86-64 runs them";
        writeln!(std::io::stdout().lock(), "{replaced}").unwrap();
        stage.load_watchtap(IMAGE);
        None
    };
    stage.load(PodClient::KubeRs).expect("kube-rs needs nothing that is not here");
    stage.namespace.apply(&Stage::deployment(PodClient::KubeRs, "my-controller")).unwrap();
    stage.namespace.wait("deployment/my-controller", "condition=Available").unwrap();
    let original = spec(&stage);

    let programs = tempfile::tempdir().unwrap();
    symlink(built("watchtap").unwrap(), programs.path().join("watchtap")).unwrap();
    symlink(kubectl().unwrap(), programs.path().join("kubectl")).unwrap();
    let shell = |line: &str| {
        let mut shell = node.command(Path::new("bash")).unwrap();
        let path = format!("{}:/usr/bin:/bin", programs.path().display());
        shell.arg("-euc").arg(line.replace(NAMESPACE, stage.namespace.name())).env("PATH", path).env("TERM", "xterm-256color");
        shell
    };
    run(shell(inject), LIMIT);
    run(shell(wait), LIMIT);
    if registry.is_some() {
        assert_eq!(pulled(&stage), format!("{REGISTRY}/watchtap"));
    }

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
    let calls = stage.calls("my-controller");
    assert_eq!((calls.count("list"), calls.count("watch")), (2, 2), "{calls}");

    let without_record = "kubectl.kubernetes.io/last-applied-configuration-";
    stage.namespace.kubectl(&["annotate", "deployment/my-controller", without_record]).unwrap();
    run(shell(back), LIMIT);
    run(shell(wait), LIMIT);
    assert_eq!(spec(&stage), original);
}

/// Runs the commands 1 and 2 in a folder of this checkout. The registry of the second one is on the node.
fn build_and_push(node: &Node, build: &str, push: &str) -> Registry {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    fs::create_dir_all(&target).unwrap();
    let folder = tempfile::tempdir_in(target).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-euc", build]).current_dir(folder.path());
    run(shell, BUILT_WITHIN);

    let registry = node.registry(REGISTRY).unwrap();
    let mut shell = node.command(Path::new("sh")).unwrap();
    let arguments = ["-euc".as_ref(), OsStr::new("cd \"$0\"; eval \"$1\""), folder.path().as_ref(), push.as_ref()];
    shell.args(arguments).env("SSL_CERT_FILE", registry.authority());
    run(shell, LIMIT);
    registry
}

/// Where the image of the sidecar in the pods came from, without its digest.
fn pulled(stage: &Stage<'_>) -> String {
    let pods = stage.namespace.kubectl(&["get", "pods", "--selector", "app=my-controller", "--output", "json"]).unwrap();
    let pods: Value = serde_json::from_str(&pods).unwrap();
    let injected =
        pods["items"].as_array().unwrap().iter().find_map(|pod| pod["status"]["initContainerStatuses"][0]["imageID"].as_str());
    injected.unwrap_or_else(|| panic!("{pods}")).split('@').next().unwrap().to_owned()
}

/// The commands in the fenced blocks of the guide's first chapter.
fn commands() -> Vec<String> {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/README.md")).unwrap();
    let chapter = guide.split("\n## ").find(|chapter| chapter.starts_with("A controller's page")).unwrap();
    let blocks = chapter.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| block.replace("\\\n", " ").trim().to_owned()).collect()
}

/// The template of the Deployment, as the API server has it.
fn spec(stage: &Stage<'_>) -> Value {
    stage.namespace.object("deployment/my-controller").unwrap()["spec"]["template"].clone()
}

#[track_caller]
fn run(mut command: Command, limit: Duration) {
    let output = output_within(&mut command, limit).unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
}
