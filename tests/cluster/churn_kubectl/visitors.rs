//! kubectl, again and again: each run comes with a connection of its own and leaves.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use observer_tests::{Lines, kubectl, output_within};
use serde_json::json;

/// No run of kubectl takes longer.
const LIMIT: Duration = Duration::from_mins(1);
/// From the end of one to the beginning of the next.
const PACE: Duration = Duration::from_millis(500);

/// How often kubectl came for what.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Visits {
    pub(super) gets: u64,
    pub(super) watches_cut_off: u64,
    pub(super) applies: u64,
}

/// Where kubectl is led, and where it keeps what it has discovered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kubectl<'k> {
    pub(super) kubeconfig: &'k Path,
    pub(super) home: &'k Path,
    pub(super) namespace: &'k str,
}

impl Kubectl<'_> {
    /// Lists, watches and applies, in turn, until `ended` has no sender any more.
    pub(super) fn visit(&self, ended: &Receiver<()>) -> Result<Visits> {
        let mut visits = Visits::default();
        let manifest = self.home.join("applied.json");
        while ended.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
            self.run(&["get", "configmaps"])?;
            visits.gets += 1;
            self.cut_a_watch_off()?;
            visits.watches_cut_off += 1;
            let object = json!({
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("applied-{}", visits.applies % 5)},
                "data": {"visit": visits.applies.to_string()},
            });
            std::fs::write(&manifest, object.to_string())?;
            self.run(&["apply", "-f", manifest.to_str().context("the folder has a plain name")?])?;
            visits.applies += 1;
        }
        Ok(visits)
    }

    fn run(&self, arguments: &[&str]) -> Result<()> {
        let output = output_within(self.command()?.args(arguments), LIMIT)?;
        ensure!(output.status.success(), "kubectl {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Kills one that watches as soon as an event has come.
    fn cut_a_watch_off(&self) -> Result<()> {
        let mut watching = self.command()?;
        watching.args(["get", "configmaps", "--watch-only", "-o", "name"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = watching.spawn()?;
        let lines = child.stdout.take().context("standard output is a pipe").map(|stdout| Lines::of(stdout, LIMIT));
        let line = lines.and_then(|lines| lines.next_line());
        child.kill()?;
        child.wait()?;
        line?.context("kubectl get --watch-only ended without a line")?;
        Ok(())
    }

    fn command(&self) -> Result<Command> {
        let mut command = Command::new(kubectl().context("these tests need kubectl on the PATH")?);
        command
            .args(["--namespace", self.namespace])
            .env("KUBECONFIG", self.kubeconfig)
            .env("HOME", self.home)
            .stdin(Stdio::null());
        Ok(command)
    }
}
