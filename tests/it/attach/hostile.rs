//! Processes of other users, processes that are no watchtap, and the bounds of what attached processes cost.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Command;

use observer_tests::{output_within, wait_within, watchtap, write_program};
use rustix::process::geteuid;

use super::super::page_cli::Seat;
use super::attachable::{Attachable, LIMIT, attach, stderr};

const GREETING: &str = "{\"watchtap_attach\":1,\"version\":\"0.1.0\"}\n";

/// Another user cannot connect because of the mode of the socket. If that were changed, the run would still refuse. Only root can
/// run this test, because it changes its user; `attach/visit.rs` has a test of the same decision for every user.
#[test]
fn processes_of_other_users_are_refused() {
    if !geteuid().is_root() {
        writeln!(std::io::stdout().lock(), "left out: a process of another user needs root").unwrap();
        return;
    }
    let host = Attachable::start();
    fs::set_permissions(host.folder.path(), Permissions::from_mode(0o755)).unwrap();
    assert!(as_another_user(&host).contains("Permission denied"), "{}", as_another_user(&host));
    fs::set_permissions(host.socket(), Permissions::from_mode(0o666)).unwrap();
    let said = as_another_user(&host);
    assert!(said.contains("this run belongs to another user, and refuses processes of uid 54321"), "{said}");
    host.run.finish().unwrap();
}

#[test]
fn other_version_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("s");
    let greeting = "{\"watchtap_attach\":7,\"version\":\"7.5.0\",\"more\":true}\n";
    let _fake = answer(&socket, greeting.as_bytes().to_vec());
    let output = attach(folder.path(), &["--socket", socket.to_str().unwrap()]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1));
    for part in ["version 1 of the attach protocol", "the run (7.5.0) version 7", "use the same watchtap for both"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn hostile_run_controls_neither_terminal_nor_report() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let socket = seat.home.path().join("s");
    let picture = r#"{"picture":{"size":{"columns":80,"lines":24},
        "characters":[[0,0,0,"start \u001b]0;OWNED\u0007 end"]],"symbols":[[1,0,31,"\u001b[?1049l"],[23,79,0,"wide text"]]}}"#;
    let copy = r#"{"copy":"rm -rf ~\n"}"#;
    let note = r#"{"note":{"stem":"../watchtap-note-1","text":"x"}}"#;
    let refused = r#"{"refused":"over \u001b[2J\u202e"}"#;
    let lines = [&picture.replace('\n', ""), copy, note, refused].join("\n");
    let _fake = answer(&socket, format!("{GREETING}{lines}\n").into_bytes());
    let mut attached = seat.start(&["attach", "--socket", socket.to_str().unwrap()]);
    // The emulated screen leaves out U+FFFD.
    let left = seat.assert_ended(&mut attached, 1, &modes, "[2J");
    assert!(left.contains("watchtap: over ") && !left.contains("OWNED"), "{left}");
    assert_eq!(fs::read_dir(seat.home.path()).unwrap().count(), 1, "only the socket is there");

    let report = r#"{"part":"one\u001b[2J\u009b\ntwo"}"#;
    fs::remove_file(&socket).unwrap();
    let _fake = answer(&socket, format!("{GREETING}{report}\n\"complete\"\n").into_bytes());
    let output = attach(seat.home.path(), &["--socket", socket.to_str().unwrap(), "--format", "json"]);
    assert_eq!(super::attachable::stdout(&output), "one\u{FFFD}[2J\u{FFFD}\ntwo", "{}", stderr(&output));
}

/// Eight pages of the largest size that never take a picture, and processes that send without end.
#[test]
fn attached_processes_take_bounded_memory() {
    const MOST: u64 = 64 << 20;
    let host = Attachable::start();
    host.get("/api/v1/pods");
    let before = host.run.usage().unwrap().resident;
    let page = r#"{"page":{"size":{"columns":65535,"lines":65535},"coloured":true,"zone":null}}"#;
    let key = "{\"key\":{\"char\":\"w\"}}\n{\"resized\":{\"columns\":60000,\"lines\":60000}}\n".repeat(2_000);
    let held: Vec<UnixStream> = (0..8)
        .map(|_| {
            let mut stream = UnixStream::connect(host.socket()).unwrap();
            stream.write_all(format!("{GREETING}{page}\n").as_bytes()).unwrap();
            stream.set_nonblocking(true).unwrap();
            // The run stops reading when its answers are not read.
            while stream.write(key.as_bytes()).is_ok() {}
            stream
        })
        .collect();
    let mut ninth = BufReader::new(UnixStream::connect(host.socket()).unwrap());
    ninth.get_mut().write_all(format!("{GREETING}{page}\n").as_bytes()).unwrap();
    let mut said = String::new();
    ninth.read_line(&mut said).unwrap();
    ninth.read_line(&mut said).unwrap();
    assert!(said.contains("pages are attached to this run already"), "{said}");
    host.get("/api/v1/nodes");
    let gained = host.run.usage().unwrap().resident.saturating_sub(before);
    assert!(gained < MOST, "{gained} bytes");
    drop(held);
    host.run.finish().unwrap();
}

/// The message of `watchtap attach` as another user. The programs of a build need not be accessible to it, so it gets a copy.
#[track_caller]
fn as_another_user(host: &Attachable) -> String {
    let program = host.folder.path().join("watchtap");
    if !program.exists() {
        write_program(&program, &fs::read(watchtap().unwrap().get_program()).unwrap()).unwrap();
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "54321", "--regid", "54321", "--clear-groups"]).arg(program);
    command.args(["attach", "--format", "json", "--socket"]).arg(host.socket()).current_dir("/");
    let output = output_within(&mut command, LIMIT).unwrap();
    assert_eq!(output.status.code(), Some(1));
    stderr(&output)
}

/// Listens at a path, and sends the same to each process that has sent its request.
fn answer(socket: &std::path::Path, answer: Vec<u8>) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(socket).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            lines.next();
            stream.write_all(&answer).ok();
        }
    })
}

#[test]
fn attached_page_of_a_run_that_hangs_is_left_with_ctrl_c() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let socket = seat.home.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let mut attached = seat.start(&["attach", "--socket", socket.to_str().unwrap()]);
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(GREETING.as_bytes()).unwrap();
    seat.screen.wait_until("the page", vt100::Screen::alternate_screen).unwrap();
    seat.screen.press("qqq\u{3}").unwrap();
    assert_eq!(wait_within(&mut attached, LIMIT).unwrap().code(), Some(0));
    seat.screen.wait_until("the ordinary screen", |screen| !screen.alternate_screen()).unwrap();
    assert_eq!(seat.screen.modes().unwrap(), modes);
}
