//! Cgroups of version 2, by their folders.
//!
//! The kernel numbers a cgroup by the inode of its folder (Linux `include/linux/cgroup.h`, `cgroup_id`, 6.18).

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use procfs::process::{MountInfo, Process};
use rustix::fs::statfs;

use crate::tap::probe::error::OptionsError;

/// `CGROUP2_SUPER_MAGIC` of Linux `include/uapi/linux/magic.h`.
const MAGIC: u64 = 0x6367_7270;

/// A cgroup with all its descendants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cgroup {
    number: u64,
    /// Its path in `/proc/PID/cgroup`; `None` if that cannot be determined.
    path: Option<PathBuf>,
}

impl Cgroup {
    /// Finds a cgroup by a path. A path below a mount point of the file system cgroup2 is the folder of the cgroup. Any other path
    /// is taken as a path in `/proc/PID/cgroup`, with or without its leading slash.
    pub(super) fn find(given: &Path) -> Result<Self, OptionsError> {
        let places = mounted();
        let place = places.iter().find(|place| given.starts_with(&place.mount_point)).or(places.first());
        let place = place.ok_or(OptionsError::NoCgroups)?;
        let looked_in = folder(given, &place.mount_point, Path::new(&place.root));
        let missing = |source| OptionsError::NoCgroup { cgroup: given.to_owned(), looked_in: looked_in.clone(), source };
        let folder = fs::canonicalize(&looked_in).map_err(missing)?;
        let metadata = fs::metadata(&folder).map_err(missing)?;
        let file_system = statfs(&folder).map_err(|error| missing(error.into()))?;
        if !metadata.is_dir() || u64::try_from(file_system.f_type) != Ok(MAGIC) {
            return Err(OptionsError::OtherFolder { folder, mounted: place.mount_point.clone() });
        }
        // If a subtree or the root of another namespace is mounted, its folders have other paths.
        let path = folder.strip_prefix(&place.mount_point).ok().filter(|_| place.root == "/");
        Ok(Self { number: metadata.ino(), path: path.map(|path| Path::new("/").join(path)) })
    }

    /// The kernel's number of the cgroup.
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Whether a process with this path in `/proc/PID/cgroup` may be in this cgroup. False only if the process certainly is not.
    pub(super) fn may_have(&self, path: &str) -> bool {
        let path = Path::new(path);
        let is_outside = path.components().any(|component| component == Component::ParentDir);
        is_outside || self.path.as_ref().is_none_or(|own| path.starts_with(own))
    }
}

/// The folder of a path. The path may begin with the mount point, with the part of the tree that is mounted there, or with neither.
fn folder(given: &Path, mount_point: &Path, root: &Path) -> PathBuf {
    let absolute = Path::new("/").join(given);
    let inside =
        absolute.strip_prefix(mount_point).or_else(|_| absolute.strip_prefix(root)).or_else(|_| absolute.strip_prefix("/"));
    mount_point.join(inside.unwrap_or(given))
}

/// All mount points of the file system cgroup2. Those where the complete tree is mounted come first.
pub(super) fn mounted() -> Vec<MountInfo> {
    let mounts = Process::myself().and_then(|process| process.mountinfo()).map(|mounts| mounts.0).unwrap_or_default();
    let mut places: Vec<MountInfo> = mounts.into_iter().filter(|mount| mount.fs_type == "cgroup2").collect();
    places.sort_by_key(|place| place.root != "/");
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroup_includes_its_descendants() {
        let pod = |path: Option<&str>| Cgroup { number: 7, path: path.map(PathBuf::from) };
        for (own, path, expected) in [
            (Some("/kubepods.slice"), "/kubepods.slice", true),
            (Some("/kubepods.slice"), "/kubepods.slice/pod1.slice/c.scope", true),
            (Some("/kubepods.slice"), "/kubepods.slice2", false),
            (Some("/kubepods.slice"), "/", false),
            (Some("/"), "/system.slice", true),
            (Some("/kubepods.slice"), "/../other", true),
            (None, "/system.slice", true),
        ] {
            assert_eq!(pod(own).may_have(path), expected, "{own:?} {path}");
        }
    }

    #[test]
    fn proc_and_mounted_paths_lead_to_the_cgroup_folder() {
        for (given, mount_point, root, expected) in [
            ("/sys/fs/cgroup/a/b", "/sys/fs/cgroup", "/", "/sys/fs/cgroup/a/b"),
            ("/sys/fs/cgroup", "/sys/fs/cgroup", "/", "/sys/fs/cgroup/"),
            ("/a/b", "/sys/fs/cgroup/unified", "/", "/sys/fs/cgroup/unified/a/b"),
            ("a/b", "/sys/fs/cgroup", "/", "/sys/fs/cgroup/a/b"),
            ("/", "/sys/fs/cgroup", "/", "/sys/fs/cgroup/"),
            ("/docker/c/a", "/sys/fs/cgroup", "/docker/c", "/sys/fs/cgroup/a"),
            ("/../../kubepods.slice", "/sys/fs/cgroup", "/../..", "/sys/fs/cgroup/kubepods.slice"),
        ] {
            let found = folder(Path::new(given), Path::new(mount_point), Path::new(root));
            assert_eq!(found, Path::new(expected), "{given} {mount_point} {root}");
        }
    }
}
