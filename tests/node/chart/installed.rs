//! A release of the chart on a node, by Helm 4.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use observer_tests::node::{Namespace, Node, PodSecurity};
use observer_tests::{AllObjects, Helm, HelmRelease, built, chart, output_within};
use serde_json::Value;

/// The image of these tests: its tag is the version, as in the chart. The node has it already. Its registry is another one than in the
/// commands, because `sidecar::guide` pulls the image of those.
pub(crate) const IMAGE: &str = concat!("charts.example:5000/watchtap:", env!("CARGO_PKG_VERSION"));
pub(crate) const LIMIT: Duration = Duration::from_mins(3);

/// A release in a namespace of its own. Both end when this is dropped.
pub(crate) struct Installed<'n> {
    node: &'n Node,
    pub(crate) namespace: Namespace<'n>,
    helm: Helm,
}

impl<'n> Installed<'n> {
    /// Installs the chart, and waits until its webhook answers.
    pub(super) fn on(node: &'n Node) -> Self {
        // A pod whose admission takes longer starts without a sidecar, and this machine starts many pods at once.
        Self::with(node, ("webhook", PodSecurity::Restricted), &["webhook.timeoutSeconds=30"])
    }

    /// Installs the chart with these values in a new namespace, given by its prefix and level, and waits until its pods are ready.
    pub(crate) fn with(node: &'n Node, (prefix, security): (&str, PodSecurity), values: &[&str]) -> Self {
        let namespace = node.namespace(prefix, security).unwrap();
        let installed = Self { node, namespace, helm: Helm::of(HelmRelease::V4).unwrap() };
        let chart = chart().display().to_string();
        let (registry, name_and_version) = IMAGE.split_once('/').unwrap();
        let (name, _) = name_and_version.split_once(':').unwrap();
        let image = [format!("--set=image.registry={registry}"), format!("--set=image.repository={name}")];
        let values: Vec<String> = values.iter().map(|value| format!("--set={value}")).collect();
        let values = values.iter().map(String::as_str);
        let install = ["install", "watchtap", &chart, "--wait", &image[0], &image[1]];
        installed.helm(&install.into_iter().chain(values).collect::<Vec<_>>());
        installed
    }

    /// The names of the webhook's pods.
    pub(super) fn replicas(&self) -> Vec<String> {
        let selector = "app.kubernetes.io%2Fcomponent%3Dwebhook";
        let path = format!("/api/v1/namespaces/{}/pods?labelSelector={selector}", self.namespace.name());
        let pods = self.node.get(&path).unwrap();
        pods["items"].as_array().unwrap().iter().map(|pod| pod["metadata"]["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Sets the number of the webhook's pods.
    pub(super) fn scale(&self, replicas: usize) {
        let replicas = format!("--replicas={replicas}");
        self.namespace.kubectl(&["scale", "deployment/watchtap-webhook", &replicas]).unwrap();
    }

    fn helm(&self, arguments: &[&str]) {
        let mut command = self.node.command(self.helm.program()).unwrap();
        let home = self.node.folder().join("helm");
        let folders = ["HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME"].map(|name| (name, home.join(name)));
        command.args(arguments).args(["--namespace", self.namespace.name()]).envs(folders);
        run(command);
    }
}

impl Drop for Installed<'_> {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.helm(&["uninstall", "watchtap", "--wait"]);
        }
    }
}

/// The report of `watchtap status` on a namespace, as JSON.
pub(super) fn status(node: &Node, namespace: &str) -> Value {
    let mut command = node.command(&built("watchtap").unwrap()).unwrap();
    command.args(["status", "--namespace", namespace, "--format", "json"]);
    let output = output_within(&mut command, LIMIT).unwrap();
    // 3: a pod has no sidecar that runs.
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!([Some(0), Some(3)].contains(&output.status.code()), "{errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// All objects of the node's cluster, without those that kubelet and controllers change by themselves.
pub(crate) fn all_objects(node: &Node) -> AllObjects {
    let objects = AllObjects::read(|path| node.get(path)).unwrap();
    objects.without("/nodes/").without("/csinodes/")
}

/// Waits until no namespace of an earlier test is being deleted.
pub(crate) fn settle(node: &Node) {
    let is_active = |namespace: &Value| namespace["status"]["phase"] == "Active";
    let all_active = || node.get("/api/v1/namespaces").unwrap()["items"].as_array().unwrap().iter().all(is_active);
    eventually(|| expect(&all_active(), &true));
}

/// Waits until a condition holds, which controllers bring about. Until then, it returns what is not as it should be.
#[track_caller]
pub(crate) fn eventually(mut condition: impl FnMut() -> Result<(), String>) {
    const PAUSE: Duration = Duration::from_millis(100);
    let started = Instant::now();
    while let Err(wrong) = condition() {
        assert!(started.elapsed() < LIMIT, "after {LIMIT:?}: {wrong}");
        thread::sleep(PAUSE);
    }
}

/// Compares a value with the expected one.
pub(crate) fn expect<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{found:?} instead of {expected:?}")) }
}

/// Runs a command, and returns its output.
#[track_caller]
pub(crate) fn run(mut command: Command) -> String {
    let output = output_within(&mut command, LIMIT).unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out
}

/// A shell for the commands of the guide, in the root of this checkout.
pub(super) fn shell(node: &Node, programs: &Path, line: &str) -> Command {
    let mut shell = node.command(Path::new("bash")).unwrap();
    let home = node.folder().join("helm");
    let path = format!("{}:/usr/bin:/bin", programs.display());
    // Entering the mounts of the node changes the folder.
    shell.args(["-euc", "cd \"$0\"; eval \"$1\""]).arg(chart().join("../..")).arg(line);
    shell.env("PATH", path).env("TERM", "xterm-256color").env("HOME", home);
    shell
}
