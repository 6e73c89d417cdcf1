//! The end of a node whose owner is killed, and what a node leaves on the machine: nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use observer_tests::built;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags};
use serde_json::Value;

const LIMIT: Duration = Duration::from_mins(1);
/// Settings of the entire machine that a kubelet would write.
const SETTINGS: [&str; 6] = [
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
];

#[test]
fn node_of_a_killed_process_leaves_nothing() {
    let settings = settings();
    let mut owner = Command::new(built("test-node").unwrap()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let node: Value = serde_json::from_str(&line).unwrap();
    let (folder, cgroup) = (node["folder"].as_str().unwrap(), node["cgroup"].as_str().unwrap());
    assert!(Path::new(folder).exists());
    assert!(!cgroups(cgroup).is_empty());
    let processes = processes(folder);
    assert!(processes.len() > 5, "{processes:?}");
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(folder), "the machine has mounts of the node");

    let leavings = Pid::from_raw(node["leavings"].as_i64().unwrap().try_into().unwrap()).unwrap();
    let leavings = rustix::process::pidfd_open(leavings, PidfdFlags::empty()).unwrap();
    owner.kill().unwrap();
    owner.wait().unwrap();
    let mut ended = [PollFd::new(&leavings, PollFlags::IN)];
    assert_eq!(rustix::event::poll(&mut ended, Some(&Timespec::try_from(LIMIT).unwrap())).unwrap(), 1, "not all is removed");

    assert!(!Path::new(folder).exists());
    assert_eq!(cgroups(cgroup), Vec::<String>::new());
    assert_eq!(self::processes(folder), Vec::<String>::new());
    assert_eq!(self::settings(), settings);
}

fn settings() -> [String; 6] {
    SETTINGS.map(|setting| fs::read_to_string(Path::new("/proc/sys").join(setting)).unwrap())
}

/// The hierarchies with a cgroup of this name.
fn cgroups(name: &str) -> Vec<String> {
    let hierarchies = fs::read_dir("/sys/fs/cgroup").unwrap().map(|entry| entry.unwrap().path());
    hierarchies.filter(|hierarchy| hierarchy.join(name).exists()).map(|hierarchy| hierarchy.display().to_string()).collect()
}

/// The command lines of the processes that name this folder.
fn processes(folder: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let command_lines = processes.filter_map(|process| fs::read(process.join("cmdline")).ok());
    let command_lines = command_lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    command_lines.filter(|line| line.contains(folder)).collect()
}
