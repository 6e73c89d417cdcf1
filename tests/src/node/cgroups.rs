//! The cgroups in which the pods of a node run: one of the same name in each hierarchy of cgroup v1.
//!
//! Cgroup v2 is not supported: below a root that has processes, as that of a container, no controller can be enabled.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};

use crate::abandoned_cgroups::abandoned_cgroups;

const ROOT: &str = "/sys/fs/cgroup";
/// All names begin with this; the ID of the process that owns the node follows.
const PREFIX: &str = "watchtap-node-";

/// Creates the cgroups and returns their name. [`super::leavings`] removes them.
pub(crate) fn create() -> Result<String> {
    static NODES: AtomicU32 = AtomicU32::new(0);
    let name = format!("{PREFIX}{}-{}", std::process::id(), NODES.fetch_add(1, Ordering::Relaxed));
    let hierarchies = hierarchies()?;
    ensure!(!hierarchies.is_empty(), "{ROOT} has no hierarchy of cgroup v1");
    for hierarchy in hierarchies {
        remove_abandoned(&hierarchy)?;
        let cgroup = hierarchy.join(&name);
        fs::create_dir(&cgroup).with_context(|| format!("cannot create {}", cgroup.display()))?;
        for file in ["cpuset.cpus", "cpuset.mems"].into_iter().filter(|file| hierarchy.join(file).exists()) {
            // A new cpuset has neither processors nor memory, and takes no process.
            fs::write(cgroup.join(file), fs::read(hierarchy.join(file))?)?;
        }
    }
    Ok(name)
}

/// Links such as `cpu,cpuacct` name a hierarchy a second time.
fn hierarchies() -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(ROOT)?.collect::<Result<Vec<_>, _>>()?;
    let folders = entries.into_iter().map(|entry| entry.path()).filter(|path| path.is_dir() && !path.is_symlink());
    Ok(folders.filter(|folder| folder.join("cgroup.procs").exists()).collect())
}

/// Removes cgroups of owners that were killed together with their [`super::leavings`].
fn remove_abandoned(hierarchy: &Path) -> Result<()> {
    abandoned_cgroups(hierarchy, PREFIX)?.iter().for_each(|cgroup| remove(cgroup));
    Ok(())
}

/// A cgroup with a process stays.
fn remove(cgroup: &Path) {
    let entries = fs::read_dir(cgroup).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).for_each(|below| remove(&below));
    fs::remove_dir(cgroup).ok();
}
