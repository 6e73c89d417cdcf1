//! The audit log of the API server.

use std::path::Path;

use anyhow::{Context, Result};
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
