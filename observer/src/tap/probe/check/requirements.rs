//! The requirements of a probe, one row each.

use super::capability::{Capabilities, Capability, effective_user};
use super::machine::Machine;
use super::trial::Step;
use crate::probe_check_result::Requirement;
use crate::tap::probe::find::namespace::{INITIAL_PID_NAMESPACE, INITIAL_USER_NAMESPACE};
use crate::tap::probe::kernel::PairBy;
use crate::tap::probe::limit;

/// The names in `/proc/sys/kernel/arch` of the architectures whose registers the programs read.
const ARCHITECTURES: [&str; 2] = ["x86_64", "aarch64"];
/// The first kernel on which the programs were tried.
const OLDEST: (u32, u32) = (5, 10);
const FROM_ROOT_ON: &str = "run it as root, or give it the capability: securityContext.capabilities.add in a pod, AmbientCapabilities in systemd, setcap for the program";

/// All rows; those on which most others depend come first.
pub(super) fn requirements(machine: &Machine) -> Vec<Requirement> {
    let rights = Rights::of(machine);
    vec![
        kernel(machine),
        architecture(machine),
        description(machine),
        lockdown(machine),
        user_namespace(machine),
        rights.required("CAP_BPF", Capability::Bpf),
        rights.required("CAP_PERFMON", Capability::Perfmon),
        rights.to_see_others(),
        rights.to_read_all(),
        rights.to_reach_replaced_files(),
        pid_namespace(machine),
        loading(machine, &rights),
        uprobes(machine, &rights),
        tried("tracepoints of processes (sched_process_exec, sched_process_exit)", &machine.trial.processes),
        tried_for("tracepoint of sockets (inet_sock_set_state)", &machine.trial.sockets, limit::NO_ENDS),
        pairing(machine),
        pod_names(machine),
        irrelevant("kernel.perf_event_paranoid", &machine.perf_event_paranoid, "it is for those without CAP_PERFMON"),
        irrelevant("kernel.unprivileged_bpf_disabled", &machine.unprivileged_bpf_disabled, "it is for those without CAP_BPF"),
        tracefs(machine),
    ]
}

/// A distribution's older kernel may have backports of the features. The trial shows whether they work.
fn kernel(machine: &Machine) -> Requirement {
    const NAME: &str = "Linux 5.10 or later";
    let release = &machine.release;
    match version(release) {
        Some(version) if version >= OLDEST => Requirement::met(NAME, release.clone()),
        _ if machine.trial.uprobes == Step::Works => Requirement::met(NAME, format!("{release}, which does what 5.10 does")),
        Some(_) => {
            Requirement::missing(NAME, release.clone(), "run a kernel of 5.10 or later: earlier ones lack ring buffers or helpers")
        }
        None => Requirement::unknown(NAME, format!("{release:?} is not a known form of a release")),
    }
}

/// `6.6` of `6.6.0-rc1+`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn architecture(machine: &Machine) -> Requirement {
    const NAME: &str = "architecture x86-64 or arm64";
    if ARCHITECTURES.contains(&machine.architecture.as_str()) {
        return Requirement::met(NAME, machine.architecture.clone());
    }
    let remedy =
        "use the proxy here (watchtap run, watchtap exec): the eBPF programs of this version read the registers of these two alone";
    Requirement::missing(NAME, machine.architecture.clone(), remedy)
}

fn description(machine: &Machine) -> Requirement {
    const NAME: &str = "BTF of the kernel (/sys/kernel/btf/vmlinux)";
    match &machine.description {
        Ok(()) => Requirement::met(NAME, "it has all members that are read"),
        Err(why) => Requirement::missing(
            NAME,
            why.clone(),
            "run a kernel that is built with CONFIG_DEBUG_INFO_BTF; in a container, let it have the node's /sys",
        ),
    }
}

fn lockdown(machine: &Machine) -> Requirement {
    const NAME: &str = "no lockdown for confidentiality";
    match &machine.lockdown {
        Ok(state) if state.contains("[confidentiality]") => Requirement::missing(
            NAME,
            state.clone(),
            "start the kernel with lockdown=integrity or without lockdown: under this one no eBPF program reads kernel memory",
        ),
        Ok(state) => Requirement::met(NAME, state.clone()),
        // Under that lockdown, the kernel refuses to load programs that read kernel memory, as these do.
        Err(why) if machine.trial.programs == Step::Works => {
            Requirement::met(NAME, format!("programs that read kernel memory are loaded ({why})"))
        }
        Err(why) => Requirement::unknown(NAME, why.clone()),
    }
}

