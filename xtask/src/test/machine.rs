//! Finds out which programs and permissions for tests this machine has.

use std::path::{Path, PathBuf};

/// The available programs and permissions.
#[derive(Debug)]
pub(crate) struct Machine {
    pub(crate) go: bool,
    pub(crate) kubectl: bool,
    /// Whether this process belongs to root.
    pub(crate) is_root: bool,
    /// Those of [`PROGRAMS`] that are missing.
    pub(crate) missing: Vec<&'static str>,
    pub(crate) assets: Assets,
    pub(crate) kernel: Kernel,
    pub(crate) containers: Containers,
}

/// Programs that tests run in addition to watchtap.
const PROGRAMS: [&str; 25] = [
    "python3",
    "curl",
    "git",
    "docker-registry",
    "node",
    "npm",
    "prometheus",
    "promtool",
    "setpriv",
    "skopeo",
    "umoci",
    "unshare",
    "nsenter",
    "ip",
    "containerd",
    "containerd-shim-runc-v2",
    "ctr",
    "runc",
    "qemu-system-x86_64",
    "qemu-system-aarch64",
    "busybox",
    "apt-get",
    "dpkg-deb",
    "timeout",
    "xz",
];
/// Where Debian has the programs that give pods their network.
const NETWORK_PLUGINS: &str = "/usr/lib/cni";

/// The kernel's features for eBPF programs, and this process's permissions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// Whether the kernel has BTF type information (`CONFIG_DEBUG_INFO_BTF`).
    pub(crate) has_btf: bool,
    /// Whether this process may load tracing programs.
    pub(crate) may_load: bool,
    /// Whether this process may create cgroups of version 2.
    pub(crate) may_make_cgroups: bool,
}

/// The conditions for a kubelet with containers, apart from programs on the PATH.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Containers {
    /// Whether this process may create namespaces.
    pub(crate) may_make_namespaces: bool,
    /// Whether the controllers belong to cgroup v1, whose hierarchies are in `/sys/fs/cgroup`.
    pub(crate) has_cgroup_v1: bool,
    /// The plugin for the network of pods that is missing in [`NETWORK_PLUGINS`].
    pub(crate) missing_plugin: Option<&'static str>,
}

/// The contents of the folder that `KUBEBUILDER_ASSETS` names. The name and the convention are those of controller-runtime
/// (`pkg/envtest/server.go`).
#[derive(Debug)]
pub(crate) enum Assets {
    Unset,
    Complete,
    Lacks { folder: PathBuf, program: &'static str },
}

impl Machine {
    pub(crate) fn here() -> Self {
        Self {
            go: is_on_path("go"),
            kubectl: is_on_path("kubectl"),
            is_root: is_root(&std::fs::read_to_string("/proc/self/status").unwrap_or_default()),
            missing: PROGRAMS.into_iter().filter(|program| !is_on_path(program)).collect(),
            assets: Assets::here(),
            kernel: Kernel::here(),
            containers: Containers::here(),
        }
    }

    /// The reason if no API server can start here: it must be built with Go or provided.
    pub(crate) fn no_api_server(&self) -> Option<String> {
        if self.go {
            return None;
        }
        match &self.assets {
            Assets::Complete => None,
            Assets::Unset => Some(String::from("go is not on PATH, and KUBEBUILDER_ASSETS is not set")),
            Assets::Lacks { folder, program } => {
                Some(format!("go is not on PATH, and KUBEBUILDER_ASSETS={} holds no {program}", folder.display()))
            }
        }
    }

    /// The reason if clients of old client-go releases cannot be built here.
    pub(crate) fn no_go(&self) -> Option<String> {
        (!self.go).then(|| String::from("go is not on PATH, and the clients of many ages are built with it"))
    }

    /// The reason if no eBPF program can be loaded here.
    pub(crate) fn no_probes(&self) -> Option<String> {
        if !self.kernel.has_btf {
            return Some(String::from("the kernel has no /sys/kernel/btf/vmlinux"));
        }
        (!self.kernel.may_load).then(|| String::from("this user has neither CAP_BPF with CAP_PERFMON nor CAP_SYS_ADMIN"))
    }

