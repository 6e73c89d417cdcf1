//! A file whose code a process runs.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use procfs::process::MemoryMap;
use rustix::fs::{FsWord, statfs};

/// The suffix that the table of mappings adds to the name of a deleted or replaced file.
pub(in crate::tap::probe) const DELETED: &str = " (deleted)";

/// `OVERLAYFS_SUPER_MAGIC` of Linux `include/uapi/linux/magic.h`.
const OVERLAYFS: FsWord = 0x794c_7630;
/// The device of each file on overlayfs. Device 0 is on no file system.
const LAYER: u64 = 0;

/// A file on its file system: the same for all processes that map it, whatever its name.
///
/// Containers of one image have its files on overlays with different devices. The kernel attaches to the file in the layer below, which is
/// the same for all of them. So a file on overlayfs is identified without a device: it has the inode number and the times of the file in
/// its layer (`ovl_getattr` of Linux `fs/overlayfs/inode.c`, 6.18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::tap::probe) struct FileIdentity {
    /// `st_dev` of stat(2); 0 on overlayfs.
    pub(in crate::tap::probe) device: u64,
    /// Its inode number. A later file may get the number of one that is gone.
    pub(in crate::tap::probe) inode: u64,
    /// Its creation time, if the file system keeps it: no other file with this inode has the same. A new name or new permissions do
    /// not change it. On overlayfs, the time of its last change replaces it if the layer keeps none.
    pub(in crate::tap::probe) born: Option<SystemTime>,
}

impl FileIdentity {
    /// The identity of the file at a path, following links; `None` if it is no regular file.
    pub(in crate::tap::probe) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self::new(&metadata, statfs(path).ok()?.f_type))
    }

    /// The identity from the results of stat(2), and of statfs(2) for its file system.
    pub(super) fn new(metadata: &fs::Metadata, file_system: FsWord) -> Self {
        let (inode, created) = (metadata.ino(), metadata.created().ok());
        if file_system == OVERLAYFS {
            return Self { device: LAYER, inode, born: created.or_else(|| changed(metadata)) };
        }
        Self { device: metadata.dev(), inode, born: created }
    }

    /// The identity from the table of mappings, if nothing better is available.
    pub(in crate::tap::probe) fn mapped(map: &MemoryMap) -> Self {
        let number = |number: i32| u32::try_from(number).unwrap_or_default();
        Self { device: rustix::fs::makedev(number(map.dev.0), number(map.dev.1)), inode: map.inode, born: None }
    }
}

/// `st_ctime` of stat(2).
fn changed(metadata: &fs::Metadata) -> Option<SystemTime> {
    let since = Duration::new(u64::try_from(metadata.ctime()).ok()?, u32::try_from(metadata.ctime_nsec()).ok()?);
    UNIX_EPOCH.checked_add(since)
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
