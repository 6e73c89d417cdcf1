//! How runs on this machine are found, listed and chosen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Stdio};

use observer_tests::{Lines, wait_within};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use super::super::upstream::Upstream;
use super::attachable::{LIMIT, attach, command, stderr, stdout};

#[test]
fn only_run_is_attached_without_a_name() {
    let home = Home::new();
    let none = attach(home.path(), &[]);
    assert_eq!(none.status.code(), Some(1));
    for part in ["no run of yours on this machine can be attached", "watchtap run --quiet", "pod/NAME"] {
        assert!(stderr(&none).contains(part), "{}", stderr(&none));
    }
    let run = home.run(&[]);
    let report = attach(home.path(), &[]);
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    assert!(stdout(&report).starts_with("watchtap run   API server"), "{}", stdout(&report));
    run.end();
    assert!(!home.sockets().exists(), "the folder is removed with its last socket");
}

#[test]
fn several_runs_are_listed_and_chosen_by_process() {
    let home = Home::new();
    let (one, other) = (home.run(&[]), home.run(&[]));
    let hidden = home.run(&["--no-attach"]);
    let several = attach(home.path(), &[]);
    assert_eq!((several.status.code(), stdout(&several).as_str()), (Some(1), ""));
    let said = stderr(&several);
    for part in
        ["choose one with `watchtap attach PID`", "API SERVER", &one.pid(), &other.pid(), &home.upstream.address().to_string()]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains(&hidden.pid()), "{said}");
    let list = attach(home.path(), &["--list", "--format", "json"]);
    let list: Value = serde_json::from_str(&stdout(&list)).unwrap();
    let mut pids = [&one, &other].map(|run| run.child.id());
    pids.sort_unstable();
    assert_eq!(list["schema"], "watchtap.attach/v1");
    assert_eq!([&list["runs"][0]["pid"], &list["runs"][1]["pid"]], [&Value::from(pids[0]), &Value::from(pids[1])]);
    assert_eq!((&list["runs"][0]["subcommand"], list["runs"].as_array().unwrap().len()), (&"run".into(), 2));
    let chosen = attach(home.path(), &[&other.pid()]);
    assert!(stdout(&chosen).starts_with("watchtap run   API server"), "{}", stderr(&chosen));
    let gone = attach(home.path(), &["1"]);
    assert!(stderr(&gone).contains("no run of yours with process ID 1 can be attached"), "{}", stderr(&gone));
    for run in [one, other, hidden] {
        run.end();
    }
}

#[test]
fn flags_without_an_effect_are_usage_errors() {
    let home = Home::new();
    for (flags, reason) in [
        (&["4711", "-n", "shop"][..], "name a pod pod/4711"),
        (&["4711", "--container", "other"], "name a pod pod/4711"),
        (&["--list", "-n", "shop"], "cannot be used with"),
        (&["--list", "--format", "markdown"], "--list prints text or JSON"),
        (&["--socket", "s", "-n", "shop"], "cannot be used with"),
        (&[""], "PID|POD"),
    ] {
        let output = attach(home.path(), flags);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(stderr(&output).contains(reason), "{flags:?}: {}", stderr(&output));
    }
}

#[test]
fn socket_of_a_killed_run_is_removed() {
    let home = Home::new();
    let mut run = home.run(&[]);
    let socket = home.sockets().join(format!("attach-{}.sock", run.pid()));
    assert_eq!(fs::symlink_metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(home.sockets()).unwrap().permissions().mode() & 0o777, 0o700);
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    assert!(socket.exists());
    assert_eq!(attach(home.path(), &[]).status.code(), Some(1));
    assert!(!socket.exists());
}

#[test]
fn suspended_run_is_listed_as_one_that_does_not_answer() {
    let home = Home::new();
    let run = home.run(&[]);
    kill_process(Pid::from_child(&run.child), Signal::STOP).unwrap();
    let list = stdout(&attach(home.path(), &["--list"]));
    assert!(list.contains(&run.pid()) && list.contains("does not answer: it may be suspended"), "{list}");
    kill_process(Pid::from_child(&run.child), Signal::CONT).unwrap();
    run.end();
}

#[test]
fn folder_that_others_can_enter_is_not_used() {
    let home = Home::new();
    fs::create_dir(home.sockets()).unwrap();
    fs::set_permissions(home.sockets(), fs::Permissions::from_mode(0o755)).unwrap();
    let run = home.run(&[]);
    assert!(
        run.first_lines.contains("watchtap attach will not find this run") && run.first_lines.contains("it must be 0700"),
        "{}",
        run.first_lines
    );
    assert_eq!(attach(home.path(), &[]).status.code(), Some(1));
    run.end();
}

#[test]
fn explicit_socket_that_cannot_be_bound_stops_the_start() {
    let home = Home::new();
    fs::write(home.path().join("file"), "kept").unwrap();
    for (path, reason) in [("file", "is no socket"), ("no/such/folder", "cannot use the folder"), (&*"x".repeat(120), "too long")] {
        let output = observer_tests::output_within(
            command(home.path()).env("KUBECONFIG", home.path().join("kubeconfig")).args(["run", "--attach-socket", path]),
            LIMIT,
        );
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
    assert_eq!(fs::read_to_string(home.path().join("file")).unwrap(), "kept");
}

/// A user's home, which is also the folder for temporary files, with a kubeconfig.
struct Home {
    folder: TempDir,
    upstream: Upstream,
}

/// A run in the background.
struct Background {
    child: Child,
    first_lines: String,
    _said: Lines,
}

impl Home {
    fn new() -> Self {
        let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start());
        fs::write(folder.path().join("kubeconfig"), upstream.kubeconfig()).unwrap();
        Self { folder, upstream }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of this user's sockets.
    fn sockets(&self) -> std::path::PathBuf {
        self.path().join(format!("watchtap-{}", rustix::process::geteuid().as_raw()))
    }

    #[track_caller]
    fn run(&self, flags: &[&str]) -> Background {
        let mut command = command(self.path());
        command.args(["run", "--quiet"]).args(flags).env("KUBECONFIG", self.path().join("kubeconfig"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let said = Lines::of(child.stderr.take().unwrap(), LIMIT);
        let mut first_lines = String::new();
        while !first_lines.contains("Ctrl-C drains") {
            let line = said.next_line().unwrap().unwrap_or_else(|| panic!("it ended: {first_lines}"));
            first_lines.extend([&*line, "\n"]);
        }
        Background { child, first_lines, _said: said }
    }
}

impl Background {
    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    #[track_caller]
    fn end(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert_eq!(wait_within(&mut self.child, LIMIT).unwrap().code(), Some(0));
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
