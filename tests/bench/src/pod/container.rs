//! The memory and CPU time of a container, as the kernel counts them for its cgroup (v1).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use observer_tests::node::Node;
use serde::Serialize;
use serde_json::Value;

const ROOT: &str = "/sys/fs/cgroup";

/// The cgroups of a container.
#[derive(Debug)]
pub(super) struct Container {
    memory: PathBuf,
    cpu: PathBuf,
}

/// The memory of a container, in bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Memory {
    /// Pages that belong to no file, which the kernel cannot take away.
    pub(super) anonymous: u64,
    /// Resident memory of its processes, with the pages of the program. The kernel counts these for the container that reads them first,
    /// here for containerd.
    pub(super) resident: u64,
    /// All that counts towards the limit: also pages of files, volumes in memory, and what the kernel needs.
    pub(super) usage: u64,
    /// The largest usage since the start, or since [`Container::forget_peak`].
    pub(super) peak: u64,
}

impl Container {
    /// The first container in a list of a pod's status, such as `initContainerStatuses`.
    pub(super) fn first_of(node: &Node, pod: &Value, statuses: &str) -> Result<Self> {
        let id = pod["status"][statuses][0]["containerID"].as_str().context("the container does not run")?;
        let id = id.rsplit('/').next().unwrap_or(id);
        let cgroup = |hierarchy: &str| {
            let pods = Path::new(ROOT).join(hierarchy).join(node.cgroup());
            folder_below(&pods, id).with_context(|| format!("no cgroup of {id} in {}", pods.display()))
        };
        Ok(Self { memory: cgroup("memory")?, cpu: cgroup("cpuacct")? })
    }

    pub(super) fn memory(&self) -> Result<Memory> {
        let stat = fs::read_to_string(self.memory.join("memory.stat"))?;
        Ok(Memory {
            anonymous: field(&stat, "total_rss").context("memory.stat has no total_rss")?,
            resident: self.resident()?,
            usage: self.number("memory.usage_in_bytes")?,
            peak: self.number("memory.max_usage_in_bytes")?,
        })
    }

    /// Begins a new measurement of the peak.
    pub(super) fn forget_peak(&self) -> Result<()> {
        fs::write(self.memory.join("memory.max_usage_in_bytes"), "0").context("cannot reset the peak")
    }

    pub(super) fn limit(&self) -> Result<u64> {
        self.number("memory.limit_in_bytes")
    }

    /// CPU time so far.
    pub(super) fn cpu(&self) -> Result<Duration> {
        Ok(Duration::from_nanos(fs::read_to_string(self.cpu.join("cpuacct.usage"))?.trim().parse()?))
    }

    fn resident(&self) -> Result<u64> {
        let processes = fs::read_to_string(self.memory.join("cgroup.procs"))?;
        let resident = |process: &str| -> Result<u64> {
            let status = fs::read_to_string(format!("/proc/{process}/status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("a process without VmRSS")?;
            Ok(line.trim_end_matches("kB").trim().parse::<u64>()? * 1024)
        };
        processes.lines().map(resident).sum()
    }

    fn number(&self, file: &str) -> Result<u64> {
        let path = self.memory.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        text.trim().parse().with_context(|| format!("{} is no number: {text}", path.display()))
    }
}

/// A folder with this name, at any depth.
fn folder_below(folder: &Path, name: &str) -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    let found = folders.iter().find(|folder| folder.ends_with(name)).cloned();
    found.or_else(|| folders.iter().find_map(|folder| folder_below(folder, name)))
}

/// A number in a file whose lines are `NAME NUMBER`.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_has_the_complete_name() {
        let stat = "rss 1\nrss_huge 2\ntotal_rss_huge 3\ntotal_rss 4096\n";
        assert_eq!(field(stat, "total_rss"), Some(4096));
        assert_eq!(field(stat, "total"), None);
    }

    #[test]
    fn cgroup_is_found_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("kubepods/burstable/pod1/container2");
        fs::create_dir_all(&deep).unwrap();
        fs::write(folder.path().join("kubepods/container3"), "").unwrap();
        assert_eq!(folder_below(folder.path(), "container2"), Some(deep));
        assert_eq!(folder_below(folder.path(), "container3"), None);
    }
}
