//! `watchtap exec --page` as the user sees it: the state of the command, its output, its end, and the restored terminal.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};

use observer_tests::{output_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};

use super::page_cli::{LIMIT, Seat};

#[test]
fn exec_page_stays_until_q_and_keeps_the_exit_code() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let go = pipe(&seat, "go");
    let mut watchtap = exec(&seat, &[], "cat; echo out; echo err >&2; read line <go; exit 3");
    let page = seat.screen.wait_for("command running · output: watchtap-output-").unwrap();
    assert!(page.contains("The KUBECONFIG of the command points to watchtap"), "{page}");
    fs::write(go, "now\n").unwrap();
    seat.screen.wait_for("command ended with exit code 3 · output: watchtap-output-").unwrap();
    assert!(!seat.screen.is_cooked().unwrap(), "the page is still there");
    seat.screen.press("i").unwrap();
    seat.screen.wait_for("its stdout and stderr go to watchtap-output-").unwrap();
    seat.screen.press("q").unwrap();
    let left = seat.assert_ended(&mut watchtap, 3, &modes, "unparsed: nothing");
    assert!(left.contains("watchtap: the output of the command is in watchtap-output-"), "{left}");
    assert_eq!(seat.only_file("watchtap-output-", ".log"), ("out\nerr\n".to_owned(), 0o600));
}

#[test]
fn q_interrupts_the_command_with_all_its_processes() {
    for key in ["q", "\u{3}"] {
        let mut seat = Seat::take();
        let modes = seat.screen.modes().unwrap();
        let ready = pipe(&seat, "ready");
        // The shell runs its trap once the sleep has ended, which got the same signal.
        let mut watchtap = exec(&seat, &["--output", "own.log"], "trap 'echo INT; exit 5' INT; echo >ready; sleep 600");
        fs::read(ready).unwrap();
        seat.screen.wait_for("command running · output: own.log").unwrap();
        seat.screen.press(key).unwrap();
        let left = seat.assert_ended(&mut watchtap, 5, &modes, "unparsed: nothing");
        assert!(left.contains("interrupted the command, as Ctrl-C does; waiting for its end. Its output is in own.log"), "{left}");
        assert_eq!(seat.only_file("own", ".log"), ("INT\n".to_owned(), 0o600));
    }
}

#[test]
fn signal_ends_the_command_and_its_page() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut watchtap = exec(&seat, &[], "exec sleep 600");
    seat.screen.wait_for("command running").unwrap();
    kill_process(Pid::from_child(&watchtap), Signal::TERM).unwrap();
    seat.assert_ended(&mut watchtap, 143, &modes, "unparsed: nothing");
}

#[test]
fn signal_closes_a_page_whose_command_has_ended() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut watchtap = exec(&seat, &[], "kill -KILL $$");
    seat.screen.wait_for("command ended by signal 9, with exit code 137").unwrap();
    kill_process(Pid::from_child(&watchtap), Signal::TERM).unwrap();
    seat.assert_ended(&mut watchtap, 137, &modes, "unparsed: nothing");
}

#[test]
fn end_of_a_script_leaves_the_page_open() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    fs::write(seat.home.path().join("a.script"), "0s print it begins\n1s print it is over\n").unwrap();
    let mut watchtap = seat.start(&["exec", "--demo", "a.script", "--page", "--", "sleep", "600"]);
    let page = seat.screen.wait_for("command ended by signal 15, with exit code 0").unwrap();
    assert!(page.contains("» demo: it is over"), "{page}");
    seat.screen.press("q").unwrap();
    seat.assert_ended(&mut watchtap, 0, &modes, "unparsed: nothing");
}

#[test]
fn command_that_cannot_be_run_leaves_no_file() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut watchtap = seat.start(&["exec", "--demo", "--page", "--", "no-such-command-anywhere"]);
    seat.assert_ended(&mut watchtap, 127, &modes, "cannot run no-such-command-anywhere");
    let left: Vec<_> = fs::read_dir(seat.home.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn output_cannot_be_the_terminal_of_the_page() {
    let mut seat = Seat::take();
    let modes = seat.screen.modes().unwrap();
    let mut watchtap = exec(&seat, &["--output", "/dev/tty"], "echo executed");
    let left = seat.assert_ended(&mut watchtap, 125, &modes, "--output names a terminal");
    assert!(!left.contains("executed"), "{left}");
}

#[test]
fn page_without_a_terminal_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = watchtap().unwrap();
    command.args(["exec", "--demo", "--page", "--", "touch", "ran"]).current_dir(folder.path());
    let output = output_within(&mut command, LIMIT).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(125), "{said}");
    assert!(said.contains("--page needs a terminal") && said.contains("leave out --page"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was created, and the command did not run");
}

/// Runs a shell script in a demo cluster, with the page.
#[track_caller]
fn exec(seat: &Seat, flags: &[&str], script: &str) -> Child {
    seat.start(&[&["exec", "--demo", "--page"], flags, &["--", "sh", "-c", script]].concat())
}

/// A named pipe in the current folder.
#[track_caller]
fn pipe(seat: &Seat, name: &str) -> PathBuf {
    let path = seat.home.path().join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}
