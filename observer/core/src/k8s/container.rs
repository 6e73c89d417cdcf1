//! Finds the container and the pod of a process by the name of its cgroup.

use serde::{Deserialize, Serialize};

use super::pod::Pod;

/// Hexadecimal digits of a container's ID: containerd, CRI-O and Docker all use 32 random bytes.
const ID_DIGITS: usize = 64;
/// Prefixes that the runtimes put before the ID in the name of a container's scope.
const SCOPE_PREFIXES: [&str; 3] = ["cri-containerd-", "crio-", "docker-"];
/// Text between the pod's slice and the ID, if runc gets a path for systemd but manages cgroups itself.
const LITERAL_PREFIX: &str = ":cri-containerd:";

/// A container of a pod.
///
/// The kubelet names the cgroup of a pod, and the runtime names that of a container directly below it:
///
/// | | systemd | cgroupfs |
/// |---|---|---|
/// | pod | `[ROOT-]kubepods[-QOS]-podUID.slice`, the UID with `_` for `-` | `podUID` |
/// | containerd | `cri-containerd-ID.scope` | `ID` |
/// | CRI-O | `crio-ID.scope` | `crio-ID` |
/// | Docker | `docker-ID.scope` | `ID` |
///
/// Sources:
/// - `GetPodContainerName` of kubernetes/kubernetes `pkg/kubelet/cm/pod_container_manager_linux.go`, and `ToSystemd` of
///   `cgroup_manager_linux.go` beside it
/// - `getCgroupsPath` of containerd/containerd internal/cri/server/helpers.go
/// - `ContainerCgroupPath` of cri-o/cri-o internal/config/cgmgr (`systemd_linux.go`, `cgroupfs_linux.go`)
/// - `newCgroupParent` of moby/moby `cmd/dockerd/daemon_systemd_unix.go`
///
/// If the kubelet uses systemd and containerd's runc does not, one cgroup stands for both, named `SLICE:cri-containerd:ID`
/// (opencontainers/runc docs/systemd.md).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Container {
    /// The container's ID, as after `://` in `containerID` of the pod's status: 64 hexadecimal digits.
    pub id: String,
    /// The UID of the pod, as the kubelet knows it: a UUID. For a pod that is not from the API server, it is 32 hexadecimal digits
    /// instead (`applyDefaults` of kubernetes/kubernetes pkg/kubelet/config/common.go). The annotation `kubernetes.io/config.hash`
    /// of the mirror pod has them.
    pub pod_uid: String,
    /// The pod; `None` if it is unknown. Cgroups do not name it: only a probe looks it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<Pod>,
    /// The name of the container in the specification of the pod; `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why `pod` or `name` is unknown, if they were looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unnamed: Option<Unnamed>,
}

/// Why the names of a container are unknown, or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unnamed {
    /// The folder with the logs of all pods was not read: it is missing, access is denied, or it was read too recently.
    LogFoldersUnread,
    /// The pod has no log folder.
    NoLogFolder,
    /// Several log folders have the UID of the pod.
    SeveralLogFolders,
    /// The log folder of the pod shows no container.
    NoContainerFolder,
    /// The pod has several containers, and neither the mounts of the process nor the log folders show which one it is in.
    SeveralContainers,
}

impl Unnamed {
    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::LogFoldersUnread => "the log folders of pods could not be read",
            Self::NoLogFolder => "the pod has no log folder",
            Self::SeveralLogFolders => "several log folders have the UID of the pod",
            Self::NoContainerFolder => "the log folder of the pod shows no container",
            Self::SeveralContainers => "the pod has several containers, and no mount of the process shows its own",
        }
    }
}

impl Container {
    /// A container whose names are unknown.
    pub const fn nameless(id: String, pod_uid: String) -> Self {
        Self { id, pod_uid, pod: None, name: None, unnamed: None }
    }

    /// Whether the text has the form of a pod's UID.
    pub fn is_pod_uid(text: &str) -> bool {
        is_uuid(text) || is_of_manifest(text)
    }

    /// Whether the pod comes from a manifest on the node, and not from the API server. A manifest that states a UID itself is not
    /// recognized.
    pub fn is_static(&self) -> bool {
        is_of_manifest(&self.pod_uid)
    }

    /// How many of its names are known: that of the pod, and its own.
    pub fn known_names(&self) -> usize {
        usize::from(self.pod.is_some()) + usize::from(self.name.is_some())
    }

