//! The groups of tests: their contents, their requirements, and their cargo commands.

use clap::ValueEnum;

use super::extent::Extent;
use super::kernels::Kernels;
use super::lanes::Share;
use super::machine::Machine;
use super::matrix::Matrix;

/// A named set of tests that run together or are left out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Group {
    /// Unit and documentation tests of all crates, the oracle, replay and memory tests of the core, the house rules
    Unit,
    /// Tests with injected panics, of a watchtap that is built for them
    Panics,
    /// Tests with real sockets and without a cluster; the seeds of the fuzz targets; tiny runs of the benches
    It,
    /// The tests of the same binary with programs of Prometheus: those in modules of the name `prometheus`
    Prometheus,
    /// The tests of the same binary with an OpenTelemetry Collector: those in the module `collector`
    Collector,
    /// Tests with a real etcd and kube-apiserver, except those in `kubectl`; probe points in real programs
    Cluster,
    /// The tests of the same binaries that need kubectl: those with `kubectl` in their name or module
    Kubectl,
    /// The tests of the same binaries with Helm: those in the module `chart`
    Chart,
    /// Tests of the container image, which is built before
    Image,
    /// Tests of the eBPF programs in this machine's kernel, with real processes
    Kernel,
    /// The tests of the same binary that need Go: those in the modules `closing`, `first_requests` and
    /// `older_connections`
    KernelGo,
    /// The tests of the same binary that create cgroups: those in the module `cgroups`
    KernelCgroups,
    /// The tests of the same binary with TLS libraries from the npm and Python registries: those in the module `libraries`
    KernelLibraries,
    /// The tests of the same binary with a real kube-apiserver and clients of all kinds: those in modules whose names start with
    /// `cluster_`
    KernelCluster,
    /// Tests of the probe in other kernels, which virtual machines boot: those in the module `vm` of the same binary
    Vm,
    /// Unmodified controllers of client-go, controller-runtime, kube-rs and Python with the demo API server
    Controllers,
    /// Clients of many releases during faults, with watchtap and without
    Faults,
    /// End-to-end stories, each with real clients and a real kube-apiserver
    Stories,
    /// Tests on a cluster of one node with real containers
    Node,
    /// Minutes of churn and random faults, in which every byte is compared
    Soak,
}

/// The arguments of one cargo command.
type CargoArgs = Vec<String>;

/// Cargo passes the arguments after this one on to the tests.
const TO_TESTS: &str = "--";

