//! Repeated runs of kubectl, each with its own connection.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use observer_tests::{Lines, kubectl, output_within};
use serde_json::json;

/// Limit of a run of kubectl.
const LIMIT: Duration = Duration::from_mins(1);
/// Time from the end of one run to the start of the next.
const PACE: Duration = Duration::from_millis(500);

/// Number of kubectl runs by kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Visits {
    pub(super) gets: u64,
    pub(super) watches_cut_off: u64,
    pub(super) applies: u64,
}

/// kubectl's kubeconfig, and the home folder of its discovery cache.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kubectl<'k> {
    pub(super) kubeconfig: &'k Path,
    pub(super) home: &'k Path,
    pub(super) namespace: &'k str,
}

impl Kubectl<'_> {
    /// Lists, watches and applies in turn, until the sender of `ended` is dropped.
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

    /// Kills a watching kubectl as soon as it has an event.
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
