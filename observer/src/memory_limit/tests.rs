//! Texts of real systems, and values from the kernel's documentation.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::cgroup_folders::{CgroupFolders, Version};
use super::reading::{MemoryLimit, NoMemoryLimit, limit, read_with, smallest};

const DOCKER_V1: (&str, &str) = (
    "12:cpuset:/docker/4f0c2ad1\n5:memory:/docker/4f0c2ad1\n1:name=systemd:/docker/4f0c2ad1\n0::/docker/4f0c2ad1\n",
    "1120 1119 0:115 / /sys rw,nosuid,nodev,noexec,relatime - sysfs sysfs ro\n\
     1121 1120 0:116 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,mode=755\n\
     1126 1121 0:33 /docker/4f0c2ad1 /sys/fs/cgroup/memory ro,nosuid,nodev,noexec,relatime master:15 - cgroup cgroup rw,memory\n\
     1127 1121 0:34 /docker/4f0c2ad1 /sys/fs/cgroup/cpu,cpuacct ro,relatime master:16 - cgroup cgroup rw,cpu,cpuacct\n",
);

/// With a cgroup namespace of its own, which is the default for v2.
const DOCKER_V2: (&str, &str) = (
    "0::/\n",
    "677 676 0:60 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro\n\
     678 677 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate,memory_recursiveprot\n",
);

const KUBERNETES_V1: (&str, &str) = (
    "11:memory:/kubepods/burstable/pod5f1b2c3d-0a1b/0123456789abcdef\n10:hugetlb:/kubepods/burstable/pod5f1b2c3d-0a1b/0123456789abcdef\n",
    "2044 2043 0:31 /kubepods/burstable/pod5f1b2c3d-0a1b/0123456789abcdef /sys/fs/cgroup/memory ro,nosuid,nodev,noexec,relatime \
     master:14 - cgroup cgroup rw,memory\n",
);

/// No container: cgroup v1 has the controllers, and cgroup v2 is mounted beside it.
const SYSTEMD_HYBRID: (&str, &str) = (
    "9:memory:/user.slice/user-1000.slice/session-2.scope\n1:name=systemd:/user.slice/user-1000.slice/session-2.scope\n\
     0::/user.slice/user-1000.slice/session-2.scope\n",
    "33 32 0:28 / /sys/fs/cgroup/unified rw,nosuid,nodev,noexec,relatime shared:10 - cgroup2 cgroup2 rw,nsdelegate\n\
     40 32 0:35 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:17 - cgroup cgroup rw,memory\n",
);

/// No container: cgroup v2 only.
const SYSTEMD_V2: (&str, &str) = (
    "0::/system.slice/watchtap.service\n",
    "35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n",
);

#[test]
fn cgroup_and_its_visible_ancestors_are_found() {
    for (texts, version, expected) in [
        (DOCKER_V1, Version::V1, &["/sys/fs/cgroup/memory/"][..]),
        (DOCKER_V2, Version::V2, &["/sys/fs/cgroup/"]),
        (KUBERNETES_V1, Version::V1, &["/sys/fs/cgroup/memory/"]),
        (
            SYSTEMD_HYBRID,
            Version::V1,
            &[
                "/sys/fs/cgroup/memory/user.slice/user-1000.slice/session-2.scope",
                "/sys/fs/cgroup/memory/user.slice/user-1000.slice",
                "/sys/fs/cgroup/memory/user.slice",
                "/sys/fs/cgroup/memory/",
            ],
        ),
        (
            SYSTEMD_V2,
            Version::V2,
            &["/sys/fs/cgroup/system.slice/watchtap.service", "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup/"],
        ),
    ] {
        let found = CgroupFolders::find(texts.0, texts.1).unwrap();
        let folders: Vec<&str> = found.folders.iter().map(|folder| folder.to_str().unwrap()).collect();
        assert_eq!((found.version, folders.as_slice()), (version, expected), "{texts:?}");
    }
}

#[test]
fn of_several_mounts_the_one_with_most_ancestors_is_used() {
    let mountinfo = "1 0 0:1 /a/b /narrow rw - cgroup2 cgroup2 rw\n2 0 0:1 / /all rw - cgroup2 cgroup2 rw\n\
        3 0 0:1 /other /other rw - cgroup2 cgroup2 rw\n4 0 0:2 / / rw - ext4 /dev/vda rw\n";
    let found = CgroupFolders::find("0::/a/b/c\n", mountinfo).unwrap();
    assert_eq!(found.folders.len(), 4);
    assert_eq!(found.folders[0], Path::new("/all/a/b/c"));
}

#[test]
fn escapes_of_the_kernel_are_read() {
    let found = CgroupFolders::find("0::/\n", "1 0 0:1 / /a\\040b\\134c\\9 rw - cgroup2 cgroup2 rw\n").unwrap();
    assert_eq!(found.folders, [Path::new("/a b\\c\\9/")]);
}