    /// The container of a process, from its `/proc/PID/cgroup` (proc(5)). Its lines are `HIERARCHY:CONTROLLERS:PATH`, one for
    /// version 2 and one for each hierarchy of version 1. The first line that names a container decides.
    pub fn of_process(cgroups: &str) -> Option<Self> {
        cgroups.lines().filter_map(|line| line.splitn(3, ':').nth(2)).find_map(Self::of_cgroup)
    }

    /// The container whose cgroup this is, or is below: a container may have cgroups of its own. If a container has pods inside,
    /// the outer container counts: no process in it can choose its name. `None` for a cgroup outside of pods, and for a pod's
    /// processes that are in no container.
    pub fn of_cgroup(path: &str) -> Option<Self> {
        // A process that has ended may outlive its cgroup (Linux Documentation/admin-guide/cgroup-v2.rst).
        let path = path.strip_suffix(" (deleted)").unwrap_or(path);
        let below = path.split('/').skip(1).chain([""]);
        path.split('/').zip(below).find_map(|(name, below)| {
            let (pod, id) = match name.split_once(LITERAL_PREFIX) {
                Some((slice, id)) => (slice, hexadecimal(id, ID_DIGITS)?),
                None => (name, id(below)?),
            };
            Some(Self::nameless(id.to_owned(), pod_uid(pod)?))
        })
    }
}

/// The pod's UID, from the name of its cgroup.
fn pod_uid(name: &str) -> Option<String> {
    let uid = match name.strip_suffix(".slice") {
        Some(slice) => {
            let (parents, pod) = slice.rsplit_once('-')?;
            parents.split('-').any(|parent| parent == "kubepods").then_some(())?;
            pod.strip_prefix("pod")?.replace('_', "-")
        }
        None => name.strip_prefix("pod")?.to_owned(),
    };
    Container::is_pod_uid(&uid).then_some(uid)
}

/// The container's ID, from the name of its cgroup.
fn id(name: &str) -> Option<&str> {
    let id = match name.strip_suffix(".scope") {
        Some(scope) => SCOPE_PREFIXES.iter().find_map(|prefix| scope.strip_prefix(prefix))?,
        None => name.strip_prefix("crio-").unwrap_or(name),
    };
    hexadecimal(id, ID_DIGITS)
}

/// Whether a UID is the hash of a manifest.
fn is_of_manifest(uid: &str) -> bool {
    hexadecimal(uid, 32).is_some()
}

fn is_uuid(text: &str) -> bool {
    let mut groups = text.split('-');
    [8, 4, 4, 4, 12].into_iter().all(|digits| groups.next().is_some_and(|group| hexadecimal(group, digits).is_some()))
        && groups.next().is_none()
}

