//! A file that is held open, independent of the process through which it was reached.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, fstatfs, open};

use super::program_file::{FileIdentity, ProgramFile};

/// A file whose code a process was seen to run. The process may end or execute another program while its file is examined.
#[derive(Debug)]
pub(in crate::tap::probe) struct OpenedFile {
    _file: File,
    path: PathBuf,
}

impl OpenedFile {
    /// Opens the file.
    ///
    /// # Errors
    ///
    /// `NotFound` if the process no longer has it: its path leads to another file, or to none.
    pub(in crate::tap::probe) fn of(found: &ProgramFile) -> io::Result<Self> {
        // The observed process may have put something else there: opening a pipe would block, and opening a device has effects.
        let place = File::from(open(&found.path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?);
        let there = place.metadata()?;
        if !there.is_file() || FileIdentity::new(&there, fstatfs(&place)?.f_type) != found.identity {
            return Err(io::ErrorKind::NotFound.into());
        }
        let file = File::open(format!("/proc/self/fd/{}", place.as_raw_fd()))?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        Ok(Self { _file: file, path })
    }

    /// A path to the file in this process, valid while `self` lives.
    pub(in crate::tap::probe) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[test]
    fn opened_file_survives_removal_and_a_replacement_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        std::fs::write(&path, "first").unwrap();
        let found = ProgramFile { identity: FileIdentity::of(&path).unwrap(), path: path.clone(), name: String::new() };
        let opened = OpenedFile::of(&found).unwrap();
        std::fs::rename(&path, folder.path().join("former")).unwrap();
        assert_eq!(OpenedFile::of(&found).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::write(&path, "second").unwrap();
        assert_eq!(OpenedFile::of(&found).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(std::fs::read_to_string(opened.path()).unwrap(), "first");
    }

    #[test]
    fn pipe_in_place_of_a_program_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let there = std::fs::metadata(&path).unwrap();
        let identity = FileIdentity { device: there.dev(), inode: there.ino(), born: there.created().ok() };
        let found = ProgramFile { identity, path, name: String::new() };
        assert_eq!(OpenedFile::of(&found).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