#[test]
fn cgroup_that_no_mount_shows_is_none() {
    for (cgroup, mountinfo) in [
        ("", DOCKER_V2.1),
        (DOCKER_V2.0, ""),
        (DOCKER_V2.0, DOCKER_V1.1),
        ("0::/../../sibling\n", DOCKER_V2.1),
        ("5:memory:/elsewhere\n", DOCKER_V1.1),
        ("not a line\n", "not a mount - \n- - -\n"),
    ] {
        assert_eq!(CgroupFolders::find(cgroup, mountinfo), None, "{cgroup:?}");
    }
}

#[test]
fn limits_are_read_and_the_absence_of_one_too() {
    for (text, expected) in [
        ("134217728\n", Some(134_217_728)),
        ("max\n", None),
        // `memory.limit_in_bytes` without a limit, with pages of 4 KiB and of 64 KiB.
        ("9223372036854771712\n", None),
        ("9223372036854710272\n", None),
        ("18446744073709551616\n", None),
        ("-1\n", None),
        ("", None),
        ("cache 8192\nrss 4096\nhierarchical_memory_limit 67108864\nhierarchical_memsw_limit 1\n", Some(67_108_864)),
        ("cache 8192\nrss 4096\n", None),
    ] {
        assert_eq!(limit(text), expected, "{text:?}");
    }
}

#[test]
fn smallest_limit_of_the_cgroup_and_its_ancestors_counts() {
    let v2 = [
        ("/sys/fs/cgroup/system.slice/watchtap.service/memory.max", "max\n"),
        ("/sys/fs/cgroup/system.slice/memory.max", "268435456\n"),
        ("/sys/fs/cgroup/system.slice/watchtap.service/memory.high", "300000000\n"),
    ];
    assert_eq!(smallest_of(SYSTEMD_V2, &v2), Some((268_435_456, "/sys/fs/cgroup/system.slice/memory.max".to_owned())));
    let v1 = [
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n"),
        ("/sys/fs/cgroup/memory/memory.stat", "rss 4096\nhierarchical_memory_limit 100000000\n"),
    ];
    let of_a_pod = "/sys/fs/cgroup/memory/memory.stat".to_owned();
    assert_eq!(smallest_of(KUBERNETES_V1, &v1), Some((100_000_000, of_a_pod)), "an ancestor that no mount shows");
    assert_eq!(smallest_of(SYSTEMD_V2, &[]), None, "no file can be read");
}

#[test]
fn mount_with_any_bytes_hides_no_limit() {
    let mountinfo = [b"1 0 0:9 / /media/\xff rw - vfat /dev/sdb rw\n", DOCKER_V2.1.as_bytes()].concat();
    let files = [
        ("/proc/self/cgroup", DOCKER_V2.0.as_bytes()),
        ("/proc/self/mountinfo", &mountinfo),
        ("/sys/fs/cgroup/memory.max", b"77\n"),
    ];
    let found = read_of(&files).unwrap();
    assert_eq!((found.bytes, found.file.to_str().unwrap()), (77, "/sys/fs/cgroup/memory.max"));
}

#[test]
fn error_that_may_hide_a_limit_is_unusual() {
    let [cgroup, mountinfo] = ["/proc/self/cgroup", "/proc/self/mountinfo"];
    for (files, is_usual) in [
        (&[][..], true),
        (&[(cgroup, "3:cpuset:/\n"), (mountinfo, "")], true),
        (&[(cgroup, DOCKER_V2.0), (mountinfo, DOCKER_V2.1)], true),
        (&[(cgroup, DOCKER_V2.0), (mountinfo, "")], false),
        (&[(cgroup, "0::/../../sibling\n"), (mountinfo, DOCKER_V2.1)], false),
    ] {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(file, text)| (*file, text.as_bytes())).collect();
        let why = read_of(&files).unwrap_err();
        assert_eq!(why.is_usual(), is_usual, "{why}");
    }
    let why = read_with(|_| Err(io::ErrorKind::FileTooLarge.into())).unwrap_err();
    assert!(matches!(why, NoMemoryLimit::Unreadable { .. }) && !why.is_usual());
}

fn read_of(files: &[(&str, &[u8])]) -> Result<MemoryLimit, NoMemoryLimit> {
    let files: BTreeMap<&Path, &[u8]> = files.iter().map(|(file, bytes)| (Path::new(*file), *bytes)).collect();
    read_with(|file| files.get(file).map(|bytes| bytes.to_vec()).ok_or_else(|| io::ErrorKind::NotFound.into()))
}

fn smallest_of((cgroup, mountinfo): (&str, &str), files: &[(&str, &str)]) -> Option<(u64, String)> {
    let files: BTreeMap<&Path, &str> = files.iter().map(|(file, text)| (Path::new(*file), *text)).collect();
    let folders = CgroupFolders::find(cgroup, mountinfo).unwrap();
    let read = |file: &Path| files.get(file).map(|text| (*text).to_owned()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    let found = smallest(&folders, read)?;
    Some((found.bytes, found.file.to_str().unwrap().to_owned()))
}
