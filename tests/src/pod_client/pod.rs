//! A program in a mount namespace of its own, with the root filesystem and the volumes of a container, and without a kubelet.
//!
//! The network is the machine's. As root, the program has a right that few containers have: it may read any file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use super::root::PodRoot;
use crate::process::Process;
use crate::programs;

/// Longest wait for a line. Some clients read their token once a minute.
const WITHIN: Duration = Duration::from_mins(2);

/// A container to start.
#[derive(Clone, Debug)]
pub struct PodSpec<'a> {
    /// Its root filesystem and program.
    pub root: &'a PodRoot,
    /// The program's arguments.
    pub arguments: &'a [&'a str],
    /// Environment variables; it has no others.
    pub environment: &'a [(&'a str, &'a str)],
    /// Read-only mounts: the path in the container, and the folder on this machine.
    pub mounts: &'a [(&'a str, &'a Path)],
}

/// A running container. Dropping it kills the program.
#[derive(Debug)]
pub struct Pod {
    process: Process,
    log: PathBuf,
    _folder: TempDir,
}

impl Pod {
    /// Starts the program. Unless this process is root's, it needs user namespaces.
    pub fn start(spec: &PodSpec<'_>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let pod = folder.path().join("root");
        fs::create_dir(&pod)?;
        let mut words: Vec<String> = spec.environment.iter().map(|(name, value)| format!("{name}={value}")).collect();
        words.push("unshare".to_owned());
        if !rustix::process::geteuid().is_root() {
            words.push("--map-root-user".to_owned());
        }
        words.extend(["--mount", "sh", "-c", include_str!("pod.sh"), "pod"].map(str::to_owned));
        words.push(text(&pod)?);
        let folders = spec.root.folders()?;
        let mounts = spec.mounts.iter().map(|(at, from)| ((*at).to_owned(), from.to_path_buf()));
        for (at, from) in folders.into_iter().chain(mounts) {
            words.extend([at, text(&from)?]);
        }
        words.push("--".to_owned());
        words.extend(spec.root.command().iter().cloned().chain(spec.arguments.iter().map(|word| (*word).to_owned())));
        let log = folder.path().join("log");
        let process = Process::start("a program in a pod", &programs::require("env", "for pods")?, &words, log.clone())?;
        Ok(Self { process, log, _folder: folder })
    }

    /// The JSON lines of its output so far.
    pub fn lines(&self) -> Result<Vec<Value>> {
        Ok(lines(&fs::read_to_string(&self.log)?))
    }

    /// Waits until its output has lines that satisfy `enough`, and returns them.
    pub fn lines_when(&mut self, enough: impl Fn(&[Value]) -> bool) -> Result<Vec<Value>> {
        let log = self.log.clone();
        let read = || fs::read_to_string(&log).map(|text| lines(&text)).unwrap_or_default();
        self.process.wait_until(WITHIN, || enough(&read()))?;
        Ok(read())
    }

    /// Its output and its errors so far, for messages.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }
}

/// Complete lines; the libraries may print other lines.
fn lines(text: &str) -> Vec<Value> {
    let complete = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    complete.filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("{} is not text", path.display()))
}
