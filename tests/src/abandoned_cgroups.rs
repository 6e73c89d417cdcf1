//! Cgroups of test processes that were killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The folders of cgroups that no process owns any more. The name of each cgroup of a test begins with `prefix`, and the ID of its owner
/// follows.
pub(crate) fn abandoned_cgroups(hierarchy: &Path, prefix: &str) -> io::Result<Vec<PathBuf>> {
    let mut abandoned = Vec::new();
    for entry in fs::read_dir(hierarchy)? {
        let entry = entry?;
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split('-').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            abandoned.push(entry.path());
        }
    }
    Ok(abandoned)
}