    /// The reason if no cgroup can be created here.
    pub(crate) fn no_cgroups(&self) -> Option<String> {
        (!self.kernel.may_make_cgroups)
            .then(|| String::from("cgroup2 is not mounted, or not for writing, or this user is not root"))
    }

    /// The reason if no kubelet with containers can run here.
    pub(crate) fn no_node(&self) -> Option<String> {
        if !self.containers.may_make_namespaces {
            return Some(String::from("this user has no CAP_SYS_ADMIN, which the namespaces of a node need"));
        }
        if !self.containers.has_cgroup_v1 {
            return Some(String::from(
                "/sys/fs/cgroup has no hierarchies of cgroup v1, and the tests create cgroups for pods only there",
            ));
        }
        if let Some(plugin) = self.containers.missing_plugin {
            return Some(format!("{NETWORK_PLUGINS}/{plugin} is missing, a plugin for the network of pods"));
        }
        self.lacks(&["setpriv", "unshare", "nsenter", "ip", "containerd", "containerd-shim-runc-v2", "ctr", "runc"])
    }

    /// The reason if no virtual machine with a kernel of Debian can run programs of this machine here.
    pub(crate) fn no_vm(&self) -> Option<String> {
        if std::env::consts::ARCH != "x86_64" {
            return Some(format!("the virtual machines are x86-64, and programs of this machine are {}", std::env::consts::ARCH));
        }
        if !self.is_root {
            return Some(String::from("this user is not root, and a virtual machine reads all files of this machine"));
        }
        self.lacks(&["qemu-system-x86_64", "busybox", "apt-get", "dpkg-deb", "setpriv", "timeout", "xz"])
    }

    /// The reason if tests that need the programs `needed`, of [`PROGRAMS`], cannot run here.
    pub(crate) fn lacks(&self, needed: &[&str]) -> Option<String> {
        let missing = self.missing.iter().find(|program| needed.contains(program))?;
        Some(format!("{missing} is not on PATH, and one of the tests runs it"))
    }

    /// The reason if this process cannot mount file systems and change its user.
    pub(crate) fn not_root(&self) -> Option<String> {
        (!self.is_root).then(|| String::from("this user is not root, and a test changes its root folder"))
    }

    pub(crate) fn no_kubectl(&self) -> Option<String> {
        (!self.kubectl).then(|| String::from("kubectl is not on PATH"))
    }
}

impl Kernel {
    fn here() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        Self {
            has_btf: Path::new("/sys/kernel/btf/vmlinux").is_file(),
            may_load: may_load(&status),
            may_make_cgroups: may_make_cgroups(&status, &mounts),
        }
    }
}

impl Containers {
    fn here() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let plugins = ["bridge", "host-local", "loopback"];
        Self {
            may_make_namespaces: has_capability(&status, CAP_SYS_ADMIN),
            has_cgroup_v1: Path::new("/sys/fs/cgroup/pids/cgroup.procs").is_file(),
            missing_plugin: plugins.into_iter().find(|plugin| !Path::new(NETWORK_PLUGINS).join(plugin).is_file()),
        }
    }
}

/// Numbers of capabilities (capabilities(7)).
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// Whether a process with this `/proc/PID/status` may load tracing programs.
fn may_load(status: &str) -> bool {
    let has = |capability| has_capability(status, capability);
    has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON))
}

/// Whether a process with this `/proc/PID/status` may use this capability.
fn has_capability(status: &str, capability: u32) -> bool {
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok()).unwrap_or(0);
    effective & (1 << capability) != 0
}

/// Whether the user with this `/proc/PID/status` may write to the first cgroup v2 mount in these `/proc/PID/mounts`.
fn may_make_cgroups(status: &str, mounts: &str) -> bool {
    let options = mounts.lines().map(|line| line.split(' ')).find_map(|mut fields| {
        let file_system = fields.nth(2)?;
        fields.next().filter(|_| file_system == "cgroup2")
    });
    is_root(status) && options.is_some_and(|options| options.split(',').any(|option| option == "rw"))
}

