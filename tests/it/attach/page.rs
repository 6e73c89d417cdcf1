//! Attached pages on real terminals.

use std::fs;
use std::process::Child;
use std::time::Instant;

use observer_tests::wait_within;
use rustix::process::{Pid, Signal, kill_process};

use super::super::page_cli::Seat;
use super::super::upstream::Upstream;
use super::attachable::{Attachable, LIMIT};

#[test]
fn attached_page_shows_the_same_as_the_runs_own_page() {
    let (mut own, mut other) = (Seat::take(), Seat::take());
    let upstream = Upstream::start();
    let kubeconfig = own.home.path().join("kubeconfig");
    fs::write(&kubeconfig, upstream.kubeconfig()).unwrap();
    let socket = own.home.path().join("s.sock");
    let (kubeconfig, socket) = (kubeconfig.to_str().unwrap(), socket.to_str().unwrap());
    let mut run = own.start(&["run", "--kubeconfig", kubeconfig, "--attach-socket", socket]);
    own.screen.wait_for("No client has connected yet").unwrap();
    let mut attached = other.start(&["attach", "--socket", socket]);
    let guidance = other.screen.wait_for("export KUBECONFIG=").unwrap();
    let client = guidance.split("export KUBECONFIG=").nth(1).unwrap().lines().next().unwrap().trim().to_owned();
    let mut stream = client_of(&client);
    for path in ["/api/v1/pods?resourceVersion=0", "/api/v1/nodes", "/api/v1/namespaces/a/secrets"] {
        super::attachable::get(&mut stream, path);
    }
    drop(stream);
    let tables = [&mut own, &mut other].map(|seat| {
        seat.screen.press("2").unwrap();
        let is_there = |screen: &vt100::Screen| {
            ["[2 Requests(3)", "pods", "nodes", "secrets", "▸"].iter().all(|part| screen.contents().contains(part))
        };
        let page = seat.screen.wait_until("three requests", is_there).unwrap();
        let rows = page.lines().skip_while(|line| !line.contains("[2 Requests")).skip(1).take(4);
        rows.map(|row| row.trim_matches(['▸', ' ']).to_owned()).collect::<Vec<_>>()
    });
    assert_eq!(tables[0], tables[1]);
    other.screen.resize(200, 50).unwrap();
    other.screen.wait_for("FIRST BYTE").unwrap();
    assert!(!own.screen.wait_for("SERVED FROM").unwrap().contains("UNPARSED BYTES"), "each page has its own size");
    other.screen.press("q").unwrap();
    assert_eq!(wait_within(&mut attached, LIMIT).unwrap().code(), Some(0));
    own.screen.press("q").unwrap();
    assert_eq!(wait_within(&mut run, LIMIT).unwrap().code(), Some(0));
}

#[test]
fn two_pages_are_independent_and_leave_the_run_going() {
    let host = Attachable::start();
    host.get("/api/v1/pods?resourceVersion=0");
    let (mut one, mut other) = (Seat::take(), Seat::take());
    let modes = one.screen.modes().unwrap();
    let (mut first, mut second) = (attach(&host, &one), attach(&host, &other));
    for seat in [&mut one, &mut other] {
        seat.screen.wait_for("1 Reflectors").unwrap();
    }
    one.screen.press("?").unwrap();
    let help = one.screen.wait_for("KEYS").unwrap();
    assert!(help.contains("leave the page; watchtap and its traffic continue"), "{help}");
    other.screen.press("2").unwrap();
    other.screen.wait_for("pods").unwrap();
    one.screen.press("?q").unwrap();
    assert_left(&mut one, &mut first, &modes, 0);
    host.get("/api/v1/nodes");
    other.screen.wait_for("1 new row (r)").unwrap();
    other.screen.press("r").unwrap();
    other.screen.wait_for("nodes").unwrap();
    other.screen.press("\u{3}").unwrap();
    assert_left(&mut other, &mut second, &modes, 0);
    let mut again = attach(&host, &one);
    one.screen.wait_for("1 Reflectors").unwrap();
    one.screen.press("q").unwrap();
    assert_left(&mut one, &mut again, &modes, 0);
    assert_eq!(host.run.finish().unwrap()["totals"]["requests"], 2);
}

#[test]
fn messages_of_the_run_appear_on_attached_pages() {
    let (mut own, mut other) = (Seat::take(), Seat::take());
    let socket = own.home.path().join("s.sock");
    let mut run = own.start(&["demo", "--quiet", "--speed", "25", "--grace", "1ms", "--attach-socket", socket.to_str().unwrap()]);
    own.screen.wait_for("export KUBECONFIG=").unwrap();
    let mut attached = other.start(&["attach", "--socket", socket.to_str().unwrap()]);
    other.screen.wait_for("» demo: ").unwrap();
    kill_process(Pid::from_child(&run), Signal::TERM).unwrap();
    other.screen.wait_for("the run has ended").unwrap();
    assert_eq!(wait_within(&mut attached, LIMIT).unwrap().code(), Some(0));
    assert_eq!(wait_within(&mut run, LIMIT).unwrap().code(), Some(0));
}

