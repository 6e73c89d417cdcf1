//! Processes that are selected by their cgroup, and the pod and container that the cgroup names. These tests create cgroups.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use observer_core::k8s::Container;
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

#[test]
fn client_is_reported_with_its_container_and_pod() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let (uid, id) = ("5f1b2c3d-0a1b-4c5d-8e9f-001122334455", "0123456789abcdef".repeat(4));
    let pod = Pod::called(&format!("kubepods-burstable-pod{}.slice", uid.replace('-', "_")), &format!("cri-containerd-{id}.scope"));
    let output = ProbeOutput::during(&of_clients(server.address()), || {
        for mut client in [pod.client(&server), CommandedClient::start(&server)] {
            client.ask(1);
            client.end();
        }
    });
    let containers: Vec<Option<Container>> = output.opened().into_iter().map(|info| info.process.unwrap().container).collect();
    assert_eq!(containers, [Some(Container { id, pod_uid: uid.to_owned() }), None]);
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
        let name = format!("watchtap-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
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
