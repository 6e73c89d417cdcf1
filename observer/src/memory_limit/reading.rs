//! Reads the limit from the files of a cgroup.

use std::io;
use std::path::{Path, PathBuf};

use super::cgroup_folders::{CgroupFolders, Version, is_in_memory_cgroup};
use crate::bounded_file;

/// Maximum size of a file that is read, in bytes. `mountinfo` of a node may have thousands of lines.
const MOST: u64 = 4 << 20;

/// Limits from here on are none. Cgroup v1 has a number without a limit, too: that of the largest page (`PAGE_COUNTER_MAX`).
const BOUNDLESS: u64 = 1 << 60;

/// The memory limit of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryLimit {
    /// The smallest limit of its cgroup and of the ancestors that can be seen, in bytes.
    pub(crate) bytes: u64,
    /// The file that has it.
    pub(crate) file: PathBuf,
}

/// Why no memory limit is known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoMemoryLimit {
    /// This system has no such file of proc(5).
    #[error("there is no {file}")]
    NoFile {
        /// One of the two files of this process.
        file: PathBuf,
    },
    /// A file of proc(5) cannot be read.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// One of the two files of this process.
        file: PathBuf,
        /// The error in words.
        why: String,
    },
    /// The kernel has no memory cgroups.
    #[error("the process is in no memory cgroup")]
    NoCgroup,
    /// No mount shows the cgroup of the process.
    #[error("no mount shows the memory cgroup of this process")]
    Hidden,
    /// No file of the cgroup and its ancestors has a limit.
    #[error("the cgroup has no memory limit")]
    Unlimited,
}

impl NoMemoryLimit {
    /// Whether there is no limit, as far as this process can know. Otherwise, one may exist.
    pub(crate) const fn is_usual(&self) -> bool {
        match self {
            Self::NoFile { .. } | Self::NoCgroup | Self::Unlimited => true,
            Self::Unreadable { .. } | Self::Hidden => false,
        }
    }
}

/// Reads the limit of the cgroup of this process.
pub(crate) fn of_this_process() -> Result<MemoryLimit, NoMemoryLimit> {
    let result = read_with(|file| bounded_file::read(file, MOST));
    match &result {
        Ok(limit) => tracing::debug!("{} limits this process to {} bytes of memory", limit.file.display(), limit.bytes),
        Err(why) => tracing::debug!("no memory limit: {why}"),
    }
    result
}

pub(super) fn read_with(read: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<MemoryLimit, NoMemoryLimit> {
    // The path of a mount, of any file system, may have any bytes.
    let text = |file: &Path| read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let of_process = |file: &str| {
        text(Path::new(file)).map_err(|error| {
            if error.kind() == io::ErrorKind::NotFound {
                NoMemoryLimit::NoFile { file: file.into() }
            } else {
                NoMemoryLimit::Unreadable { file: file.into(), why: error.to_string() }
            }
        })
    };
    let (cgroup, mountinfo) = (of_process("/proc/self/cgroup")?, of_process("/proc/self/mountinfo")?);
    if !is_in_memory_cgroup(&cgroup) {
        return Err(NoMemoryLimit::NoCgroup);
    }
    let folders = CgroupFolders::find(&cgroup, &mountinfo).ok_or(NoMemoryLimit::Hidden)?;
    smallest(&folders, text).ok_or(NoMemoryLimit::Unlimited)
}

/// The smallest limit in the files of these folders. A file that cannot be read has none: the root of a hierarchy of cgroup v2 has
/// no such files, and a controller may be off.
pub(super) fn smallest(cgroup: &CgroupFolders, read: impl Fn(&Path) -> io::Result<String>) -> Option<MemoryLimit> {
    let files = cgroup.folders.iter().flat_map(|folder| cgroup.version.files().iter().map(|name| folder.join(name)));
    let limits = files.filter_map(|file| Some(MemoryLimit { bytes: limit(&read(&file).ok()?)?, file }));
    limits.min_by_key(|limit| limit.bytes)
}

impl Version {
    /// Files with limits. Above `memory.high`, the kernel slows the process down, and with it the traffic. `memory.stat` of cgroup v1
    /// has the smallest limit of all ancestors, even of those that no mount shows.
    const fn files(self) -> &'static [&'static str] {
        match self {
            Self::V1 => &["memory.limit_in_bytes", "memory.stat"],
            Self::V2 => &["memory.max", "memory.high"],
        }
    }
}

/// The limit in the text of a file: its only word, or the number after `hierarchical_memory_limit`. `max` is none.
pub(super) fn limit(text: &str) -> Option<u64> {
    let number = match text.trim() {
        word if !word.contains(char::is_whitespace) => word,
        _ => text.lines().find_map(|line| line.strip_prefix("hierarchical_memory_limit "))?,
    };
    number.parse().ok().filter(|bytes| *bytes < BOUNDLESS)
}
