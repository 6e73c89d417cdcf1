//! The audit log of the API server.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// An audit policy that logs each stage of each request, without bodies.
pub(crate) const POLICY: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: Metadata
";

/// The complete events; a partly written last line is left for the next read.
pub(crate) fn read(log: &Path) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
    let complete_lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    complete_lines.map(|line| serde_json::from_str(line).context("an audit line is not JSON")).collect()
}

/// Waits for events that satisfy `enough`.
pub(crate) fn read_when(log: &Path, enough: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
    const LIMIT: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_millis(20);
    let started = Instant::now();
    loop {
        let events = read(log)?;
        if enough(&events) {
            return Ok(events);
        }
        if started.elapsed() > LIMIT {
            bail!("the audit log holds {} events after {LIMIT:?}, not those that were awaited", events.len());
        }
        thread::sleep(PAUSE);
    }
}
