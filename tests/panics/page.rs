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
