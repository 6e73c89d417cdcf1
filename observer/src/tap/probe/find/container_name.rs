//! Finds the name of a container in the mounts of one of its processes.
//!
//! The kubelet mounts a file into each container, for its last words (by default at `/dev/termination-log`). The file is
//! `pods/UID/containers/NAME/RANDOM` in the kubelet's own folder: `makeMounts` of kubernetes/kubernetes
//! `pkg/kubelet/kuberuntime/kuberuntime_container.go`, and `getPodContainerDir` of `pkg/kubelet/kubelet_getters.go`, 1.34.4.

use crate::dns_label::is_dns_label;

/// The name of the container in the pod with this UID, from the `/proc/PID/mountinfo` (proc(5)) of a process. `None` if no mount
/// shows it, or if several mounts show different names. A process with `CAP_SYS_ADMIN` can mount such a file itself, so the name
/// must be checked.
pub(super) fn container_name<'m>(mountinfo: &'m str, pod_uid: &str) -> Option<&'m str> {
    // The fourth field of a line is the mounted part of the file system, whatever folder the file system is mounted at.
    let roots = mountinfo.lines().filter_map(|line| line.split(' ').nth(3));
    let mut names = roots.filter_map(|root| name_in(root, pod_uid));
    let name = names.next()?;
    names.all(|other| other == name).then_some(name)
}

fn name_in<'m>(root: &'m str, pod_uid: &str) -> Option<&'m str> {
    let mut parts = root.rsplit('/');
    let (_file, name) = (parts.next()?, parts.next()?);
    let is_of_pod = [parts.next()?, parts.next()?, parts.next()?] == ["containers", pod_uid, "pods"];
    (is_of_pod && is_dns_label(name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "5f1b2c3d-0a1b-4c5d-8e9f-001122334455";

    #[test]
    fn name_is_in_the_root_of_a_mount() {
        let line = |root: &str| format!("2301 2290 254:1 {root} /dev/termination-log rw,relatime - ext4 /dev/vda1 rw\n");
        let of = |roots: &[&str]| {
            let mounts: String = roots.iter().map(|root| line(&root.replace("UID", UID))).collect();
            container_name(&mounts, UID).map(str::to_owned)
        };
        for (roots, expected) in [
            (&["/", "/var/lib/kubelet/pods/UID/containers/app/1f2e3d4c"][..], Some("app")),
            // On a file system of its own, in a folder of another name, and in a node that is a container.
            (&["/pods/UID/containers/app/1f2e3d4c"], Some("app")),
            (&["/data/kubelet/pods/UID/containers/app/1f2e3d4c"], Some("app")),
            (&["/docker/volumes/v/_data/lib/kubelet/pods/UID/containers/app/1f2e3d4c"], Some("app")),
            (&["/pods/UID/containers/app/1", "/pods/UID/containers/app/2"], Some("app")),
            (&["/pods/UID/containers/app/1", "/pods/UID/containers/other/2"], None),
            (&["/var/lib/kubelet/pods/UID/etc-hosts", "/var/lib/kubelet/pods/UID/volumes/x/app/y"], None),
            (&["/pods/00000000-0000-4000-8000-000000000000/containers/app/1"], None),
            (&["/pods/UID/containers/App/1", "/pods/UID/containers//1", "/pods/UID/containers/a\u{1b}/1"], None),
            (&["containers/app/1"], None),
            (&[], None),
        ] {
            assert_eq!(of(roots).as_deref(), expected, "{roots:?}");
        }
        for text in ["", "\n", "1 2 3", "1 2 3 "] {
            assert_eq!(container_name(text, UID), None);
        }
    }
}
