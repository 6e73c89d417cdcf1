//! A demo that exports to a collector.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use observer_tests::{Lines, wait_within, watchtap};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// Limit for one line of output, and for the end.
const LIMIT: Duration = Duration::from_mins(1);

/// A running demo. Its files are in a folder of its own.
pub(super) struct Demo {
    watchtap: Child,
    pub(super) stdout: Lines,
    stderr: Lines,
    folder: TempDir,
}

/// An event of `--events`.
pub(super) type Event = Map<String, Value>;

impl Demo {
    /// Starts a demo. `@folder` in a flag is its folder.
    pub(super) fn start(script: &str, url: &str, flags: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let at = folder.path().to_str().unwrap();
        fs::write(folder.path().join("script"), script).unwrap();
        let mut command = watchtap().unwrap();
        command.args(["demo", "--grace", "0s", "--otlp", url, "--format", "json"]);
        for flag in ["--script", "@folder/script", "--report", "@folder/report"].iter().chain(flags) {
            command.arg(flag.replace("@folder", at));
        }
        command.env("HOME", at).env("TMPDIR", at).env_remove("XDG_RUNTIME_DIR").env_remove("KUBECONFIG");
        command.env("OTEL_RESOURCE_ATTRIBUTES", "k8s.node.name=n1,k8s.cluster.name=a%20b");
        // A request that is sent again because the machine is busy would change the counts.
        command.env("OTEL_EXPORTER_OTLP_TIMEOUT", "120000");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut watchtap = command.spawn().unwrap();
        let stdout = Lines::of(watchtap.stdout.take().unwrap(), LIMIT);
        let stderr = Lines::of(watchtap.stderr.take().unwrap(), LIMIT);
        Self { watchtap, stdout, stderr, folder }
    }

    /// Waits for a line on stderr that contains this text.
    #[track_caller]
    pub(super) fn message_with(&self, text: &str) -> String {
        loop {
            let line = self.stderr.next_line().unwrap().unwrap_or_else(|| panic!("no message with `{text}`"));
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Ends it with SIGINT. Returns the report, and what it has printed on stdout since the last line that was read.
    #[track_caller]
    pub(super) fn finish(&mut self) -> (Value, Vec<String>) {
        kill_process(Pid::from_child(&self.watchtap), Signal::INT).unwrap();
        assert!(wait_within(&mut self.watchtap, LIMIT).unwrap().success());
        let lines = std::iter::from_fn(|| self.stdout.next_line().unwrap()).collect();
        (serde_json::from_str(&self.file("report")).unwrap(), lines)
    }

    /// The content of a file in its folder.
    pub(super) fn file(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // The kill fails if it has already exited.
        let _outcome = self.watchtap.kill();
        let _status = self.watchtap.wait();
    }
}

/// The events in these lines, without the schema.
pub(super) fn events<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Event> {
    let lines = lines.map(|line| serde_json::from_str::<Event>(line).unwrap());
    lines.filter(|line| line.contains_key("event")).collect()
}
