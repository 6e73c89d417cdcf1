//! Tests of the terminal page as the user sees it, from the first drawing to the restored terminal.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command};
use std::time::Duration;

use observer_tests::{Screen, wait_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use vt100::MouseProtocolMode;

pub(super) const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn q_key_quits_the_page_and_restores_the_terminal() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut watchtap = seat.start(&["demo"]);
    seat.screen.wait_for("1 Reflectors").unwrap();
    seat.screen.wait_for("watching").unwrap();
    assert!(!seat.screen.is_cooked().unwrap(), "keys come one by one");
    seat.screen.press("?").unwrap();
    seat.screen.wait_for("KEYS").unwrap();
    seat.screen.press("?2").unwrap();
    seat.screen.wait_for("SERVED FROM").unwrap();
    seat.screen.press("q").unwrap();
    seat.assert_terminal_restored(&mut watchtap, &modes);
}

#[test]
fn mouse_works_while_the_page_is_shown() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut watchtap = seat.start(&["demo"]);
    let page = seat.screen.wait_for("watching").unwrap();
    seat.screen.wait_until("the mouse", |screen| screen.mouse_protocol_mode() == MouseProtocolMode::PressRelease).unwrap();
    let tabs = page.lines().position(|line| line.contains("2 Requests")).unwrap() + 1;
    let column = page.lines().nth(tabs - 1).and_then(|line| line.find("2 Requests")).unwrap() + 1;
    seat.screen.press(&format!("\x1b[<0;{column};{tabs}M\x1b[<0;{column};{tabs}m")).unwrap();
    seat.screen.wait_for("[2 Requests").unwrap();
    seat.screen.press("q").unwrap();
    seat.assert_terminal_restored(&mut watchtap, &modes);
}

#[test]
fn page_adapts_to_terminal_resizes() {
    let mut seat = Seat::take();
    let mut watchtap = seat.start(&["demo"]);
    let small = seat.screen.wait_for("watching").unwrap();
    assert!(!small.contains("UNCHANGED"), "{small}");
    seat.screen.resize(200, 50).unwrap();
    seat.screen.wait_for("UNCHANGED").unwrap();
    seat.screen.resize(40, 10).unwrap();
    seat.screen.wait_for("too small").unwrap();
    seat.screen.press("q").unwrap();
    assert_eq!(wait_within(&mut watchtap, LIMIT).unwrap().code(), Some(0));
}

#[test]
fn signals_and_ctrl_c_restore_the_terminal_before_the_report() {
    for ask in [Ask::Signal(Signal::TERM), Ask::Signal(Signal::INT), Ask::Key("\u{3}")] {
        let mut seat = Seat::take();
        let modes = seat.screen.modes().unwrap();
        let mut watchtap = seat.start(&["demo"]);
        seat.screen.wait_for("watching").unwrap();
        match ask {
            Ask::Signal(signal) => kill_process(Pid::from_child(&watchtap), signal).unwrap(),
            Ask::Key(key) => seat.screen.press(key).unwrap(),
        }
        seat.assert_terminal_restored(&mut watchtap, &modes);
    }
}

#[test]
fn messages_appear_on_the_page_and_remain_after_it() {
    let mut seat = Seat::take();
    let mut watchtap = seat.start(&["demo", "--speed", "25", "--grace", "1ms"]);
    seat.screen.wait_for("» demo: ").unwrap();
    seat.screen.resize(200, 120).unwrap();
    seat.screen.wait_for("UNCHANGED").unwrap();
    seat.screen.press("q").unwrap();
    assert_eq!(wait_within(&mut watchtap, LIMIT).unwrap().code(), Some(0));
    let left = seat.screen.wait_for("unset KUBECONFIG").unwrap();
    assert!(left.contains("watchtap: demo: "), "{left}");
}

#[test]
fn note_is_written_to_a_private_file_in_the_current_folder() {
    let mut seat = Seat::take();
    let mut watchtap = seat.start(&["demo", "--speed", "50", "--grace", "1ms"]);
    seat.screen.wait_for("watching").unwrap();
    seat.screen.press("5").unwrap();
    seat.screen.wait_until("a finding", |screen| ["[5 Findings", "▸"].iter().all(|part| screen.contents().contains(part))).unwrap();
    seat.screen.press("W").unwrap();
    seat.screen.wait_for("written to watchtap-note-").unwrap();
    seat.screen.press("q").unwrap();
    assert_eq!(wait_within(&mut watchtap, LIMIT).unwrap().code(), Some(0));
    let (note, mode) = seat.only_file("watchtap-note-", ".md");
    assert!(note.starts_with("### Finding `") && mode == 0o600, "{mode:o} {note}");
}

