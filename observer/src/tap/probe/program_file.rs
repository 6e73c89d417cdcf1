//! A file that a process runs code of.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use procfs::process::MemoryMap;

/// What the table of mappings adds to the name of a file that was deleted or replaced.
pub(super) const DELETED: &str = " (deleted)";

/// A file on its file system: the same for all processes that map it, under whatever name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FileIdentity {
    /// The device that it is on.
    pub(super) device: u64,
    /// Its number there. That of a file that is gone may be another file's later.
    pub(super) inode: u64,
    /// When it was made, where its file system keeps that: no other file with this number was made then. It stays when the file takes another name or
    /// other rights.
    pub(super) born: Option<SystemTime>,
}

impl FileIdentity {
    /// That of the file at a path, links followed; nothing for what is no file.
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| Self::told(&metadata))
    }

    /// As stat(2) told it.
    pub(super) fn told(metadata: &fs::Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino(), born: metadata.created().ok() }
    }

    /// As the table of mappings has it, where nothing better can be had.
    pub(super) fn mapped(map: &MemoryMap) -> Self {
        let number = |number: i32| u32::try_from(number).unwrap_or_default();
        Self { device: rustix::fs::makedev(number(map.dev.0), number(map.dev.1)), inode: map.inode, born: None }
    }
}

/// A file that a process runs code of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProgramFile {
    /// Which file.
    pub(super) identity: FileIdentity,
    /// Where this process, which may be in another mount namespace or have its file replaced on disk, reaches it through `/proc`.
    pub(super) path: PathBuf,
    /// Its name as the observed process has it.
    pub(super) name: String,
}
