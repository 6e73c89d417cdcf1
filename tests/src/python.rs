//! The official Python client, from the registry of Python packages.

use std::fs;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::folders;

/// The release of the client.
pub(crate) const CLIENT: &str = "kubernetes==37.0.2";

/// A folder for `PYTHONPATH` that has the client; it is filled once per machine. `None`, with a message, if the client cannot be
/// downloaded.
pub fn python_packages() -> Result<Option<PathBuf>> {
    let all = folders::cluster_cache().join("python");
    let folder = all.join(CLIENT);
    if !folder.exists() {
        fs::create_dir_all(&all)?;
        let filling = tempfile::tempdir_in(&all)?;
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-warn-conflicts", "--target"])
            .arg(filling.path())
            .arg(CLIENT);
        if !pip.status()?.success() {
            writeln!(stdout().lock(), "left out: {CLIENT} cannot be had from its registry")?;
            return Ok(None);
        }
        // Another test may have filled it meanwhile.
        let filled = filling.keep();
        ensure!(fs::rename(&filled, &folder).is_ok() || folder.exists(), "cannot move {}", filled.display());
    }
    Ok(Some(folder))
}
