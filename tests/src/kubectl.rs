//! Finds kubectl on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::programs;

/// The newest kubectl on this machine, if there is one.
///
/// In some packages, the `kubectl` on the PATH asks the server for its version, and then runs another file in its folder, such as
/// `kubectl.1.33`. A test needs a known version, so these files are preferred.
pub fn kubectl() -> Option<PathBuf> {
    let on_path = on_path()?;
    let newest = beside(&on_path).into_iter().max_by_key(|(minor, _)| *minor);
    Some(newest.map_or(on_path, |(_, file)| file))
}

/// The version of [`kubectl`], as in `1.33.1`.
pub fn kubectl_version() -> Result<String> {
    let output =
        Command::new(kubectl().context("kubectl is missing")?).args(["version", "--client", "--output", "json"]).output()?;
    let said: Value = serde_json::from_slice(&output.stdout).context("kubectl does not say its version")?;
    let version = said["clientVersion"]["gitVersion"].as_str().with_context(|| format!("no version in {said}"))?;
    Ok(version.trim_start_matches('v').to_owned())
}

/// kubectl 1.`minor`, from the folder of such a `kubectl`.
pub fn kubectl_of_minor(minor: u32) -> Option<PathBuf> {
    let found = beside(&on_path()?).into_iter().find(|(found, _)| *found == minor);
    found.map(|(_, file)| file)
}

/// All versions in the folder of such a `kubectl`, oldest first; empty if only one kubectl exists.
pub fn kubectl_minors() -> Vec<(u32, PathBuf)> {
    let mut minors = on_path().map(|kubectl| beside(&kubectl)).unwrap_or_default();
    minors.sort();
    minors
}

fn on_path() -> Option<PathBuf> {
    fs::canonicalize(programs::find("kubectl")?).ok()
}

/// The files `kubectl.1.N` in the folder of `kubectl`, with their minors.
fn beside(kubectl: &Path) -> Vec<(u32, PathBuf)> {
    let entries = kubectl.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten();
    let files = entries.flatten().map(|entry| entry.path()).filter(|file| programs::is_executable(file));
    files
        .filter_map(|file| {
            let minor = file.file_name()?.to_str()?.strip_prefix("kubectl.1.")?.parse().ok()?;
            Some((minor, file))
        })
        .collect()
}
