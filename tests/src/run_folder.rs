//! The folder of one running cluster: data, credentials, logs.
//!
//! A test process that is killed cannot clean up. So each process locks its folder for its lifetime, and the next cluster removes
//! the folders whose lock is free.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::folders;

const OWNER_LOCK: &str = "owner.lock";
/// Servers and clients in containers read the files as other users.
const READABLE: u32 = 0o644;

/// The folder. It is removed on drop. If the test panics, the folder is kept, and its path is printed to stderr.
#[derive(Debug)]
pub(crate) struct RunFolder {
    path: PathBuf,
    _owner: File,
}

impl RunFolder {
    pub(crate) fn create() -> Result<Self> {
        let runs = folders::cluster_cache().join("run");
        fs::create_dir_all(&runs).with_context(|| format!("cannot create {}", runs.display()))?;
        // Held until the owner has locked its new folder, so that no other process takes the folder for an abandoned one.
        let guard = File::create(runs.join("sweep.lock"))?;
        guard.lock()?;
        remove_abandoned(&runs)?;
        let path = tempfile::Builder::new().prefix("cluster-").tempdir_in(&runs)?.keep();
        let owner = File::create(path.join(OWNER_LOCK))?;
        owner.try_lock().context("somebody else locked a new folder")?;
        Ok(Self { path, _owner: owner })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into the folder and returns its path. A file of that name is replaced in one step: tests that share a cluster
    /// write the same kubeconfig at once, and one must not read it while another has only begun.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path.join(name);
        self.replace(&path, content.as_ref()).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    fn replace(&self, path: &Path, content: &[u8]) -> Result<()> {
        let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(READABLE)).tempfile_in(&self.path)?;
        file.write_all(content)?;
        file.persist(path)?;
        Ok(())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let path = self.path.display();
            writeln!(io::stderr(), "observer-tests: {path} is kept until the next cluster starts").ok();
        } else {
            fs::remove_dir_all(&self.path).ok();
        }
    }
}

fn remove_abandoned(runs: &Path) -> Result<()> {
    for entry in fs::read_dir(runs)? {
        let folder = entry?.path();
        let in_use = File::open(folder.join(OWNER_LOCK)).is_ok_and(|lock| lock.try_lock().is_err());
        if folder.is_dir() && !in_use {
            // The owner may be removing the folder at the same time; then there is nothing left to do.
            fs::remove_dir_all(&folder).ok();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn file_that_others_write_is_read_complete() {
        let folder = RunFolder::create().unwrap();
        let content = "x".repeat(64 * 1024);
        let path = folder.write("kubeconfig", &content).unwrap();
        thread::scope(|scope| {
            let writer = scope.spawn(|| (0..500).for_each(|_| drop(folder.write("kubeconfig", &content).unwrap())));
            while !writer.is_finished() {
                assert_eq!(fs::read_to_string(&path).unwrap().len(), content.len());
            }
        });
    }
}
