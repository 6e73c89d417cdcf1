//! The private folder of a run, in memory if possible.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::kubeconfig::RunFolder;
use crate::printable::print_message;

/// Returns the environment variable that determined the location of the private folder. `path` is in that folder.
pub(super) fn folder_variable(path: &Path, runtime_directory: Option<&Path>) -> &'static str {
    let chosen = runtime_directory.is_some_and(|directory| directory.is_absolute() && path.starts_with(directory));
    if chosen { "XDG_RUNTIME_DIR" } else { "TMPDIR" }
}

/// Creates a private folder, in memory if possible.
pub(crate) fn private_folder() -> Result<RunFolder> {
    let (runtime_directory, instead) = (runtime_directory(), std::env::temp_dir());
    // A container from scratch has no /tmp.
    let folder = RunFolder::create(runtime_directory.as_deref(), &instead)
        .context("cannot create a private folder for this run; set TMPDIR to a folder that you can write to")?;
    if let Some((why, unused)) = folder.passed_over().zip(runtime_directory) {
        let (unused, instead) = (unused.display(), instead.display());
        print_message(format!("XDG_RUNTIME_DIR is not used: {unused} {why}; the private files of this run are in {instead}"));
    }
    Ok(folder)
}

pub(super) fn runtime_directory() -> Option<PathBuf> {
    std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from)
}