/// `text`, if it consists of this many lower-case hexadecimal digits.
fn hexadecimal(text: &str, digits: usize) -> Option<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == digits && text.bytes().all(is_digit)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    const UID: &str = "5f1b2c3d-0a1b-4c5d-8e9f-001122334455";
    const SLICE_UID: &str = "5f1b2c3d_0a1b_4c5d_8e9f_001122334455";
    /// The UID of a pod from a manifest on the node.
    const HASH: &str = "d41d8cd98f00b204e9800998ecf8427e";

    /// Replaces `{id}`, `{uid}`, `{_uid}` and `{hash}` with the constants above.
    fn filled(text: &str) -> String {
        let text = text.replace("{id}", ID).replace("{_uid}", SLICE_UID);
        text.replace("{uid}", UID).replace("{hash}", HASH)
    }

    #[test]
    fn cgroup_of_a_container_has_its_id_and_its_pod() {
        for (path, pod_uid) in [
            ("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{_uid}.slice/cri-containerd-{id}.scope", UID),
            ("/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{_uid}.slice/crio-{id}.scope", UID),
            ("/kubepods.slice/kubepods-pod{_uid}.slice/docker-{id}.scope", UID),
            ("/kubepods.slice/kubepods-pod{hash}.slice/cri-containerd-{id}.scope", HASH),
            ("/kubepods/besteffort/pod{uid}/{id}", UID),
            ("/kubepods/burstable/pod{hash}/{id}", HASH),
            ("/kubepods/pod{uid}/{id}", UID),
            ("/kubepods/pod{uid}/crio-{id}", UID),
            // Containers with cgroups of their own: systemd in the container, and crun.
            ("/kubepods.slice/kubepods-pod{_uid}.slice/cri-containerd-{id}.scope/init.scope", UID),
            ("/kubepods.slice/kubepods-pod{_uid}.slice/crio-{id}.scope/container", UID),
            ("/kubepods/pod{uid}/{id}/system.slice/sshd.service", UID),
            // The kubelet in a container, as in kind, and with another root.
            (
                "/docker/{id}/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/\
                 kubelet-kubepods-besteffort-pod{_uid}.slice/cri-containerd-{id}.scope",
                UID,
            ),
            (
                "/system.slice/docker-{id}.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{_uid}.slice/\
                 cri-containerd-{id}.scope",
                UID,
            ),
            ("/docker/{id}/kubelet/kubepods/besteffort/pod{uid}/{id}", UID),
            // Seen from the namespace of another container.
            ("/../../kubepods-burstable-pod{_uid}.slice/cri-containerd-{id}.scope", UID),
            ("/../../pod{uid}/{id}", UID),
            ("/system.slice/containerd.service/kubepods-burstable-pod{_uid}.slice:cri-containerd:{id}", UID),
            ("/kubepods/pod{uid}/{id} (deleted)", UID),
        ] {
            let expected = Container::nameless(ID.to_owned(), pod_uid.to_owned());
            assert_eq!(expected.is_static(), pod_uid == HASH);
            assert_eq!(Container::of_cgroup(&filled(path)), Some(expected), "{path}");
        }
    }

    #[test]
    fn cgroup_outside_a_pod_container_is_rejected() {
        for path in [
            "",
            "/",
            "//",
            "/user.slice/user-1000.slice/session-2.scope",
            "/system.slice/kubelet.service",
            "/docker/{id}",
            "/system.slice/docker-{id}.scope",
            "/kubepods",
            "/kubepods.slice/kubepods-burstable.slice",
            // In a pod, but not in a container: the pod's own cgroup, and the monitor of CRI-O.
            "/kubepods/pod{uid}",
            "/kubepods.slice/kubepods-pod{_uid}.slice",
            "/kubepods.slice/kubepods-pod{_uid}.slice/crio-conmon-{id}.scope",
            "/kubepods/pod{uid}/between/{id}",
            "/machine.slice/machine-pod{_uid}.slice/cri-containerd-{id}.scope",
            "/kubepods.slice/kubepods-pod{_uid}.slice/other-{id}.scope",
            // No UID or no ID, or too many digits.
            "/kubepods/pod/{id}",
            "/kubepods/pod{uid}{uid}/{id}",
            "/kubepods/pod{hash}{hash}/{id}",
            "/kubepods/pod{uid}-/{id}",
            "/kubepods/pod\u{1b}[2J1b2c3d-0a1b-4c5d-8e9f-001122334455/{id}",
            "/kubepods/podéf1b2c3d-0a1b-4c5d-8e9f-001122334/{id}",
            "/kubepods/pod5F1B2C3D-0a1b-4c5d-8e9f-001122334455/{id}",
            "/kubepods/pod{_uid}/{id}",
            "/kubepods/pod{uid}/{id}{id}",
            "/kubepods/pod{uid}/{id}0",
            "/kubepods/pod{uid}/0123456789abcdef",
            "/kubepods.slice/kubepods-pod{_uid}.slice/cri-containerd-.scope",
            "/kubepods-pod{_uid}.slice:cri-containerd:",
            "/kubepods-pod.slice:cri-containerd:{id}",
            ".slice/{id}",
            "/-.slice/{id}",
        ] {
            assert_eq!(Container::of_cgroup(&filled(path)), None, "{path}");
        }
    }

    #[test]
    fn outermost_container_in_the_cgroup_path_wins() {
        let other = "f".repeat(ID_DIGITS);
        let path = filled("/kubepods/pod{uid}/{id}") + &filled("/kubepods/pod{hash}/") + &other;
        assert_eq!(Container::of_cgroup(&path).map(|container| container.pod_uid).as_deref(), Some(UID));
    }

    #[test]
    fn container_is_found_in_any_cgroup_hierarchy() {
        let expected = Container::nameless(ID.to_owned(), UID.to_owned());
        for (cgroups, found) in [
            ("0::/kubepods/pod{uid}/{id}\n", true),
            (
                "12:pids:/kubepods/pod{uid}/{id}\n1:name=systemd:/kubepods/pod{uid}/{id}\n0::/system.slice/containerd.service\n",
                true,
            ),
            ("2:cpu,cpuacct:/\n1:name=systemd:/init.scope\n0::/kubepods.slice/kubepods-pod{_uid}.slice/crio-{id}.scope", true),
            ("3:cpu:/system.slice/containerd.service/kubepods-pod{_uid}.slice:cri-containerd:{id}", true),
            ("0::/", false),
            ("/kubepods/pod{uid}/{id}", false),
            ("0:/kubepods/pod{uid}/{id}", false),
            ("", false),
        ] {
            assert_eq!(Container::of_process(&filled(cgroups)), found.then(|| expected.clone()), "{cgroups}");
        }
    }
}
