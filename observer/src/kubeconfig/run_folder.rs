//! The folder for the private files of one run.

use std::fs::{OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::runtime_directory::{self, NotPrivate};

/// A folder that only its owner can enter. When this is dropped, the folder is removed with everything in it.
///
/// A signal that kills the process would leave the folder behind. So a run handles the signals that request shutdown, and removes
/// the folder during shutdown.
#[derive(Debug)]
pub struct RunFolder {
    folder: TempDir,
    passed_over: Option<NotPrivate>,
}

impl RunFolder {
    /// Creates one in `runtime_directory` (the value of `XDG_RUNTIME_DIR`, kept in memory and per user), or in
    /// `temporary_directory` if that is unset or cannot be trusted. Its mode is 0700.
    pub fn create(runtime_directory: Option<&Path>, temporary_directory: &Path) -> io::Result<Self> {
        let preferred = runtime_directory.filter(|folder| !folder.as_os_str().is_empty());
        let passed_over = match preferred.map(create_in_private) {
            Some(Ok(folder)) => return Ok(Self { folder, passed_over: None }),
            Some(Err(why)) => Some(why),
            None => None,
        };
        Ok(Self { folder: create_in(temporary_directory)?, passed_over })
    }

    /// The reason why the folder is not in the runtime directory. `None` if it is there, or if no runtime directory was given.
    pub const fn passed_over(&self) -> Option<&NotPrivate> {
        self.passed_over.as_ref()
    }

    /// The folder's path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file that only its owner can read, mode 0600. Fails if the name exists already.
    pub fn write(&self, name: &str, contents: &[u8]) -> io::Result<PathBuf> {
        let path = self.path().join(name);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?.write_all(contents)?;
        Ok(path)
    }

    /// Removes the folder now, and returns an error if that fails.
    pub fn remove(self) -> io::Result<()> {
        self.folder.close()
    }
}

fn create_in_private(folder: &Path) -> Result<TempDir, NotPrivate> {
    runtime_directory::check_directory(folder)?;
    create_in(folder).map_err(NotPrivate::Unusable)
}

fn create_in(folder: &Path) -> io::Result<TempDir> {
    tempfile::Builder::new().prefix("watchtap-").permissions(Permissions::from_mode(0o700)).tempdir_in(folder)
}
