//! Processes that are selected by their cgroup, and the pod and container that the cgroup names. These tests create cgroups.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use observer_core::k8s::{self, Container, Unnamed, Workload, WorkloadKind};
use observer_core::observation::CgroupOwner;
use observer_demo::{DemoConfig, DemoServer};
use watchtap::intake::{Intake, IntakeLimits};
use watchtap::tap::Clock;
use watchtap::tap::probe::{ProbeOptions, ProbeTap};

use super::clients::of_clients;
use super::commanded_client::CommandedClient;
use super::probe_output::ProbeOutput;
use super::selection::seen;

#[test]
fn process_in_a_cgroup_below_the_given_one_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let pod = Pod::make();
    let (inside, outside) = (pod.client(&server), CommandedClient::start(&server));
    assert_eq!(seen(&pod.options(&server), [inside, outside]), [0]);
}

#[test]
fn process_that_joins_a_cgroup_later_is_seen() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let pod = Pod::make();
    let mut process = 0;
    let output = ProbeOutput::during(&pod.options(&server), || {
        let (mut inside, mut outside) = (pod.client(&server), CommandedClient::start(&server));
        process = inside.id();
        inside.ask(1);
        outside.ask(1);
        inside.end();
        outside.end();
    });
    let seen: Vec<u32> = output.opened().into_iter().map(|info| info.process.unwrap().pid).collect();
    assert_eq!(seen, [process]);
}

/// The second container has the mount that the kubelet makes for its termination message. The first one has none, so it is either of
/// two.
#[test]
fn client_is_reported_with_the_names_of_its_pod_and_container() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let uid = "5f1b2c3d-0a1b-4c5d-8e9f-001122334455";
    let ids = ["0123456789abcdef", "fedcba9876543210"].map(|part| part.repeat(4));
    let slice = format!("kubepods-burstable-pod{}.slice", uid.replace('-', "_"));
    let [first, second] = ids.each_ref().map(|id| Pod::called(&slice, &format!("cri-containerd-{id}.scope")));
    let kubelet = tempfile::tempdir().unwrap();
    let pod_logs = kubelet.path().join("logs");
    for container in ["app", "proxy"] {
        fs::create_dir_all(pod_logs.join(format!("default_web-5d4c6b9f7d-x2k9p_{uid}/{container}"))).unwrap();
    }
    let mounted = kubelet.path().join(format!("pods/{uid}/containers/app/1f2e3d4c"));
    fs::create_dir_all(mounted.parent().unwrap()).unwrap();
    fs::write(&mounted, "").unwrap();

    let options = ProbeOptions { pod_logs, ..of_clients(server.address()) };
    let output = ProbeOutput::during(&options, || {
        for mut client in [first.client(&server), second.client_with_mount(&server, &mounted), CommandedClient::start(&server)] {
            client.ask(1);
            client.end();
        }
    });
    let processes = output.opened().into_iter().map(|info| info.process.unwrap());
    let containers: Vec<Option<Container>> = processes.map(|process| process.container.map(|container| *container)).collect();
    let workload = Some(Workload { name: "web".to_owned(), kind: Some(WorkloadKind::Deployment) });
    let name = "web-5d4c6b9f7d-x2k9p".to_owned();
    let known = Some(k8s::Pod { namespace: "default".to_owned(), name, workload });
    let [first, second] = ids.map(|id| Container { pod: known.clone(), ..Container::nameless(id, uid.to_owned()) });
    let unnamed = Container { unnamed: Some(Unnamed::SeveralContainers), ..first };
    let named = Container { name: Some("app".to_owned()), ..second };
    assert_eq!(containers, [Some(unnamed), Some(named), None]);
}

#[test]
fn client_of_the_host_is_reported_with_its_unit() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let unit = Pod::called("system.slice", "kubelet.service");
    let output = ProbeOutput::during(&of_clients(server.address()), || {
        let mut client = unit.client(&server);
        client.ask(1);
        client.end();
    });
    let process = output.opened().remove(0).process.unwrap();
    // A client changes its cgroup of version 2 only, and systemd's hierarchy of version 1 decides where there is one.
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let of_systemd = own.lines().find(|line| line.contains(":name=systemd:")).and_then(CgroupOwner::of_process);
    let expected = of_systemd.unwrap_or_else(|| CgroupOwner::Unit("kubelet.service".to_owned()));
    assert_eq!((process.container, process.unit.map(CgroupOwner::Unit)), (None, Some(expected)));
}

#[test]
fn invalid_cgroup_path_is_named() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    for (given, expected) in [
        (PathBuf::from("no/such.slice"), "cannot find the cgroup no/such.slice in /".to_owned()),
        (PathBuf::from("/no/such.slice"), format!("in {}/no/such.slice: No such file", mounted().display())),
        (PathBuf::from("cgroup.procs"), format!("{}/cgroup.procs is no cgroup of version 2", mounted().display())),
    ] {
        let options = ProbeOptions { cgroups: vec![given], ..of_clients(server.address()) };
        let (intake, _receiver) = Intake::new(IntakeLimits::default());
        let error = ProbeTap::start(&options, intake, Clock::start()).unwrap_err().to_string();
        assert!(error.contains(&expected), "{error}");
    }
}

/// A cgroup with a nested cgroup, like a pod with its container.
struct Pod {
    root: PathBuf,
    folder: PathBuf,
    container: PathBuf,
}

impl Pod {
    fn make() -> Self {
        Self::called("pod", "container")
    }

    /// Creates cgroups with these names, in a folder of their own.
    fn called(pod: &str, container: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("watchtap-test-{}-{}.slice", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let root = mounted().join(name);
        let folder = root.join(pod);
        let container = folder.join(container);
        fs::create_dir_all(&container).unwrap();
        Self { root, folder, container }
    }

    fn options(&self, server: &DemoServer) -> ProbeOptions {
        ProbeOptions { cgroups: vec![self.folder.clone()], ..of_clients(server.address()) }
    }

    /// Enters the container's cgroup before it becomes a client, as under a container runtime.
    fn client(&self, server: &DemoServer) -> CommandedClient {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$ > $0/cgroup.procs && exec python3 \"$@\""]).arg(&self.container);
        CommandedClient::start_by(shell, server, &[])
    }

    /// As [`Self::client`], with a file mounted over itself, in a mount namespace of its own.
    fn client_with_mount(&self, server: &DemoServer, file: &Path) -> CommandedClient {
        const SCRIPT: &str = "echo $$ > $0/cgroup.procs && mount --bind \"$FILE\" \"$FILE\" && exec python3 \"$@\"";
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "sh", "-c", SCRIPT]).arg(&self.container).env("FILE", file);
        CommandedClient::start_by(shell, server, &[])
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        for folder in [&self.container, &self.folder, &self.root] {
            // A failed test may have left a client in it.
            let _busy = fs::remove_dir(folder);
        }
    }
}

/// Mount point of cgroup v2.
fn mounted() -> PathBuf {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
    let mut mounted = mounts.lines().filter(|line| line.split(' ').nth(2) == Some("cgroup2"));
    Path::new(mounted.next().unwrap().split(' ').nth(1).unwrap()).to_owned()
}
