//! A memory cgroup of a test, with a limit. Root is needed, and a mount of cgroup v1 with the memory controller, or of cgroup v2 that
//! has it enabled below its root.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::abandoned_cgroups::abandoned_cgroups;

/// The first part of a cgroup's name. The ID of the test process follows, and a number.
const PREFIX: &str = "watchtap-memory-";

/// A cgroup, which is removed when this is dropped. Its processes have to have ended.
#[derive(Debug)]
pub struct MemoryCgroup {
    folder: PathBuf,
    files: &'static Files,
}

/// The names of a version's files.
#[derive(Debug)]
struct Files {
    limit: &'static str,
    peak: &'static str,
    events: &'static str,
}

const V1: Files = Files { limit: "memory.limit_in_bytes", peak: "memory.max_usage_in_bytes", events: "memory.oom_control" };
const V2: Files = Files { limit: "memory.max", peak: "memory.peak", events: "memory.events" };

impl MemoryCgroup {
    /// Creates a cgroup in which all processes together have `limit` bytes; `None` if that is impossible here, which is reported.
    pub fn with_limit(limit: u64) -> Result<Option<Self>> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let Some((root, files)) = root() else {
            writeln!(std::io::stdout().lock(), "left out: a memory limit needs root and a writable memory cgroup")?;
            return Ok(None);
        };
        remove_abandoned(&root);
        let name = format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let cgroup = Self { folder: root.join(name), files };
        fs::create_dir(&cgroup.folder).with_context(|| format!("cannot create {}", cgroup.folder.display()))?;
        fs::write(cgroup.folder.join(files.limit), limit.to_string())?;
        Ok(Some(cgroup))
    }

    /// A command that enters the cgroup and becomes `program`. Arguments follow.
    pub fn enter(&self, program: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0/cgroup.procs\" && exec \"$@\""]).arg(&self.folder).arg(program);
        command
    }

    /// The most memory that its processes have had, with cached files, in bytes.
    pub fn peak(&self) -> Result<u64> {
        let text = fs::read_to_string(self.folder.join(self.files.peak))?;
        Ok(text.trim().parse()?)
    }

    /// The number of processes that the kernel has killed for lack of memory.
    pub fn kills(&self) -> Result<u64> {
        let events = fs::read_to_string(self.folder.join(self.files.events))?;
        let number = events.lines().find_map(|line| line.strip_prefix("oom_kill "));
        Ok(number.with_context(|| format!("no oom_kill in {events}"))?.parse()?)
    }
}

impl Drop for MemoryCgroup {
    fn drop(&mut self) {
        // A killed process leaves its cgroup a moment after it has ended.
        let until = Instant::now() + Duration::from_secs(5);
        while fs::remove_dir(&self.folder).is_err() && Instant::now() < until {
            yield_now();
        }
    }
}

/// Removes the cgroups of test processes that were killed, unless processes are left in them.
fn remove_abandoned(root: &Path) {
    for cgroup in abandoned_cgroups(root, PREFIX).unwrap_or_default() {
        let _stays_if_used = fs::remove_dir(cgroup);
    }
}

/// The folder below which cgroups with a memory limit can be made.
fn root() -> Option<(PathBuf, &'static Files)> {
    let (v1, v2) = (Path::new("/sys/fs/cgroup/memory"), Path::new("/sys/fs/cgroup"));
    if is_writable(&v1.join(V1.limit)) {
        return Some((v1.to_owned(), &V1));
    }
    let enabled = fs::read_to_string(v2.join("cgroup.subtree_control")).unwrap_or_default();
    let can_limit = enabled.split_whitespace().any(|controller| controller == "memory");
    (can_limit && is_writable(&v2.join("cgroup.subtree_control"))).then(|| (v2.to_owned(), &V2))
}

fn is_writable(file: &Path) -> bool {
    fs::OpenOptions::new().write(true).open(file).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_ended_test_processes_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let (own, ended) = (format!("{PREFIX}{}-0", std::process::id()), format!("{PREFIX}{}-7", u32::MAX));
        let used = format!("{PREFIX}{}-8", u32::MAX);
        for name in [&own, &ended, &format!("{used}/process"), "other-4294967295-0"] {
            fs::create_dir_all(root.path().join(name)).unwrap();
        }
        remove_abandoned(root.path());
        let names = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = names.collect();
        left.sort();
        let mut expected = [own, used, "other-4294967295-0".to_owned()];
        expected.sort();
        assert_eq!(left, expected);
    }
}
