//! A Kubernetes namespace for one test.

use std::fs;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::kubectl::{Followed, Forwarded};
use super::running::Node;

/// The level of Pod Security that a namespace enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PodSecurity {
    /// Forbids nothing.
    Privileged,
    /// Forbids known ways to more rights.
    Baseline,
    /// Demands what hardened pods have.
    Restricted,
}

impl PodSecurity {
    const fn level(self) -> &'static str {
        match self {
            Self::Privileged => "privileged",
            Self::Baseline => "baseline",
            Self::Restricted => "restricted",
        }
    }
}

/// A namespace on a node. On drop, it is deleted with its pods.
#[derive(Debug)]
pub struct Namespace<'n> {
    node: &'n Node,
    name: String,
}

impl Node {
    /// Creates a namespace, whose name begins with `prefix`, and waits until pods can be created there.
    pub fn namespace(&self, prefix: &str, security: PodSecurity) -> Result<Namespace<'_>> {
        static NAMESPACES: AtomicU32 = AtomicU32::new(1);
        let name = format!("{prefix}-{}", NAMESPACES.fetch_add(1, Ordering::Relaxed));
        let labels = json!({"pod-security.kubernetes.io/enforce": security.level()});
        let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
        let headers = [("Content-Type", "application/json")];
        self.raw("POST", "/api/v1/namespaces", &headers, object.to_string().as_bytes())?.success()?;
        let namespace = Namespace { node: self, name };
        // Controllers create both, and pods cannot start without them.
        namespace.wait("serviceaccount/default", "create")?;
        namespace.wait("configmap/kube-root-ca.crt", "create")?;
        Ok(namespace)
    }
}

impl Namespace<'_> {
    /// The prefix and a number.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) const fn node(&self) -> &Node {
        self.node
    }

    /// The user of a ServiceAccount here, as the audit log has it.
    pub fn user(&self, service_account: &str) -> String {
        format!("system:serviceaccount:{}:{service_account}", self.name)
    }

    /// Runs kubectl in this namespace.
    pub fn kubectl(&self, arguments: &[&str]) -> Result<String> {
        self.node.kubectl(&self.within(arguments))
    }

    /// Creates or changes the objects of a manifest.
    pub fn apply(&self, manifest: &str) -> Result<()> {
        self.node.kubectl_with_input(&self.within(&["apply", "--filename=-"]), manifest).map(drop)
    }

    /// Deletes an object, such as `pod/app`, and waits until it is gone.
    pub fn delete(&self, object: &str) -> Result<()> {
        self.kubectl(&["delete", object]).map(drop)
    }

    /// Waits until an object, such as `pod/app`, satisfies a condition of `kubectl wait`, such as `condition=Ready`. An error has the
    /// state of the object.
    pub fn wait(&self, object: &str, condition: &str) -> Result<()> {
        let condition = format!("--for={condition}");
        self.node.wait(&self.within(&[&condition, object])).with_context(|| {
            let described = self.kubectl(&["describe", object]);
            described.unwrap_or_else(|error| error.to_string())
        })
    }

    /// An object, such as `pod/app`.
    pub fn object(&self, object: &str) -> Result<Value> {
        let text = self.kubectl(&["get", object, "--output=json"])?;
        serde_json::from_str(&text).context("kubectl printed no JSON")
    }

    /// The address of a running pod.
    pub fn address(&self, pod: &str) -> Result<IpAddr> {
        let address = self.object(&format!("pod/{pod}"))?["status"]["podIP"].as_str().map(str::to_owned);
        Ok(address.with_context(|| format!("{pod} has no address"))?.parse()?)
    }

    /// The token that the kubelet has given to a pod, read from the pod's volume on the node.
    pub fn token(&self, pod: &str) -> Result<String> {
        let object = self.object(&format!("pod/{pod}"))?;
        let volumes = object["spec"]["volumes"].as_array().context("the pod has no volumes")?;
        let names = volumes.iter().filter_map(|volume| volume["name"].as_str());
        let volume = names.into_iter().find(|name| name.starts_with("kube-api-access-")).context("the pod has no token")?;
        let id = object["metadata"]["uid"].as_str().context("the pod has no UID")?;
        let file = format!("/var/lib/kubelet/pods/{id}/volumes/kubernetes.io~projected/{volume}/token");
        let output = self.node.command(Path::new("cat"))?.arg(&file).output()?;
        ensure!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Waits until the kubelet has replaced the token `previous` of a pod, and returns the new one.
    pub fn token_after(&self, pod: &str, previous: &str) -> Result<String> {
        const LIMIT: Duration = Duration::from_mins(1);
        const PAUSE: Duration = Duration::from_millis(100);
        let started = Instant::now();
        loop {
            let token = self.token(pod)?;
            if token != previous {
                return Ok(token);
            }
            ensure!(started.elapsed() < LIMIT, "the token of {pod} is the same after {LIMIT:?}");
            thread::sleep(PAUSE);
        }
    }

    /// Runs a command in a container, and returns its output.
    pub fn exec(&self, pod: &str, container: &str, command: &[&str]) -> Result<String> {
        let container = format!("--container={container}");
        let arguments: Vec<&str> = ["exec", pod, &container, "--"].into_iter().chain(command.iter().copied()).collect();
        self.kubectl(&arguments)
    }

    /// The log of a container until now.
    pub fn logs(&self, pod: &str, container: &str) -> Result<String> {
        self.kubectl(&["logs", pod, &format!("--container={container}")])
    }

    /// The logs of all runs of a container, from the files that kubelet has. The API server is not needed for this.
    pub fn log_files(&self, pod: &str, container: &str) -> Result<String> {
        let pods = self.node.folder().join("log/pods");
        let of_pod = format!("{}_{pod}_", self.name);
        let mut logs = String::new();
        for folder in fs::read_dir(&pods).with_context(|| format!("cannot read {}", pods.display()))? {
            let folder = folder?;
            if folder.file_name().to_string_lossy().starts_with(&of_pod) {
                let mut files = fs::read_dir(folder.path().join(container))?.collect::<Result<Vec<_>, _>>()?;
                files.sort_by_key(fs::DirEntry::file_name);
                for file in files {
                    logs += &fs::read_to_string(file.path())?;
                }
            }
        }
        Ok(logs)
    }

    /// The log of a container from its beginning, line by line.
    pub fn follow_logs(&self, pod: &str, container: &str) -> Result<Followed> {
        self.follow(&["logs", "--follow", pod, &format!("--container={container}")])
    }

    /// Starts kubectl in this namespace, and reads its output line by line.
    pub fn follow(&self, arguments: &[&str]) -> Result<Followed> {
        self.node.follow_kubectl(&self.within(arguments))
    }

    /// Forwards a port of the node to a port of a pod.
    pub fn forward(&self, pod: &str, port: u16) -> Result<Forwarded> {
        self.node.forward(&self.within(&[&format!("pod/{pod}")]), port)
    }

    fn within<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        ["--namespace", &self.name].into_iter().chain(arguments.iter().copied()).collect()
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        let path = format!("/api/v1/namespaces/{}", self.name);
        self.node.raw("DELETE", &path, &[], b"").ok();
    }
}