fn user_namespace(machine: &Machine) -> Requirement {
    const NAME: &str = "initial user namespace";
    match machine.user_namespace {
        Some(INITIAL_USER_NAMESPACE) => Requirement::met(NAME, "it is this one"),
        Some(_) => Requirement::missing(
            NAME,
            "this is another one",
            "run it outside of rootless containers and unshare -U (hostUsers: true in a pod): the kernel does not count capabilities of other user namespaces",
        ),
        None => Requirement::unknown(NAME, "/proc/self/ns/user cannot be read"),
    }
}

/// In another PID namespace, watchtap knows processes only by the PIDs of that namespace, and processes outside have none there.
fn pid_namespace(machine: &Machine) -> Requirement {
    const NAME: &str = "initial PID namespace";
    match machine.pid_namespace {
        Some(INITIAL_PID_NAMESPACE) => Requirement::met(NAME, "it is this one"),
        Some(_) => Requirement::limits(
            NAME,
            "this is another one, as in a container, or on a node that is a container (kind)",
            limit::OTHER_PID_NAMESPACE,
            "hostPID: true in a pod, --pid=host for a container; on a node that is a container this is enough: all its processes are seen",
        ),
        None => Requirement::unknown(NAME, "/proc/self/ns/pid cannot be read"),
    }
}

/// Before Linux 5.11, maps and programs are locked memory, of which a process may usually have little.
fn loading(machine: &Machine, rights: &Rights) -> Requirement {
    const NAME: &str = "eBPF programs are loaded";
    const TO_LOCK: &str = "give it CAP_SYS_RESOURCE, which lifts the limit of locked memory before Linux 5.11, or run it as root (in the \
                           chart: probe.olderKernels); if the limit is high, a seccomp profile or a security module forbids it (see dmesg)";
    let is_old = version(&machine.release).is_some_and(|version| version < (5, 11));
    let may_load = rights.has_any(&[Capability::Bpf, Capability::SysAdmin]) == Some(true);
    match &machine.trial.programs {
        Step::Refused(why) if is_old && may_load && rights.has_any(&[Capability::SysResource]) == Some(false) => {
            Requirement::missing(NAME, first_line(why), TO_LOCK)
        }
        step @ (Step::Works | Step::Refused(_) | Step::NotTried) => tried(NAME, step),
    }
}

fn tried(name: &'static str, tried: &Step) -> Requirement {
    const REMEDY: &str =
        "fix the requirements above; if all are met, a seccomp profile or a security module forbids it (see dmesg)";
    match tried {
        Step::Works => Requirement::met(name, "it works"),
        Step::Refused(why) => Requirement::missing(name, first_line(why), REMEDY),
        Step::NotTried => Requirement::unknown(name, NOT_TRIED),
    }
}

/// Perf events of uprobes take `CAP_SYS_ADMIN` (`perf_uprobe_event_init` of Linux `kernel/events/core.c`, 5.10 to 6.18).
fn uprobes(machine: &Machine, rights: &Rights) -> Requirement {
    const NAME: &str = "uprobes are attached";
    const TO_ADMIN: &str = "give it CAP_SYS_ADMIN, which perf events of uprobes take, or run it as root; with Linux 6.6 or later, CAP_BPF and \
                            CAP_PERFMON are enough (in the chart: probe.olderKernels)";
    match (&machine.trial.uprobes, machine.trial.attached_by) {
        (Step::Works, Some(by)) => Requirement::met(NAME, format!("by {}", by.description())),
        (Step::Refused(why), _) if rights.has_any(&[Capability::SysAdmin]) == Some(false) && !has_multi_links(&machine.release) => {
            Requirement::missing(NAME, first_line(why), TO_ADMIN)
        }
        (step, _) => tried(NAME, step),
    }
}

/// Whether the kernel is expected to have `uprobe_multi` links (Linux 6.6). Only the remedy depends on it.
fn has_multi_links(release: &str) -> bool {
    version(release).is_some_and(|version| version >= (6, 6))
}

fn pairing(machine: &Machine) -> Requirement {
    const NAME: &str = "sends and receives of threads";
    match (&machine.trial.pairing, machine.trial.paired_by) {
        (Step::Works, Some(PairBy::Tracepoints)) => Requirement::met(NAME, "by tracepoints (sock_send_length, sock_recv_length)"),
        (Step::Works, Some(PairBy::Returns)) => Requirement::met(NAME, "by the returns of tcp_sendmsg and tcp_recvmsg"),
        (step, _) => tried_for(NAME, step, limit::UNPAIRED),
    }
}

fn tried_for(name: &'static str, tried: &Step, unseen: &'static str) -> Requirement {
    const REMEDY: &str = "run a later kernel: Linux 6.3 is the first with all tracepoints that are used";
    match tried {
        Step::Works => Requirement::met(name, "it works"),
        Step::Refused(why) => Requirement::limits(name, first_line(why), unseen, REMEDY),
        Step::NotTried => Requirement::unknown(name, NOT_TRIED),
    }
}

