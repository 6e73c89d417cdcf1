//! A file whose code a process runs.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use procfs::process::MemoryMap;

/// The suffix that the table of mappings adds to the name of a deleted or replaced file.
pub(in crate::tap::probe) const DELETED: &str = " (deleted)";

/// A file on its file system: the same for all processes that map it, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::tap::probe) struct FileIdentity {
    /// `st_dev` of stat(2).
    pub(in crate::tap::probe) device: u64,
    /// Its inode number. A later file may get the number of one that is gone.
    pub(in crate::tap::probe) inode: u64,
    /// Its creation time, if the file system keeps it: no other file with this inode has the same. A new name or new permissions do
    /// not change it.
    pub(in crate::tap::probe) born: Option<SystemTime>,
}

impl FileIdentity {
    /// The identity of the file at a path, following links; `None` if it is no regular file.
    pub(in crate::tap::probe) fn of(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| Self::from_metadata(&metadata))
    }

    /// The identity from the result of stat(2).
    pub(in crate::tap::probe) fn from_metadata(metadata: &fs::Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino(), born: metadata.created().ok() }
    }

    /// The identity from the table of mappings, if nothing better is available.
    pub(in crate::tap::probe) fn mapped(map: &MemoryMap) -> Self {
        let number = |number: i32| u32::try_from(number).unwrap_or_default();
        Self { device: rustix::fs::makedev(number(map.dev.0), number(map.dev.1)), inode: map.inode, born: None }
    }
}

/// A file whose code a process runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tap::probe) struct ProgramFile {
    pub(in crate::tap::probe) identity: FileIdentity,
    /// A path through `/proc` by which watchtap reaches the file, even from another mount namespace or after the file was replaced
    /// on disk.
    pub(in crate::tap::probe) path: PathBuf,
    /// Its path as the observed process sees it.
    pub(in crate::tap::probe) name: String,
}