#[test]
fn suspended_page_returns_the_terminal_and_resumes() {
    let mut seat = Seat::take();
    let mut shell = Command::new("bash");
    shell.args(["--norc", "--noprofile", "-i"]).env("PS1", "ready> ").env("HISTFILE", "/dev/null");
    let mut shell = seat.start_as(shell);
    seat.screen.wait_for("ready> ").unwrap();
    let program = watchtap().unwrap().get_program().to_string_lossy().into_owned();
    seat.screen.press(&format!("{program} demo\r")).unwrap();
    seat.screen.wait_for("watching").unwrap();
    for _ in 0..2 {
        seat.screen.press("\u{1a}").unwrap();
        seat.screen.wait_until("the shell", |screen| !screen.alternate_screen() && screen.contents().contains("Stopped")).unwrap();
        seat.screen.press("clear; fg\r").unwrap();
        seat.screen.wait_until("the page", |screen| screen.alternate_screen() && screen.contents().contains("watching")).unwrap();
    }
    seat.screen.press("q").unwrap();
    seat.screen.wait_for("unset KUBECONFIG").unwrap();
    seat.screen.press("exit $?\r").unwrap();
    assert_eq!(wait_within(&mut shell, LIMIT).unwrap().code(), Some(0));
}

#[test]
fn ctrl_z_is_ignored_without_a_job_control_shell() {
    let mut seat = Seat::take();
    let mut watchtap = seat.start(&["demo"]);
    seat.screen.wait_for("watching").unwrap();
    seat.screen.press("\u{1a}?").unwrap();
    seat.screen.wait_for("KEYS").unwrap();
    seat.screen.press("q").unwrap();
    assert_eq!(wait_within(&mut watchtap, LIMIT).unwrap().code(), Some(0));
}

#[test]
fn lines_replace_the_page_on_request_or_dumb_terminal() {
    for (flags, term) in [(&["demo", "--lines"][..], "xterm"), (&["demo"], "dumb")] {
        let mut seat = Seat::take();
        let mut command = watchtap().unwrap();
        command.args(flags).env("TERM", term);
        let mut watchtap = seat.start_as(command);
        seat.screen.wait_until("a line", |screen| screen.contents().contains("  list-")).unwrap();
        kill_process(Pid::from_child(&watchtap), Signal::INT).unwrap();
        seat.screen.wait_until("the end", |screen| screen.contents().contains("unset KUBECONFIG")).unwrap();
        assert_eq!(wait_within(&mut watchtap, LIMIT).unwrap().code(), Some(0));
    }
}

/// How the user requests the shutdown.
#[derive(Clone, Copy)]
enum Ask {
    Signal(Signal),
    Key(&'static str),
}

/// A terminal with a running watchtap, and the keys of its user.
pub(super) struct Seat {
    pub(super) screen: Screen,
    pub(super) home: TempDir,
}

impl Seat {
    pub(super) fn take() -> Self {
        Self { screen: Screen::open(LIMIT).unwrap(), home: tempfile::tempdir().unwrap() }
    }

    #[track_caller]
    pub(super) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = watchtap().unwrap();
        command.args(arguments);
        self.start_as(command)
    }

    #[track_caller]
    pub(super) fn start_as(&self, mut command: Command) -> Child {
        let home = self.home.path();
        command
            .current_dir(home)
            .env("HOME", home)
            .env("TMPDIR", home)
            .env_remove("KUBECONFIG")
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("NO_COLOR");
        if !command.get_envs().any(|(name, _)| name == "TERM") {
            command.env("TERM", "xterm-256color");
        }
        self.screen.start(&command).unwrap()
    }

    /// The content and the permissions of the only file in the current folder with such a name.
    #[track_caller]
    pub(super) fn only_file(&self, prefix: &str, suffix: &str) -> (String, u32) {
        let files: Vec<_> = fs::read_dir(self.home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        let is_it = |name: &&OsString| name.to_str().is_some_and(|name| name.starts_with(prefix) && name.ends_with(suffix));
        let [name] = files.iter().filter(is_it).collect::<Vec<_>>()[..] else { panic!("one {prefix}…{suffix}: {files:?}") };
        let path = self.home.path().join(name);
        (fs::read_to_string(&path).unwrap(), fs::metadata(&path).unwrap().permissions().mode() & 0o777)
    }

    /// Checks that the program exited with success, that the terminal modes are restored, and that the ordinary screen shows the
    /// last line.
    #[track_caller]
    fn assert_terminal_restored(&mut self, watchtap: &mut Child, modes: &str) {
        self.assert_ended(watchtap, 0, modes, "unset KUBECONFIG");
    }

    /// The same for another exit code and another text on the ordinary screen. Returns that screen.
    #[track_caller]
    pub(super) fn assert_ended(&mut self, watchtap: &mut Child, code: i32, modes: &str, text: &str) -> String {
        assert_eq!(wait_within(watchtap, LIMIT).unwrap().code(), Some(code));
        let is_ordinary = |screen: &vt100::Screen| !screen.alternate_screen() && !screen.hide_cursor();
        let ignores_mouse = |screen: &vt100::Screen| screen.mouse_protocol_mode() == MouseProtocolMode::None;
        let is_over = |screen: &vt100::Screen| is_ordinary(screen) && ignores_mouse(screen) && screen.contents().contains(text);
        let left = self.screen.wait_until("the ordinary screen", is_over).unwrap();
        assert_eq!(self.screen.modes().unwrap(), modes);
        left
    }
}