const NOT_TRIED: &str = "not tried: what comes before it does not work";

/// The first line is the error. The verifier's log comes after it and fills pages.
fn first_line(why: &str) -> &str {
    why.lines().next().unwrap_or_default()
}

fn pod_names(machine: &Machine) -> Requirement {
    const NAME: &str = "logs of pods";
    const UNSEEN: &str = "clients in pods have no names, but the identifiers of their containers and pods";
    const REMEDY: &str =
        "mount the node's folder /var/log/pods, which root can read; if the kubelet has another one, name that with --pod-logs";
    match &machine.pod_logs {
        None => Requirement::does_not_matter(NAME, "not there: no kubelet runs here, or it has another folder (--pod-logs)"),
        Some(Ok(())) => Requirement::met(NAME, "the folder can be read; its names are those of pods"),
        Some(Err(why)) => Requirement::limits(NAME, why.clone(), UNSEEN, REMEDY),
    }
}

fn irrelevant(name: &'static str, read: &Result<String, String>, why: &str) -> Requirement {
    let (Ok(found) | Err(found)) = read;
    Requirement::does_not_matter(name, format!("{found}: {why}"))
}

fn tracefs(machine: &Machine) -> Requirement {
    let mut kinds = machine.mounts.lines().filter_map(|mount| mount.split(' ').nth(2));
    let found = if kinds.any(|kind| kind == "tracefs") { "mounted" } else { "not mounted" };
    Requirement::does_not_matter("tracefs", format!("{found}: tracepoints are found by BTF"))
}

/// The rights of this process.
struct Rights {
    /// The effective capabilities; `None` if unknown.
    counted: Option<Capabilities>,
    user: Option<u32>,
    is_elsewhere: bool,
}

impl Rights {
    fn of(machine: &Machine) -> Self {
        Self {
            counted: Capabilities::effective(&machine.status),
            user: effective_user(&machine.status),
            is_elsewhere: machine.user_namespace.is_some_and(|number| number != INITIAL_USER_NAMESPACE),
        }
    }

    /// A capability that `CAP_SYS_ADMIN` can replace (`bpf_capable` and `perfmon_capable` of Linux `include/linux/capability.h`,
    /// 6.18).
    fn required(&self, name: &'static str, capability: Capability) -> Requirement {
        match self.has_any(&[capability, Capability::SysAdmin]) {
            None => Requirement::unknown(name, NO_STATUS),
            Some(true) => Requirement::met(name, self.found(capability)),
            Some(false) => Requirement::missing(name, self.not_found(), FROM_ROOT_ON),
        }
    }

    fn to_see_others(&self) -> Requirement {
        const NAME: &str = "CAP_SYS_PTRACE";
        const UNSEEN: &str = "processes of other users, and those with more rights, are not seen, unless they use the libssl that is installed on this machine";
        self.better_with(NAME, &[Capability::SysPtrace], UNSEEN)
    }

    fn to_read_all(&self) -> Requirement {
        const NAME: &str = "CAP_DAC_READ_SEARCH";
        const UNSEEN: &str = "programs that this user may not read are not seen; header fields on HTTP/2 connections that were open before are not \
                              seen in other users' processes";
        self.better_with(NAME, &[Capability::DacReadSearch], UNSEEN)
    }

    fn to_reach_replaced_files(&self) -> Requirement {
        const NAME: &str = "CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE";
        const UNSEEN: &str = "TLS libraries that were deleted or replaced since processes loaded them are not seen there";
        self.better_with(NAME, &[Capability::SysAdmin, Capability::CheckpointRestore], UNSEEN)
    }

    fn better_with(&self, name: &'static str, any: &[Capability], unseen: &'static str) -> Requirement {
        match self.has_any(any) {
            None => Requirement::unknown(name, NO_STATUS),
            Some(true) => Requirement::met(name, IN_EFFECT),
            Some(false) => Requirement::limits(name, self.not_found(), unseen, FROM_ROOT_ON),
        }
    }

    fn has_any(&self, any: &[Capability]) -> Option<bool> {
        let counted = self.counted?;
        Some(!self.is_elsewhere && any.iter().any(|capability| counted.has(*capability)))
    }

    fn found(&self, capability: Capability) -> &'static str {
        if self.counted.is_some_and(|counted| counted.has(capability)) {
            IN_EFFECT
        } else {
            "CAP_SYS_ADMIN is in effect, and is enough"
        }
    }

    fn not_found(&self) -> String {
        match self.user {
            _ if self.is_elsewhere => "not counted in this user namespace".to_owned(),
            Some(user) => format!("not in effect for this process of user {user}"),
            None => "not in effect".to_owned(),
        }
    }
}

const IN_EFFECT: &str = "in effect";
const NO_STATUS: &str = "/proc/self/status does not have it";
