//! One test for each kernel.

use std::path::Path;
use std::process::Command;

use observer_tests::{ClientGo, GUEST_FILES, Guest, Ran, SERVER_ACCESS, ServerAccess, VmKernel, go_late_client};

use super::foreign::Outside;
use super::results::{self, Row};
use super::{expected, proofs};
use crate::stream_stage::stream_cluster;

/// The file in the virtual machine with the access to the API server.
const ACCESS: &str = "server-access";

#[test]
fn kernel_5_10_of_bullseye() {
    boots(VmKernel::V5_10);
}

#[test]
fn kernel_6_1_of_bookworm() {
    boots(VmKernel::V6_1);
}

#[test]
fn kernel_6_12_of_trixie() {
    boots(VmKernel::V6_12);
}

#[test]
fn newest_kernel_of_trixie_backports() {
    boots(VmKernel::Newest);
}

#[test]
fn kernel_6_12_for_arm64() {
    let kernel = VmKernel::Arm64V6_12;
    let (expected, outside) = (expected::of(kernel), Outside::start());
    let steps = [vec![proofs::check(&format!("{GUEST_FILES}/watchtap"))], outside.steps()].concat();
    let ran = outside.equip(Guest::with(kernel)).run(&steps).unwrap();
    let check = ran.steps.iter().take(1).flat_map(|check| Row::of(check, &expected));
    let rows: Vec<Row> = check.chain(outside.rows(&ran)).collect();
    assert_as_expected(kernel, &ran, &rows);
}

/// Boots the kernel, and checks the results of each command against [`expected::of`]. The API server of the streams is on this machine.
#[track_caller]
fn boots(kernel: VmKernel) {
    let expected = expected::of(kernel);
    // The virtual machine cannot build them.
    go_late_client().unwrap();
    ClientGo::V0_37.reflector().unwrap();
    let (cluster, folder) = (stream_cluster(), tempfile::tempdir().unwrap());
    let access = folder.path().join(ACCESS);
    ServerAccess::from_guest(&cluster).unwrap().write(&access).unwrap();
    let tests = expected.can_probe.then(|| proofs::tests(kernel)).into_iter().flatten();
    let steps: Vec<_> = [proofs::check(&proofs::watchtap())].into_iter().chain(tests).collect();
    let guest = Guest::with(kernel).env("PATH", &path()).file(ACCESS, access);
    let ran = guest.env(SERVER_ACCESS, &format!("{GUEST_FILES}/{ACCESS}")).run(&steps).unwrap();
    let rows: Vec<Row> = ran.steps.iter().flat_map(|step| Row::of(step, &expected)).collect();
    assert_as_expected(kernel, &ran, &rows);
}

/// Reports the results, and fails if one is not as expected.
#[track_caller]
fn assert_as_expected(kernel: VmKernel, ran: &Ran, rows: &[Row]) {
    results::report(kernel, ran, rows);
    let mut faults: Vec<&str> = rows.iter().filter_map(|row| row.fault.as_deref()).collect();
    // The rows of the streams have one command.
    faults.dedup();
    assert!(faults.is_empty(), "kernel {}:\n{}", ran.release, faults.join("\n"));
}

/// The PATH, with the folder of Python itself first. A shell script in its place would take seconds in the virtual machine.
fn path() -> String {
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    let folder = Path::new(python.trim()).parent().unwrap().display().to_string();
    format!("{folder}:{}", std::env::var("PATH").unwrap_or_default())
}
