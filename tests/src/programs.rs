//! Programs on the PATH.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The first executable of that name on the PATH.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| is_executable(candidate))
}

/// As [`find`], for a program that the tests cannot do without; `purpose` says what for.
pub(crate) fn require(name: &str, purpose: &str) -> Result<PathBuf> {
    find(name).with_context(|| format!("`{name}` is not on the PATH; the cluster tests need it {purpose}"))
}

pub(crate) fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
