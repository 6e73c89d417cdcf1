//! Tests of the first requests of programs that have never run on this machine.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use observer_demo::{DemoConfig, DemoServer};
use observer_tests::{go_first_client, write_program};
use watchtap::intake::TapEvent;

use super::clients::{arguments, of_clients, run};
use super::probe_output::{ProbeOutput, RunningProbe};

/// Number of new programs.
const PROGRAMS: u32 = 30;
/// Number of requests of each program. A probe that examines a program for a tenth of a second sees the last ones.
const REQUESTS: u32 = 100;
/// Maximum time until a request of a new program is seen, as a multiple of that of a program that is probed already. Both grow with
/// the load of the machine. An unoptimised watchtap reads a program ten times as slowly as a release does.
const AT_MOST: u64 = 15;

#[test]
fn new_program_is_seen_nearly_as_soon_as_a_probed_one() {
    let server = DemoServer::start(DemoConfig::default()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let client = fs::read(go_first_client().unwrap()).unwrap();
    let known = program(folder.path(), &client, 0);
    let probe = RunningProbe::start(&of_clients(server.address()));
    ask(&known, &server, "examined");
    for number in 1..=PROGRAMS {
        ask(&program(folder.path(), &client, number), &server, &format!("new-{number}"));
        ask(&known, &server, &format!("known-{number}"));
    }
    let output = probe.finish();
    let [of_new, of_known] = ["new", "known"].map(|kind| {
        let mut first: Vec<u64> = (1..=PROGRAMS).filter_map(|number| first_seen(&output, &format!("{kind}-{number}"))).collect();
        first.sort_unstable();
        first
    });
    writeln!(std::io::stdout().lock(), "first seen after µs: new {of_new:?}, known {of_known:?}").unwrap();
    assert_eq!(of_known.len(), 30, "a probed program is seen: {of_known:?}");
    let (new, known) = (of_new.get(15).copied().unwrap_or(u64::MAX), of_known[15]);
    assert!(new <= AT_MOST * known, "the median of new programs is {new} µs, and that of a probed one {known} µs");
}

/// A copy of a Go program with a build identifier of its own.
fn program(folder: &Path, program: &[u8], number: u32) -> PathBuf {
    // The name in the ELF note of the build identifier, which follows.
    const NOTE: &[u8] = b"Go\0\0";
    let at = program.windows(NOTE.len()).position(|bytes| bytes == NOTE).unwrap() + NOTE.len();
    let mut copy = program.to_vec();
    copy[at..][..8].copy_from_slice(format!("{number:08}").as_bytes());
    let path = folder.join(format!("program-{number}"));
    write_program(&path, &copy).unwrap();
    path
}

/// Runs a program, which asks as soon as it can.
fn ask(program: &Path, server: &DemoServer, name: &str) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    run(Command::new(program).args(arguments(server)).args([now.to_string().as_str(), "0s", &REQUESTS.to_string(), name]));
}

/// How long after its start a program sent the first request that was seen, in microseconds.
fn first_seen(output: &ProbeOutput, name: &str) -> Option<u64> {
    let path = format!("/namespaces/{name}-");
    output.events.iter().find_map(|(_, event)| {
        let TapEvent::Bytes { bytes, .. } = event else { return None };
        let head = std::str::from_utf8(bytes).ok()?;
        let (_, rest) = head.split_once(&path)?;
        let (_number, after) = rest.split('/').next()?.split_once('-')?;
        after.parse().ok()
    })
}
