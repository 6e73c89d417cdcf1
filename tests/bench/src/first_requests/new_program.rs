//! Copies of a Go program with build identifiers that no program had before.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A Go program, to be copied.
pub(super) struct Original {
    bytes: Vec<u8>,
    /// Offset of its build identifier.
    identifier: usize,
}

/// A copy; dropping the value removes its file.
pub(super) struct NewProgram(PathBuf);

impl Original {
    pub(super) fn read(file: &Path) -> Result<Self> {
        // The name in the ELF note of the build identifier, which follows (Go `src/cmd/link/internal/ld/elf.go`, go1.26).
        const NOTE: &[u8] = b"Go\0\0";
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let note = bytes.windows(NOTE.len()).position(|bytes| bytes == NOTE);
        let note = note.with_context(|| format!("{} has no build identifier of Go", file.display()))?;
        Ok(Self { bytes, identifier: note + NOTE.len() })
    }

    /// Writes a copy with this number in its build identifier.
    pub(super) fn copy(&mut self, folder: &Path, number: u32) -> Result<NewProgram> {
        let place = self.bytes.get_mut(self.identifier..).and_then(|rest| rest.get_mut(..8)).context("no build identifier")?;
        place.copy_from_slice(format!("{number:08}").as_bytes());
        let path = folder.join(format!("program-{number}"));
        fs::write(&path, &self.bytes)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(NewProgram(path))
    }
}

impl NewProgram {
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for NewProgram {
    fn drop(&mut self) {
        fs::remove_file(&self.0).ok();
    }
}
