//! A namespace with the images, objects and pods of the measurements.

use std::fmt::Write as _;

use anyhow::{Context, Result};
use observer_tests::node::{Image, Namespace, Node, PodSecurity};
use observer_tests::{go_trivial, go_workload};
use serde_json::Value;

use super::image::Sidecar;

const WATCHTAP: &str = "localhost/watchtap:1";
const WORKLOAD: &str = "localhost/workload:1";
const APP: &str = "localhost/app:1";
const TRIVIAL: &str = "localhost/trivial:1";
const STARTING: &str = "localhost/starting:1";
/// The folder of the sidecar's certificate authority. It is emptied before each start that is measured.
const OWN: &str = "/var/run/secrets/watchtap/own";

const OBJECTS: &str = "
apiVersion: v1
kind: ServiceAccount
metadata: {name: workload}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: workload}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: workload, namespace: NAMESPACE}]
";
/// The config maps that are read and changed. Their content is as large as that of a typical small object.
const CONFIG_MAPS: [&str; 2] = ["read", "changed"];
const CONTENT_BYTES: usize = 500;

/// The sidecar of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// None.
    Nothing,
    /// In a pod that is the same otherwise: a program that does nothing but answer the startup probe.
    Trivial,
    Watchtap,
    /// A program that starts watchtap several times, and prints how long each start took.
    Starting,
}

/// Where the pods run.
#[derive(Debug)]
pub(super) struct Stage<'n> {
    pub(super) node: &'n Node,
    pub(super) namespace: Namespace<'n>,
    sidecar: &'n Sidecar,
}

impl<'n> Stage<'n> {
    /// Loads the images, and creates the namespace with its objects. [`Beside::Starting`] starts watchtap `starts` times.
    pub(super) fn prepare(node: &'n Node, sidecar: &'n Sidecar, starts: u32) -> Result<Self> {
        let (workload, trivial) = (go_workload()?, go_trivial()?);
        sidecar.load(node, WATCHTAP)?;
        let program = |name: &str| Image::new(name).copy(&trivial, "/trivial");
        let starts = starts.to_string();
        node.load(&Image::new(WORKLOAD).copy(workload, "/workload").entrypoint(&["/workload"]))?;
        node.load(&program(APP).entrypoint(&["/trivial", "app"]))?;
        node.load(&program(TRIVIAL).entrypoint(&["/trivial", "sidecar"]))?;
        node.load(&sidecar.add_to(program(STARTING)).entrypoint(&["/trivial", "start", &starts, OWN, "/watchtap"]))?;
        let namespace = node.namespace("bench", PodSecurity::Baseline)?;
        let mut objects = OBJECTS.replace("NAMESPACE", namespace.name());
        for name in CONFIG_MAPS {
            let content = "x".repeat(CONTENT_BYTES);
            write!(objects, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{content: {content}}}\n")?;
        }
        namespace.apply(&objects)?;
        Ok(Self { node, namespace, sidecar })
    }

    /// Starts a pod whose container runs a task of the workload, and waits until it is ready.
    pub(super) fn run(&self, name: &str, task: &str, beside: Beside) -> Result<Value> {
        self.namespace.apply(&self.manifest(name, WORKLOAD, task, beside)?)?;
        self.namespace.wait(&format!("pod/{name}"), "condition=Ready")?;
        self.namespace.object(&format!("pod/{name}"))
    }

    /// Runs a task of the workload in the container of a pod, and returns what it reports.
    pub(super) fn task(&self, pod: &str, arguments: &[&str]) -> Result<Value> {
        let command: Vec<&str> = ["/workload"].iter().chain(arguments).copied().collect();
        let printed = self.namespace.exec(pod, "app", &command)?;
        serde_json::from_str(&printed).with_context(|| format!("{arguments:?} printed {printed:?}"))
    }

    /// The manifest of a pod whose container only prints when it started.
    pub(super) fn app(&self, name: &str, beside: Beside) -> Result<String> {
        self.manifest(name, APP, "", beside)
    }

    fn manifest(&self, name: &str, image: &str, task: &str, beside: Beside) -> Result<String> {
        let pod = format!(
            "apiVersion: v1
kind: Pod
metadata:
  name: {name}
spec:
  serviceAccountName: workload
  terminationGracePeriodSeconds: 5
  containers:
  - name: app
    image: {image}
    args: [{task}]
"
        );
        match beside {
            Beside::Nothing => Ok(pod),
            // All but the program is the same, so the difference is that of the programs.
            Beside::Watchtap => self.sidecar.inject(WATCHTAP, &pod),
            Beside::Trivial => self.sidecar.inject(TRIVIAL, &pod),
            Beside::Starting => self.sidecar.inject(STARTING, &pod),
        }
    }
}