#[test]
fn end_of_the_run_restores_the_terminal() {
    let host = Attachable::start();
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut attached = attach(&host, &seat);
    seat.screen.wait_for("1 Reflectors").unwrap();
    let socket = host.socket();
    host.run.finish().unwrap();
    let left = seat.assert_ended(&mut attached, 0, &modes, "the run has ended");
    assert!(!left.contains("watchtap run   API server"), "the report is the run's own: {left}");
    assert!(!socket.exists());
}

#[test]
fn killed_run_is_reported_with_exit_code_1() {
    let mut host = Attachable::start();
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut attached = attach(&host, &seat);
    seat.screen.wait_for("1 Reflectors").unwrap();
    host.run.kill().unwrap();
    seat.assert_ended(&mut attached, 1, &modes, "the connection ended: the run was killed");
}

#[test]
fn signal_to_the_attached_process_restores_its_terminal() {
    let host = Attachable::start();
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut attached = attach(&host, &seat);
    seat.screen.wait_for("1 Reflectors").unwrap();
    kill_process(Pid::from_child(&attached), Signal::TERM).unwrap();
    assert_left(&mut seat, &mut attached, &modes, 143);
    host.run.finish().unwrap();
}

#[test]
fn stopped_terminal_delays_neither_traffic_nor_the_end_of_the_run() {
    let mut host = Attachable::start();
    let (mut stopped, mut other) = (Seat::take(), Seat::take());
    let mut attached = attach(&host, &stopped);
    stopped.screen.wait_for("1 Reflectors").unwrap();
    kill_process(Pid::from_child(&attached), Signal::STOP).unwrap();
    let mut second = attach(&host, &other);
    for number in 0..20 {
        host.get(&format!("/api/v1/namespaces/n{number}/pods"));
    }
    other.screen.press("2").unwrap();
    other.screen.wait_for("[2 Requests(20)").unwrap();
    let begun = Instant::now();
    host.run.terminate().unwrap();
    host.run.wait().unwrap();
    assert!(begun.elapsed() < LIMIT / 3, "{:?}", begun.elapsed());
    other.screen.wait_for("the run has ended").unwrap();
    assert_eq!(wait_within(&mut second, LIMIT).unwrap().code(), Some(0));
    kill_process(Pid::from_child(&attached), Signal::CONT).unwrap();
    stopped.screen.wait_for("the run has ended").unwrap();
    assert_eq!(wait_within(&mut attached, LIMIT).unwrap().code(), Some(0));
}

#[test]
fn note_is_written_by_the_attached_process() {
    let (mut own, mut other) = (Seat::take(), Seat::take());
    let socket = own.home.path().join("s.sock");
    let mut run = own.start(&["demo", "--quiet", "--speed", "50", "--grace", "1ms", "--attach-socket", socket.to_str().unwrap()]);
    own.screen.wait_for("export KUBECONFIG=").unwrap();
    let mut attached = other.start(&["attach", "--socket", socket.to_str().unwrap()]);
    other.screen.wait_for("watching").unwrap();
    other.screen.press("5").unwrap();
    other
        .screen
        .wait_until("a finding", |screen| ["[5 Findings", "▸"].iter().all(|part| screen.contents().contains(part)))
        .unwrap();
    other.screen.press("W").unwrap();
    other.screen.wait_for("written to watchtap-note-").unwrap();
    let (note, mode) = other.only_file("watchtap-note-", ".md");
    assert!(note.starts_with("### Finding `") && mode == 0o600, "{mode:o} {note}");
    let there: Vec<_> = fs::read_dir(own.home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!there.iter().any(|name| name.to_string_lossy().contains("note")), "nothing is written where the run is: {there:?}");
    other.screen.press("q").unwrap();
    assert_eq!(wait_within(&mut attached, LIMIT).unwrap().code(), Some(0));
    kill_process(Pid::from_child(&run), Signal::TERM).unwrap();
    assert_eq!(wait_within(&mut run, LIMIT).unwrap().code(), Some(0));
}

#[track_caller]
fn attach(host: &Attachable, seat: &Seat) -> Child {
    let arguments = host.arguments();
    seat.start(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Checks the exit code, and that the terminal is as before.
#[track_caller]
fn assert_left(seat: &mut Seat, attached: &mut Child, modes: &str, code: i32) {
    assert_eq!(wait_within(attached, LIMIT).unwrap().code(), Some(code));
    let is_ordinary = |screen: &vt100::Screen| !screen.alternate_screen() && !screen.hide_cursor();
    seat.screen.wait_until("the ordinary screen", is_ordinary).unwrap();
    assert_eq!(seat.screen.modes().unwrap(), modes);
}

/// A client with the kubeconfig of a run.
#[track_caller]
fn client_of(kubeconfig: &str) -> observer_tests::ClientStream {
    use base64::Engine as _;

    let document: serde_json::Value = serde_json::from_str(&fs::read_to_string(kubeconfig).unwrap()).unwrap();
    let cluster = &document["clusters"][0]["cluster"];
    let authority = base64::prelude::BASE64_STANDARD.decode(cluster["certificate-authority-data"].as_str().unwrap()).unwrap();
    let address = cluster["server"].as_str().unwrap().strip_prefix("https://").unwrap().parse().unwrap();
    observer_tests::connect(address, &String::from_utf8(authority).unwrap(), &[b"http/1.1"]).unwrap()
}
