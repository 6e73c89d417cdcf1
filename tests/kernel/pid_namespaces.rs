//! A probe in a PID namespace of its own, as on a node that is a container.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use observer_demo::{DemoConfig, DemoServer};
use observer_tests::watchtap;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::clients::{URLLIB, arguments, python, run};

#[test]
fn clients_in_namespaces_below_are_seen_with_their_pids_in_the_probes_own() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let events = folder.path().join("events");
    let mut unshare = Command::new("unshare");
    unshare.args(["--pid", "--fork", "--mount-proc", "--kill-child"]).arg(watchtap().unwrap().get_program());
    unshare
        .args(["probe", "--no-version-request", "--lines", "--api-server", &server.address().to_string(), "--events"])
        .arg(&events);
    unshare.env("HOME", folder.path()).stdin(Stdio::null()).stdout(File::create(folder.path().join("lines")).unwrap());
    let mut probe = unshare.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(probe.stderr.take().unwrap()).lines();
    let is_ready = said.by_ref().any(|line| line.unwrap().starts_with("Ctrl-C unloads"));
    assert!(is_ready);
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", probe.id())).unwrap();
    let inside = children.trim();

    // One client in the probe's namespace, and one in a namespace below it.
    for below in [&["--pid"][..], &["--pid", "unshare", "--pid", "--fork"]] {
        let client = python(URLLIB, &arguments(&server));
        let mut nsenter = Command::new("nsenter");
        nsenter.args(["--target", inside]).args(below).arg(client.get_program()).args(client.get_args());
        run(&mut nsenter);
    }
    kill_process(Pid::from_raw(inside.parse().unwrap()).unwrap(), Signal::TERM).unwrap();
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    assert!(probe.wait().unwrap().success(), "{rest:?}");

    let text = fs::read_to_string(&events).unwrap();
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let opened = records.iter().filter(|event| event["event"] == "connection-opened");
    let processes: Vec<&Value> = opened.map(|event| &event["process"]).collect();
    assert_eq!(processes.len(), 6, "three requests of each client: {text}");
    let own = u64::from(inside.parse::<u32>().unwrap());
    for process in processes {
        assert_eq!(process["name"], "python3", "{text}");
        assert!(process["pid"].as_u64().is_some_and(|pid| pid > 1 && pid < own), "{text}");
    }
}
