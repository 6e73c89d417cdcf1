//! `watchtap demo` with a script, and its events.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use observer_tests::{Lines, wait_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Limit of the wait for a line.
const LIMIT: Duration = Duration::from_mins(1);

/// A running demo; dropping it kills the process.
pub(super) struct Played {
    watchtap: Child,
    events: Lines,
    report: PathBuf,
    _folder: TempDir,
}

impl Played {
    /// Plays a script, or the standard one, at this multiple of its speed.
    pub(super) fn start(script: Option<&str>, speed: u32) -> Self {
        Self::with_report(script, speed, "json")
    }

    /// Like [`Played::start`], with a report in this format.
    pub(super) fn with_report(script: Option<&str>, speed: u32, format: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("report");
        let mut command = watchtap().unwrap();
        command.args(["demo", "--quiet", "--grace", "0s", "--format", format, "--events", "-", "--speed", &speed.to_string()]);
        command.arg("--report").arg(&report);
        if let Some(script) = script {
            let file = folder.path().join("script");
            fs::write(&file, script).unwrap();
            command.arg("--script").arg(file);
        }
        command.env("HOME", folder.path()).env("TMPDIR", folder.path()).env_remove("KUBECONFIG").env_remove("XDG_RUNTIME_DIR");
        let mut watchtap = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let events = Lines::of(watchtap.stdout.take().unwrap(), LIMIT);
        Self { watchtap, events, report, _folder: folder }
    }

    /// The next event of `--events`.
    #[track_caller]
    pub(super) fn event(&self) -> Value {
        let line = self.events.next_line().unwrap().expect("the demo ended");
        serde_json::from_str(&line).unwrap()
    }

    /// The next answered requests of the clients with this program name, until there are `requests` of them, as in
    /// `list RV=N limit=500 200`.
    #[track_caller]
    pub(super) fn asked(&self, program: &str, requests: usize) -> Vec<String> {
        let mut asked = Vec::new();
        while asked.len() < requests {
            let event = self.event();
            if event["client"]["program"] == program {
                asked.extend(request(&event));
            }
        }
        asked
    }

    /// Ends the demo as Ctrl-C does, and returns its report.
    #[track_caller]
    pub(super) fn report(self) -> Value {
        serde_json::from_str(&self.report_as_written()).unwrap()
    }

    /// Ends the demo as Ctrl-C does, and returns the text of its report.
    #[track_caller]
    pub(super) fn report_as_written(mut self) -> String {
        kill_process(Pid::from_child(&self.watchtap), Signal::INT).unwrap();
        assert!(wait_within(&mut self.watchtap, LIMIT).unwrap().success());
        fs::read_to_string(&self.report).unwrap()
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        // The kill fails if it has already exited.
        let _outcome = self.watchtap.kill();
        let _status = self.watchtap.wait();
    }
}

/// The text form of an answered list or an opened watch.
pub(super) fn request(event: &Value) -> Option<String> {
    let is_reported_once =
        matches!((event["event"].as_str()?, event["verb"].as_str()?), ("request", "list") | ("watch-opened", "watch"));
    let status = event["status"].as_u64().filter(|_| is_reported_once)?;
    let options = &event["list_options"];
    let revision = &options["resource_version"];
    let revision = if revision == "any" {
        " RV=0"
    } else if revision["at"].is_u64() {
        " RV=N"
    } else {
        ""
    };
    let limit = options["limit"].as_u64().filter(|limit| *limit > 0).map(|limit| format!(" limit={limit}"));
    let mut words = [event["verb"].as_str()?, revision, &limit.unwrap_or_default()].concat();
    for (name, word) in [("send_initial_events", " initial-events"), ("allow_watch_bookmarks", " bookmarks")] {
        if options[name] == true {
            words.push_str(word);
        }
    }
    Some(format!("{words} {status}"))
}
