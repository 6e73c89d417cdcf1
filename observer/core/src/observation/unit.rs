//! Finds the systemd unit of a process by the path of its cgroup.
//!
//! Follows `cg_path_get_unit` of systemd/systemd src/basic/cgroup-util.c and `unit_name_is_valid` of src/basic/unit-name.c, 257.

/// Endings of units that have processes.
const KINDS: [&str; 5] = [".service", ".scope", ".socket", ".mount", ".swap"];
/// Maximum length of a unit's name in bytes (`UNIT_NAME_MAX`).
pub(crate) const MAX_UNIT: usize = 255;
/// The hierarchy of cgroup v1 that systemd manages.
const OF_SYSTEMD: &str = "name=systemd";

/// The unit of a process, from its `/proc/PID/cgroup` (proc(5)): by the hierarchy that systemd manages, or else by that of version
/// 2.
pub(super) fn of_process(cgroups: &str) -> Option<&str> {
    let path_of = |wanted: &str| {
        let mut lines = cgroups.lines().map(|line| line.splitn(3, ':').skip(1));
        lines.find_map(|mut line| if line.next() == Some(wanted) { line.next() } else { None })
    };
    [OF_SYSTEMD, ""].into_iter().filter_map(path_of).find_map(of_cgroup)
}

/// The unit whose cgroup this is, or is below. A unit is directly below slices; a unit of a user is below the user's service, which
/// is the one that is returned. `None` for a path outside of units.
pub(super) fn of_cgroup(path: &str) -> Option<&str> {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    // Seen from the cgroup namespace of a container, the path may begin above its root.
    let mut below = path.split('/').skip_while(|name| name.is_empty() || *name == ".." || name.strip_suffix(".slice").is_some());
    // systemd puts `_` before a name that is also the name of a file of the kernel.
    let name = below.next().map(|name| name.strip_prefix('_').unwrap_or(name))?;
    is_unit(name).then_some(name)
}

fn is_unit(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b":-_.\\@".contains(&byte);
    let stem = KINDS.iter().find_map(|kind| name.strip_suffix(kind));
    name.len() <= MAX_UNIT && name.bytes().all(is_letter) && stem.is_some_and(|stem| !stem.is_empty() && !stem.starts_with('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroup_below_slices_has_a_unit() {
        for (path, expected) in [
            ("/system.slice/kubelet.service", Some("kubelet.service")),
            ("/system.slice/system-getty.slice/getty@tty1.service", Some("getty@tty1.service")),
            ("/system.slice/containerd.service/nested/deeper", Some("containerd.service")),
            ("/kubelet.slice/kubelet.service", Some("kubelet.service")),
            ("/user.slice/user-1000.slice/session-2.scope", Some("session-2.scope")),
            ("/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.service", Some("user@1000.service")),
            ("/init.scope", Some("init.scope")),
            ("/system.slice/_memory.service", Some("memory.service")),
            ("/system.slice/dev-disk-by\\x2dlabel-a.swap", Some("dev-disk-by\\x2dlabel-a.swap")),
            ("/../../system.slice/kubelet.service", Some("kubelet.service")),
            ("/../kubelet.service (deleted)", Some("kubelet.service")),
            ("", None),
            ("/", None),
            ("/system.slice", None),
            ("/kubepods/besteffort", None),
            ("/docker/kubelet.service", None),
            ("/system.slice/.service", None),
            ("/system.slice/@1.service", None),
            ("/system.slice/kubelet.socket.bak", None),
            ("/system.slice/kube\u{1b}[2Jlet.service", None),
            ("/system.slice/kübelet.service", None),
        ] {
            assert_eq!(of_cgroup(path), expected, "{path}");
        }
        assert_eq!(of_cgroup(&format!("/system.slice/{}.service", "n".repeat(MAX_UNIT))), None);
    }

    #[test]
    fn unit_is_found_in_both_versions_of_cgroups() {
        for (cgroups, expected) in [
            ("0::/system.slice/kubelet.service\n", Some("kubelet.service")),
            ("5:memory:/\n1:name=systemd:/system.slice/a.service\n0::/system.slice/b.service\n", Some("a.service")),
            ("1:name=systemd:/\n0::/system.slice/b.service\n", Some("b.service")),
            ("5:memory:/system.slice/a.service\n", None),
            ("0:/system.slice/a.service\n", None),
            ("", None),
        ] {
            assert_eq!(of_process(cgroups), expected, "{cgroups}");
        }
    }
}