/// Whether the effective user of the process with this `/proc/PID/status` is root.
fn is_root(status: &str) -> bool {
    status.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().nth(1)) == Some("0")
}

impl Assets {
    fn here() -> Self {
        std::env::var_os("KUBEBUILDER_ASSETS").map_or(Self::Unset, |folder| Self::of(Path::new(&folder)))
    }

    fn of(folder: &Path) -> Self {
        let lacking = ["kube-apiserver", "etcd"].into_iter().find(|program| !folder.join(program).is_file());
        lacking.map_or(Self::Complete, |program| Self::Lacks { folder: folder.to_path_buf(), program })
    }
}

fn is_on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: Kernel = Kernel { has_btf: true, may_load: true, may_make_cgroups: true };
    const CONTAINERS: Containers = Containers { may_make_namespaces: true, has_cgroup_v1: true, missing_plugin: None };

    #[test]
    fn rights_to_load_programs_are_read_from_the_effective_capabilities() {
        for (status, expected) in [
            ("CapPrm:\t000001ffffffffff\nCapEff:\t000001ffffffffff\n", true),
            ("CapEff:\t000000c000000000", true),
            ("CapEff:\t0000008000000000", false),
            ("CapEff:\t0000000000200000", true),
            ("CapPrm:\t000001ffffffffff\nCapEff:\t0000000000000000", false),
            ("", false),
        ] {
            assert_eq!(may_load(status), expected, "{status}");
        }
    }

    #[test]
    fn root_may_create_cgroups_on_a_writable_mount() {
        let (root, other) = ("Name:\tcargo\nUid:\t1000\t0\t0\t0\n", "Uid:\t0\t1000\t0\t0\n");
        for (status, mounts, expected) in [
            (root, "proc /proc proc rw 0 0\ncgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n", true),
            (other, "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n", false),
            (root, "cgroup /sys/fs/cgroup cgroup2 ro,nosuid 0 0\n", false),
            (root, "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n", false),
            (root, "", false),
        ] {
            assert_eq!(may_make_cgroups(status, mounts), expected, "{status} {mounts}");
        }
    }

    #[test]
    fn node_needs_namespaces_cgroup_v1_plugins_and_a_runtime() {
        let reason = |containers, missing| {
            let machine =
                Machine { go: true, kubectl: true, is_root: true, missing, assets: Assets::Unset, kernel: KERNEL, containers };
            machine.no_node().unwrap_or_default()
        };
        assert_eq!(reason(CONTAINERS, Vec::new()), "");
        for (containers, missing, expected) in [
            (Containers { may_make_namespaces: false, ..CONTAINERS }, Vec::new(), "this user has no CAP_SYS_ADMIN"),
            (Containers { has_cgroup_v1: false, ..CONTAINERS }, Vec::new(), "/sys/fs/cgroup has no hierarchies of cgroup v1"),
            (Containers { missing_plugin: Some("bridge"), ..CONTAINERS }, Vec::new(), "/usr/lib/cni/bridge is missing"),
            (CONTAINERS, vec!["runc"], "runc is not on PATH"),
        ] {
            let reason = reason(containers, missing);
            assert!(reason.starts_with(expected), "{reason}");
        }
    }

    #[test]
    fn prebuilt_servers_replace_go() {
        let machine = Machine {
            go: false,
            kubectl: false,
            is_root: false,
            missing: Vec::new(),
            assets: Assets::Complete,
            kernel: KERNEL,
            containers: CONTAINERS,
        };
        assert_eq!(machine.no_api_server(), None);
    }

    #[test]
    fn incomplete_folder_is_reported_with_its_missing_file() {
        let assets = Assets::of(Path::new("no/such/folder"));
        let machine = Machine {
            go: false,
            kubectl: false,
            is_root: false,
            missing: Vec::new(),
            assets,
            kernel: KERNEL,
            containers: CONTAINERS,
        };
        let reason = "go is not on PATH, and KUBEBUILDER_ASSETS=no/such/folder holds no kube-apiserver";
        assert_eq!(machine.no_api_server().as_deref(), Some(reason));
    }
}
