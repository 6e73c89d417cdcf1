//! Containers of a pod, as containerd has them: signals, and the network that they share. The API server is not needed for this.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::namespace::Namespace;

/// A container of a pod, or the first process of the pod, which keeps its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPod<'a> {
    /// The container with this name.
    Container(&'a str),
    /// The container `pause`. Without it, kubelet ends all containers of the pod, and starts the pod again.
    Sandbox,
}

/// A running container.
struct Task {
    id: String,
    /// Its first process, as the node numbers it.
    process: u32,
}

impl Namespace<'_> {
    /// Sends a signal, such as `SIGKILL`, to the first process of a container.
    pub fn signal(&self, pod: &str, which: InPod<'_>, signal: &str) -> Result<()> {
        let task = self.task(pod, which)?;
        self.containerd(&["tasks", "kill", "--signal", signal, &task.id]).map(drop)
    }

    /// Runs `work` on a thread in the network of a pod, as if on a thread of one of its containers.
    pub fn in_network_of<T: Send>(&self, pod: &str, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        let process = self.task(pod, InPod::Sandbox)?.process;
        self.node().in_network_of(process, work)
    }

    /// The PID on the node of the first process of a container.
    pub fn process(&self, pod: &str, which: InPod<'_>) -> Result<u32> {
        Ok(self.task(pod, which)?.process)
    }

    fn task(&self, pod: &str, which: InPod<'_>) -> Result<Task> {
        let kind = match which {
            InPod::Container(name) => format!(r#"labels."io.kubernetes.container.name"=={name}"#),
            InPod::Sandbox => r#"labels."io.cri-containerd.kind"==sandbox"#.to_owned(),
        };
        let of_pod =
            format!(r#"labels."io.kubernetes.pod.namespace"=={},labels."io.kubernetes.pod.name"=={pod},{kind}"#, self.name());
        let ids = self.containerd(&["containers", "list", "--quiet", &of_pod])?;
        // Containers that have ended have no task.
        let tasks = self.containerd(&["tasks", "list"])?;
        for line in tasks.lines().skip(1) {
            let mut words = line.split_whitespace();
            let (Some(id), Some(process), Some("RUNNING")) = (words.next(), words.next(), words.next()) else { continue };
            if ids.lines().any(|of_pod| of_pod == id) {
                return Ok(Task { id: id.to_owned(), process: process.parse().context("ctr prints no process ID")? });
            }
        }
        bail!("{which:?} of {pod} does not run")
    }

    fn containerd(&self, arguments: &[&str]) -> Result<String> {
        let output = self.node().command(Path::new("ctr"))?.args(["--namespace", "k8s.io"]).args(arguments).output()?;
        ensure!(output.status.success(), "ctr {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }
}
