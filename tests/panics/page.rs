//! The terminal page panics: it restores the terminal, and everything else continues.

use std::process::Command;
use std::time::Duration;

use observer_tests::{Screen, wait_within};
use rustix::process::{Pid, Signal, kill_process};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn panic_in_the_page_is_logged_and_restores_the_terminal() {
    let home = tempfile::tempdir().unwrap();
    let mut screen = Screen::open(LIMIT).unwrap();
    let modes = screen.modes().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_faulty-watchtap"));
    command.arg("demo").env("TERM", "xterm").env("HOME", home.path()).env("TMPDIR", home.path()).env_remove("XDG_RUNTIME_DIR");
    // A backtrace would scroll the messages off the screen.
    command.env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
    let mut watchtap = screen.start(&command).unwrap();
    screen.wait_for("watching").unwrap();
    screen.press("/fault-in-page").unwrap();
    let ignores_mouse = |screen: &vt100::Screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None;
    let is_ordinary = |screen: &vt100::Screen| !screen.alternate_screen() && !screen.hide_cursor() && ignores_mouse(screen);
    let said = screen
        .wait_until("the end of the page", |screen| is_ordinary(screen) && screen.contents().contains("Ctrl-C stops watchtap"));
    let said = said.unwrap();
    assert!(said.contains("internal error at ") && said.contains("thread page"), "{said}");
    assert!(said.contains("the page stopped: an internal error"), "{said}");
    assert_eq!(screen.modes().unwrap(), modes);
    kill_process(Pid::from_child(&watchtap), Signal::TERM).unwrap();
    screen.wait_for("unset KUBECONFIG").unwrap();
    assert_eq!(wait_within(&mut watchtap, LIMIT).unwrap().code(), Some(0));
}

#[test]
fn panic_in_an_attached_page_ends_only_that_page() {
    let home = tempfile::tempdir().unwrap();
    let (mut own, mut other) = (Screen::open(LIMIT).unwrap(), Screen::open(LIMIT).unwrap());
    let socket = home.path().join("s");
    let faulty = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_faulty-watchtap"));
        command.args(arguments).env("TERM", "xterm").env("HOME", home.path()).env("TMPDIR", home.path());
        command.env_remove("XDG_RUNTIME_DIR").env_remove("RUST_BACKTRACE").env_remove("RUST_LIB_BACKTRACE");
        command
    };
    let mut run = own.start(&faulty(&["demo", "--quiet", "--attach-socket", socket.to_str().unwrap()])).unwrap();
    own.wait_for("export KUBECONFIG=").unwrap();
    let mut attached = other.start(&faulty(&["attach", "--socket", socket.to_str().unwrap()])).unwrap();
    other.wait_for("watching").unwrap();
    other.press("/fault-in-page").unwrap();
    other.wait_for("the page failed because of an internal error").unwrap();
    assert_eq!(wait_within(&mut attached, LIMIT).unwrap().code(), Some(1));
    let mut again = other.start(&faulty(&["attach", "--socket", socket.to_str().unwrap()])).unwrap();
    other.wait_until("the page", |screen| screen.alternate_screen() && screen.contents().contains("watching")).unwrap();
    other.press("q").unwrap();
    assert_eq!(wait_within(&mut again, LIMIT).unwrap().code(), Some(0));
    kill_process(Pid::from_child(&run), Signal::TERM).unwrap();
    own.wait_for("unset KUBECONFIG").unwrap();
    assert_eq!(wait_within(&mut run, LIMIT).unwrap().code(), Some(0));
}
