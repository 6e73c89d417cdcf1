//! Finds the folders of a process's memory cgroup and of its ancestors, from two files of proc(5).
//!
//! A path in `/proc/self/cgroup` begins at the root of the cgroup namespace. A mount may show only a part of the hierarchy: its root
//! is the fourth field of `/proc/self/mountinfo`. In a container with a cgroup namespace, both are `/`. Without one, as Docker and
//! Kubernetes do for cgroup v1, both are the container's path on the machine.

use std::path::{Path, PathBuf};

/// The version of cgroups that limits memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

/// The folders of a memory cgroup that this process can see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CgroupFolders {
    /// The version of its files.
    pub(super) version: Version,
    /// The cgroup's own folder, then those of its ancestors, up to the root of the mount.
    pub(super) folders: Vec<PathBuf>,
}

/// One line of `/proc/self/mountinfo`.
struct Mount<'l> {
    root: PathBuf,
    point: PathBuf,
    kind: &'l str,
    options: &'l str,
}

impl CgroupFolders {
    /// Finds them in the texts of `/proc/self/cgroup` and `/proc/self/mountinfo`. `None` without a memory cgroup, or if no mount
    /// shows it.
    pub(super) fn find(cgroup: &str, mountinfo: &str) -> Option<Self> {
        let (version, path) = memory_cgroup(cgroup)?;
        let shows_it = |mount: &Mount<'_>| match version {
            Version::V1 => mount.kind == "cgroup" && mount.options.split(',').any(|option| option == "memory"),
            Version::V2 => mount.kind == "cgroup2",
        };
        let mounts = mountinfo.lines().filter_map(Mount::parse).filter(shows_it);
        // Of several mounts, the one with the shortest root shows most ancestors.
        let below = mounts.filter_map(|mount| Some((path.strip_prefix(&mount.root).ok()?.to_owned(), mount.point)));
        let (below, point) = below.max_by_key(|(below, _)| below.components().count())?;
        let folders = below.ancestors().map(|folder| point.join(folder)).collect();
        Some(Self { version, folders })
    }
}

/// Whether a process with this text in `/proc/self/cgroup` is in a memory cgroup, even one that it cannot see.
pub(super) fn is_in_memory_cgroup(cgroup: &str) -> bool {
    version_and_path(cgroup).is_some()
}

/// The version and path of the memory cgroup, if the path leads to a folder.
fn memory_cgroup(cgroup: &str) -> Option<(Version, &Path)> {
    // A path outside of the namespace begins with `/..`, and leads to no folder.
    version_and_path(cgroup).filter(|(_, path)| path.components().all(|part| part.as_os_str() != ".."))
}

/// The version and path in a line `ID:CONTROLLERS:PATH`. If cgroup v1 has the controller, it limits memory, even where cgroup v2 is
/// mounted as well.
fn version_and_path(cgroup: &str) -> Option<(Version, &Path)> {
    let lines = || cgroup.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let v1 = lines().find(|(controllers, _)| controllers.split(',').any(|controller| controller == "memory"));
    let v2 = || lines().find(|(controllers, _)| controllers.is_empty());
    let (version, (_, path)) = v1.map(|line| (Version::V1, line)).or_else(|| Some((Version::V2, v2()?)))?;
    Some((version, Path::new(path)))
}

impl<'l> Mount<'l> {
    /// A line is `ID PARENT DEVICE ROOT POINT OPTIONS [TAG…] - TYPE SOURCE SUPER_OPTIONS`.
    fn parse(line: &'l str) -> Option<Self> {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let (root, point) = (unescaped(fields.next()?), unescaped(fields.next()?));
        let mut fields = file_system.split(' ');
        let (kind, options) = (fields.next()?, fields.nth(1)?);
        Some(Self { root, point, kind, options })
    }
}

/// A path in which the kernel has written blanks, line ends and backslashes as `\` and three octal digits.
fn unescaped(path: &str) -> PathBuf {
    let mut parts = path.split('\\');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => text.extend(std::iter::once(char::from(byte)).chain(part.chars().skip(3))),
            None => text.extend(std::iter::once('\\').chain(part.chars())),
        }
    }
    text.into()
}
