//! Pods: how watchtap uses kubectl. A script stands for kubectl.

use std::fs;
use std::path::Path;
use std::process::Command;

use observer_tests::{output_within, watchtap, write_program};
use serde_json::Value;

use super::super::page_cli::Seat;
use super::attachable::{Attachable, LIMIT, command, stderr, stdout};

#[test]
fn page_of_a_pod_is_relayed_by_kubectl() {
    let host = Attachable::start();
    host.get("/api/v1/pods?resourceVersion=0");
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let path = kubectl(&host, seat.home.path(), "echo 'a warning of kubectl' >&2");
    let mut attach = watchtap().unwrap();
    attach.args(["attach", "deployment/app", "-n", "shop", "--context", "dev"]).env("PATH", path);
    let mut attached = seat.start_as(attach);
    seat.screen.wait_for("1 Reflectors").unwrap();
    seat.screen.press("2").unwrap();
    seat.screen.wait_for("pods").unwrap();
    seat.screen.press("q").unwrap();
    let left = seat.assert_ended(&mut attached, 0, &modes, "a warning of kubectl");
    assert!(!left.contains("page stopped"), "{left}");
    let asked = fs::read_to_string(seat.home.path().join("asked")).unwrap();
    assert_eq!(
        asked.trim(),
        "--context dev --namespace shop exec --stdin deployment/app --container watchtap -- /watchtap attach --relay --socket \
         /var/run/secrets/watchtap/own/attach.sock"
    );
    host.run.finish().unwrap();
}

#[test]
fn report_of_a_pod_is_printed() {
    let host = Attachable::start();
    let path = kubectl(&host, host.folder.path(), "");
    let mut attach = command(host.folder.path());
    attach.args(["attach", "app-1", "--container", "other", "--format", "json"]).env("PATH", path);
    let output = output_within(&mut attach, LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(serde_json::from_str::<Value>(&stdout(&output)).unwrap()["schema"], "watchtap.report/v1");
    assert!(fs::read_to_string(host.folder.path().join("asked")).unwrap().contains("--container other"));
    host.run.finish().unwrap();
}

#[test]
fn end_of_the_run_ends_the_page_of_a_pod() {
    let host = Attachable::start();
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let path = kubectl(&host, seat.home.path(), "");
    let mut attach = watchtap().unwrap();
    attach.args(["attach", "pod/app"]).env("PATH", path);
    let mut attached = seat.start_as(attach);
    seat.screen.wait_for("1 Reflectors").unwrap();
    host.run.finish().unwrap();
    seat.assert_ended(&mut attached, 0, &modes, "the run has ended");
}

#[test]
fn end_of_kubectl_ends_the_page_with_its_message() {
    let host = Attachable::start();
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let (relay, end) = (watchtap().unwrap(), seat.home.path().join("end"));
    Command::new("mkfifo").arg(&end).status().unwrap();
    // kubectl dies while the page is shown.
    let path = program(
        seat.home.path(),
        &format!(
            "exec 3<&0\n'{}' attach --relay --socket '{}' <&3 &\nread -r _ <'{}'\necho 'error: lost connection to pod' >&2\nkill $!\nexit 1",
            relay.get_program().to_str().unwrap(),
            host.socket().display(),
            end.display()
        ),
    );
    let mut attach = watchtap().unwrap();
    attach.args(["attach", "pod/app"]).env("PATH", path);
    let mut attached = seat.start_as(attach);
    seat.screen.wait_for("1 Reflectors").unwrap();
    fs::write(end, "\n").unwrap();
    let left = seat.assert_ended(&mut attached, 1, &modes, "kubectl could not reach pod/app");
    assert!(left.contains("error: lost connection to pod"), "{left}");
    host.run.finish().unwrap();
}

#[test]
fn failures_of_kubectl_lead_to_a_remedy() {
    let home = tempfile::tempdir().unwrap();
    for (script, reasons) in [
        (
            "echo 'error: container watchtap is not valid for pod app' >&2; exit 1",
            &["has no container watchtap", "watchtap inject"][..],
        ),
        (
            "echo 'Error from server (NotFound): pods \"app\" not found' >&2; exit 1",
            &["pods \"app\" not found", "kubectl could not reach pod/app"],
        ),
        ("exit 0", &["the connection ended"]),
    ] {
        let path = program(home.path(), script);
        let output = output_within(command(home.path()).args(["attach", "pod/app"]).env("PATH", path), LIMIT).unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        for reason in reasons {
            assert!(said.contains(reason), "{reason}: {said}");
        }
    }
    let output = output_within(command(home.path()).args(["attach", "pod/app"]).env("PATH", "/nowhere"), LIMIT).unwrap();
    assert!(stderr(&output).contains("kubectl is not in PATH"), "{}", stderr(&output));
}

/// A PATH with a kubectl that writes down its arguments, and runs the relay on the socket of `host`.
fn kubectl(host: &Attachable, folder: &Path, first: &str) -> String {
    let (asked, socket) = (folder.join("asked"), host.socket());
    let (program_file, watchtap) = (folder, watchtap().unwrap());
    let script = format!(
        "echo \"$@\" >'{}'; {}\nexec '{}' attach --relay --socket '{}'",
        asked.display(),
        if first.is_empty() { ":" } else { first },
        watchtap.get_program().to_str().unwrap(),
        socket.display()
    );
    program(program_file, &script)
}

/// A PATH whose first kubectl is this script.
fn program(folder: &Path, script: &str) -> String {
    let programs = folder.join("programs");
    fs::create_dir_all(&programs).unwrap();
    write_program(&programs.join("kubectl"), format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
    format!("{}:{}", programs.display(), std::env::var("PATH").unwrap())
}