impl Group {
    /// All groups in the order of the table and, as far as their [`Share`]s allow, of execution.
    pub(crate) const ALL: [Self; 20] = [
        Self::Unit,
        Self::Panics,
        Self::It,
        Self::Prometheus,
        Self::Collector,
        Self::Image,
        Self::Kernel,
        Self::KernelGo,
        Self::KernelCgroups,
        Self::KernelLibraries,
        Self::KernelCluster,
        Self::Vm,
        Self::Controllers,
        Self::Cluster,
        Self::Kubectl,
        Self::Chart,
        Self::Node,
        Self::Stories,
        Self::Faults,
        Self::Soak,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unit => "unit",
            Self::Panics => "panics",
            Self::It => "it",
            Self::Prometheus => "prometheus",
            Self::Collector => "collector",
            Self::Image => "image",
            Self::Cluster => "cluster",
            Self::Kubectl => "kubectl",
            Self::Chart => "chart",
            Self::Kernel => "kernel",
            Self::KernelGo => "kernel-go",
            Self::KernelCgroups => "kernel-cgroups",
            Self::KernelLibraries => "kernel-libraries",
            Self::KernelCluster => "kernel-cluster",
            Self::Vm => "vm",
            Self::Controllers => "controllers",
            Self::Faults => "faults",
            Self::Stories => "stories",
            Self::Node => "node",
            Self::Soak => "soak",
        }
    }

    /// The cargo commands that together run the group.
    ///
    /// `cluster`, `kubectl` and `chart` split the same binaries by two filters, so each test is in exactly one of them.
    pub(crate) fn cargo_calls(self, extent: Extent, matrix: &Matrix, kernels: &Kernels) -> Vec<CargoArgs> {
        let calls: &[&[&str]] = match self {
            Self::Unit => &[
                &[
                    "--lib",
                    "--bins",
                    "--test",
                    "oracle",
                    "--test",
                    "replay",
                    "--test",
                    "memory",
                    "--test",
                    "samples",
                    "--test",
                    "capture",
                    "--test",
                    "encodings",
                    "--test",
                    "reflectors",
                    "--test",
                    "server_ends",
                ],
                &["--doc"],
            ],
            Self::Panics => &[&["--test", "panics", "--features", "observer-tests/injected-faults"]],
            Self::It => &[&[
                "--test",
                "it",
                "--test",
                "benches",
                "--test",
                "seeds",
                "--",
                "--skip",
                "probing_bench",
                "--skip",
                "first_requests_bench",
                "--skip",
                "pod_bench",
                "--skip",
                "prometheus::",
                "--skip",
                "collector::",
            ]],
            Self::Prometheus => &[&["--test", "it", "--", "prometheus::"]],
            // These tests mostly wait, so several can run at the same time.
            Self::Collector => &[&["--test", "it", "--", "--test-threads", "8", "collector::"]],
            Self::Image => &[&["--test", "image"]],
            Self::Cluster => &[&["--test", "cluster", "--test", "probes", "--", "--skip", "kubectl", "--skip", "chart::"]],
            Self::Kubectl => &[&["--test", "cluster", "--test", "probes", "--", "kubectl", "--skip", "chart::"]],
            Self::Chart => &[&["--test", "cluster", "--", "chart::"]],
            // The number of lost records depends on the load, so the tests in `loss` run one by one.
            Self::Kernel => &[
                &[
                    "--test",
                    "kernel",
                    "--",
                    "--skip",
                    "closing::",
                    "--skip",
                    "first_requests::",
                    "--skip",
                    "older_connections::",
                    "--skip",
                    "cgroups::",
                    "--skip",
                    "libraries::",
                    "--skip",
                    "cluster_",
                    "--skip",
                    "vm::",
                    "--skip",
                    "loss::",
                ],
                &["--test", "kernel", "--", "--test-threads", "1", "--nocapture", "loss::"],
                &["--test", "benches", "--", "probing_bench", "first_requests_bench"],
            ],
            Self::KernelGo => &[&["--test", "kernel", "--", "closing::", "first_requests::", "older_connections::"]],
            Self::KernelCgroups => &[&["--test", "kernel", "--", "cgroups::"]],
            Self::KernelLibraries => &[&["--test", "kernel", "--", "--nocapture", "libraries::"]],
            Self::KernelCluster => &[&["--test", "kernel", "--", "cluster_"]],
            // One virtual machine at a time, which has as many processors as this machine should have.
            Self::Vm => &[&["--test", "kernel", "--", "--test-threads", "1", "--nocapture"]],
            Self::Controllers => &[&["--test", "controllers"]],
            // These tests mostly wait, so several can run at the same time.
            Self::Faults => &[&["--test", "faults", "--", "--test-threads", "3"]],
            Self::Stories => &[&["--test", "stories", "--", "--test-threads", "4"]],
            Self::Node => &[&["--test", "node"], &["--test", "benches", "--", "pod_bench"]],
            Self::Soak => &[&["--test", "soak", "--", "--nocapture"]],
        };
        let mut calls: Vec<CargoArgs> = calls.iter().map(|call| call.iter().map(|word| (*word).to_owned()).collect()).collect();
        let filters = self.filters(extent, matrix, kernels);
        if !filters.is_empty() {
            for call in &mut calls {
                if !call.iter().any(|word| word == TO_TESTS) {
                    call.push(TO_TESTS.to_owned());
                }
                call.extend_from_slice(&filters);
            }
        }
        calls
    }

    /// The arguments of the tests that choose among the tests of this group.
    fn filters(self, extent: Extent, matrix: &Matrix, kernels: &Kernels) -> CargoArgs {
        let mut filters: CargoArgs = extent.turn_skips(self).collect();
        if self == Self::Vm {
            filters.extend(kernels.filters());
        } else if self == Self::Cluster {
            filters.extend(matrix.skips());
        } else if self == Self::Faults {
            filters.extend(extent.fault_skips());
        }
        filters
    }

    /// The part of the machine that the group needs.
    pub(super) const fn share(self) -> Share {
        match self {
            // Cargo writes programs of other features to the same paths while `panics` builds. The tests of the kernel count lost records,
            // which depend on the load, and observe all processes of the machine.
            Self::Unit
            | Self::Panics
            | Self::Kernel
            | Self::KernelGo
            | Self::KernelCgroups
            | Self::KernelLibraries
            | Self::KernelCluster => Share::All,
            Self::Cluster => Share::Tenths(13),
            Self::Vm => Share::Tenths(12),
            Self::It => Share::Tenths(10),
            Self::Node => Share::Tenths(9),
            Self::Kubectl | Self::Chart | Self::Soak => Share::Tenths(8),
            Self::Faults => Share::Tenths(7),
            // The image is built at a low priority.
            Self::Stories | Self::Image => Share::Tenths(5),
            Self::Prometheus | Self::Collector | Self::Controllers => Share::Tenths(3),
        }
    }

    /// The group whose end this one waits for, if both run: it makes what this one uses.
    pub(super) const fn after(self) -> Option<Self> {
        if matches!(self, Self::Node) { Some(Self::Image) } else { None }
    }

    /// The reason why this group cannot run on `machine`, or `None` if it can.
    pub(crate) fn impossible(self, machine: &Machine) -> Option<String> {
        match self {
            Self::Unit | Self::Panics | Self::It => None,
            Self::Prometheus => machine.lacks(&["prometheus", "promtool"]),
            Self::Collector => machine.no_go().or_else(|| machine.lacks(&["setpriv"])),
            Self::Image => machine.not_root().or_else(|| machine.lacks(&["python3", "skopeo", "umoci", "unshare"])),
            Self::Cluster => machine.no_api_server(),
            Self::Kubectl => machine.no_api_server().or_else(|| machine.no_kubectl()),
            Self::Chart => machine.no_go().or_else(|| machine.no_kubectl()).or_else(|| machine.lacks(&["git"])),
            Self::Vm => {
                let missing = machine.no_vm().or_else(|| machine.no_go()).or_else(|| machine.no_kubectl());
                missing.or_else(|| machine.lacks(&["python3", "curl"]))
            }
            Self::Kernel => machine.no_probes().or_else(|| machine.lacks(&["python3", "curl", "setpriv"])),
            Self::KernelGo => machine.no_probes().or_else(|| machine.no_go()),
            Self::KernelCgroups => machine.no_probes().or_else(|| machine.no_cgroups()).or_else(|| machine.lacks(&["python3"])),
            Self::KernelLibraries => machine.no_probes().or_else(|| machine.lacks(&["python3", "npm"])),
            Self::KernelCluster => {
                let missing = machine.no_probes().or_else(|| machine.no_go()).or_else(|| machine.no_kubectl());
                missing.or_else(|| machine.lacks(&["python3", "curl", "node"]))
            }
            Self::Controllers => machine.no_go().or_else(|| machine.lacks(&["python3"])),
            Self::Faults => machine.no_go().or_else(|| machine.no_kubectl()),
            Self::Stories => machine.no_go().or_else(|| machine.no_kubectl()).or_else(|| machine.lacks(&["python3"])),
            Self::Node => {
                let missing = machine.no_go().or_else(|| machine.no_kubectl()).or_else(|| machine.no_node());
                missing.or_else(|| machine.no_probes()).or_else(|| machine.lacks(&["python3"]))
            }
            Self::Soak => machine.no_go(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test::machine::{Assets, Containers, Kernel};

    fn bare() -> Machine {
        Machine {
            go: false,
            kubectl: false,
            is_root: false,
            missing: vec!["node", "promtool"],
            assets: Assets::Unset,
            kernel: Kernel { has_btf: false, may_load: false, may_make_cgroups: false },
            containers: Containers { may_make_namespaces: false, has_cgroup_v1: false, missing_plugin: Some("bridge") },
        }
    }

    #[test]
    fn group_names_match_the_command_line() {
        for group in Group::ALL {
            let value = group.to_possible_value().unwrap();
            assert_eq!(value.get_name(), group.name());
        }
        assert_eq!(Group::ALL.len(), Group::value_variants().len());
    }

    /// Each file in `tests/` of a package, and each folder in it with a `main.rs`, is a test target. It runs only if a group names
    /// it.
    #[test]
    fn every_test_target_is_in_a_group() {
        let named =
            Group::ALL.map(|group| group.cargo_calls(Extent::Usual, &Matrix::default(), &Kernels::default()).concat()).concat();
        let packages = ["observer/core", "observer", "observer-ebpf", "tests/bench", "xtask"];
        let folders = packages.iter().map(|package| crate::workspace::root().join(package).join("tests"));
        let targets: Vec<String> = folders
            .chain([crate::workspace::root().join("tests")])
            .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten())
            .filter_map(|entry| {
                let name = entry.file_name();
                let name = name.to_str()?;
                let is_folder = entry.path().join("main.rs").exists();
                name.strip_suffix(".rs").or(is_folder.then_some(name)).map(str::to_owned)
            })
            .collect();
        assert!(targets.len() > 3, "{targets:?}");
        for target in targets {
            assert!(named.windows(2).any(|words| words == ["--test", &target]), "no group runs --test {target}");
        }
    }

    #[test]
    fn bare_machine_runs_only_groups_without_a_cluster() {
        let possible: Vec<Group> = Group::ALL.into_iter().filter(|group| group.impossible(&bare()).is_none()).collect();
        assert_eq!(possible, [Group::Unit, Group::Panics, Group::It]);
    }

    #[test]
    fn only_the_cluster_group_skips_minors() {
        let skips = Matrix::default().skips().collect::<Vec<_>>();
        let words = |group: Group| group.cargo_calls(Extent::Usual, &Matrix::default(), &Kernels::default()).concat();
        let has_them = |group: &Group| skips.iter().all(|word| words(*group).contains(word));
        assert_eq!(Group::ALL.into_iter().filter(has_them).collect::<Vec<_>>(), [Group::Cluster]);
    }

    #[test]
    fn cargo_never_reads_an_argument_of_the_tests() {
        for extent in [Extent::Usual, Extent::Everything].into_iter().chain((0..12).map(Extent::Sample)) {
            for call in Group::ALL.iter().flat_map(|group| group.cargo_calls(extent, &Matrix::default(), &Kernels::default())) {
                let of_cargo = call.split(|word| word == TO_TESTS).next().unwrap_or_default();
                assert!(!of_cargo.iter().any(|word| word == "--skip" || word == "--exact"), "{extent:?}: {call:?}");
            }
        }
    }

    #[test]
    fn kubectl_group_needs_kubectl_beside_the_api_server() {
        let machine = Machine { go: true, ..bare() };
        assert_eq!(Group::Cluster.impossible(&machine), None);
        assert_eq!(Group::Kubectl.impossible(&machine).as_deref(), Some("kubectl is not on PATH"));
    }

    #[test]
    fn faults_need_go_even_with_prebuilt_servers() {
        let machine = Machine { kubectl: true, assets: Assets::Complete, ..bare() };
        assert_eq!(Group::Kubectl.impossible(&machine), None);
        let reason = "go is not on PATH, and the clients of many ages are built with it";
        assert_eq!(Group::Faults.impossible(&machine).as_deref(), Some(reason));
    }
}
