//! A Kubernetes cluster of one node, with real containers.
//!
//! The kubelet, containerd, scheduler and controllers are real. So are service accounts, RBAC, the Node authorizer, and the
//! admission plugins for service accounts and Pod Security. The cluster has no DNS and no kube-proxy: of the Services, only
//! `kubernetes` answers, and clients reach it by its address. The API server calls webhooks at the addresses of their pods. Nothing gets in or out. So a client that needs the cluster runs
//! inside ([`Node::command`]) or on a thread inside ([`Node::in_network`]).

use std::collections::BTreeSet;
use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::calls::Call;
use super::image::Image;
use super::isolation::Part;
use super::settings;
use super::site::{Program, Site};
use crate::audit;
use crate::client::Response;

/// A running node. Its processes, mounts, cgroups and files disappear when it is dropped or when the test process ends, however it
/// ends.
#[derive(Debug)]
pub struct Node {
    // Fields are dropped in this order: the place after the parts.
    kubelet: Mutex<Option<Part>>,
    _controllers: [Part; 2],
    api_server: Mutex<Option<Part>>,
    _stores: [Part; 2],
    /// Names of the images that pods can have.
    loaded: Mutex<BTreeSet<String>>,
    site: Site,
}

impl Node {
    /// Name of the node at the API server.
    pub const NAME: &str = settings::NAME;

    /// Starts a node, and waits until it is ready. Most tests use [`Node::shared`].
    pub fn start() -> Result<Self> {
        let site = Site::prepare()?;
        let etcd = site.start(Program::Etcd)?;
        let mut api_server = site.start(Program::ApiServer)?;
        let mut containerd = site.start(Program::Containerd)?;
        site.wait_for_containerd(&mut containerd)?;
        site.wait_for_api_server(&mut api_server)?;
        let node = Self {
            kubelet: Mutex::new(Some(site.start(Program::Kubelet)?)),
            _controllers: [site.start(Program::ControllerManager)?, site.start(Program::Scheduler)?],
            api_server: Mutex::new(Some(api_server)),
            _stores: [containerd, etcd],
            loaded: Mutex::default(),
            site,
        };
        node.wait_for_node()?;
        Ok(node)
    }

    fn wait_for_node(&self) -> Result<()> {
        let node = format!("node/{}", settings::NAME);
        self.wait(&["--for=create", &node])?;
        self.wait(&["--for=condition=Ready", &node])
    }

    /// Waits as `kubectl wait` does, by a watch.
    pub(crate) fn wait(&self, arguments: &[&str]) -> Result<()> {
        let all: Vec<&str> = ["wait", "--timeout=90s"].into_iter().chain(arguments.iter().copied()).collect();
        self.kubectl(&all).map(drop)
    }

    /// A command that runs in the namespaces of the node, where `KUBECONFIG` names a member of `system:masters`. It sees the
    /// machine's files, apart from `/run`, `/var/lib` and `/var/log`. It ends with its process here, and with the node.
    pub fn command(&self, program: &Path) -> Result<Command> {
        let mut command = self.site.isolation.command(program)?;
        command.env("KUBECONFIG", self.site.settings.admin_kubeconfig());
        Ok(command)
    }

    /// Runs `work` on a thread in the network of the node. A socket that it opens there stays usable everywhere.
    pub fn in_network<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.site.isolation.in_network(work)
    }

    pub(super) fn in_network_of<T: Send>(&self, process: u32, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.site.isolation.in_network_of(process, work)
    }

    /// A connection from the node to a pod, or to a port that a program forwards.
    pub fn connect(&self, address: SocketAddr) -> Result<TcpStream> {
        self.in_network(|| TcpStream::connect(address).with_context(|| format!("cannot connect to {address}")))
    }

    /// Sends one request to the API server as a member of `system:masters`; see [`crate::Client::raw`].
    pub fn raw(&self, method: &str, path_and_query: &str, headers: &[(&str, &str)], body: &[u8]) -> Result<Response> {
        self.in_network(|| self.site.client.raw(method, path_and_query, headers, body))
    }

    /// Reads an object or a list from the API server.
    pub fn get(&self, path_and_query: &str) -> Result<Value> {
        self.raw("GET", path_and_query, &[], b"")?.success()?.json()
    }

    /// Makes an image available to pods. The second image of a name is taken for the same.
    pub fn load(&self, image: &Image) -> Result<()> {
        let mut loaded = locked(&self.loaded);
        if !loaded.contains(image.name()) {
            self.site.import(image)?;
            loaded.insert(image.name().to_owned());
        }
        Ok(())
    }

    /// Makes the image in the folder of an OCI layout available to pods under this name.
    pub fn load_layout(&self, layout: &Path, name: &str) -> Result<()> {
        self.site.import_layout(layout, name)
    }

    /// The audit events so far, without bodies.
    pub fn audit_log(&self) -> Result<Vec<Value>> {
        audit::read(&self.site.settings.audit_log())
    }

    /// Waits for audit events that satisfy `enough`.
    pub fn audit_log_when(&self, enough: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        audit::read_when(&self.site.settings.audit_log(), enough)
    }

    /// The calls of a user so far, in the order of their arrival.
    pub fn calls(&self, user: &str) -> Result<Vec<Call>> {
        Ok(Call::of_user(user, &self.audit_log()?))
    }

    /// The folder with all files of the node.
    pub fn folder(&self) -> &Path {
        self.site.folder.path()
    }

    /// Name of the cgroup above all pods, in each hierarchy.
    pub fn cgroup(&self) -> &str {
        self.site.settings.cgroup()
    }

    /// A process of the machine: when it has ended, the processes, cgroups and files of the node are gone.
    pub fn leavings(&self) -> u32 {
        self.site.leavings.process_id()
    }

    /// The log of `kubelet`, `kube-apiserver`, `kube-controller-manager`, `kube-scheduler`, `containerd` or `etcd`.
    pub fn log(&self, part: &str) -> Result<String> {
        let log = self.site.log(part);
        fs::read_to_string(&log).with_context(|| format!("cannot read {}", log.display()))
    }

    /// URL of the API server, for clients on the node and in pods.
    pub fn server_url(&self) -> String {
        settings::server_url()
    }

    /// The certificate authority of the cluster, PEM.
    pub fn ca_pem(&self) -> &str {
        &self.site.settings.authority
    }

    /// The folder with the manifests of static pods, which the kubelet starts and ends as their files come and go.
    pub fn static_pods(&self) -> PathBuf {
        self.site.settings.static_pods()
    }

    /// The folder in which containerd looks for the settings of registries.
    pub(super) fn registries(&self) -> PathBuf {
        self.site.settings.registries()
    }

    /// Starts a further program on the node.
    pub(super) fn start_program(&self, name: &'static str, program: &Path, arguments: &[String]) -> Result<Part> {
        self.site.isolation.start(name, program, arguments, self.site.log(name))
    }

    pub(super) fn stop_api_server(&self) -> Result<()> {
        locked(&self.api_server).take().context("the API server does not run")?.kill()
    }

    pub(super) fn start_api_server(&self) -> Result<()> {
        let mut running = locked(&self.api_server);
        ensure!(running.is_none(), "the API server runs");
        let mut api_server = self.site.start(Program::ApiServer)?;
        self.site.wait_for_api_server(&mut api_server)?;
        *running = Some(api_server);
        Ok(())
    }

    pub(super) fn restart_kubelet(&self) -> Result<()> {
        let mut running = locked(&self.kubelet);
        running.take().context("the kubelet does not run")?.kill()?;
        *running = Some(self.site.start(Program::Kubelet)?);
        Ok(())
    }
}

fn locked<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
