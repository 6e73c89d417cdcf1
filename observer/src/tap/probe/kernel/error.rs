//! Why programs are not loaded or attached.

use std::io;

/// What the kernel does not do.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// Maps could not be made, or the object not be read.
    #[error("cannot make the maps of the eBPF programs: {0}; it takes the capabilities CAP_BPF and CAP_PERFMON, or root")]
    Maps(#[source] Box<aya::EbpfError>),
    /// The object does not have what this version expects.
    #[error("the eBPF object has no {0}; it was built for another version of watchtap")]
    Lacks(&'static str),
    /// The kernel does not tell where the members of its structures are.
    #[error(
        "cannot tell where the kernel has {member}: {why}; it takes a kernel that is built with CONFIG_DEBUG_INFO_BTF and has /sys/kernel/btf/vmlinux"
    )]
    Offsets {
        /// Of which structure, and which member.
        member: String,
        /// What its description lacks.
        why: String,
    },
    /// The object's parts do not fit together.
    #[error("the eBPF object cannot be put together: {0}")]
    Object(String),
    /// A map cannot be used.
    #[error("map {name} of the eBPF programs: {source}")]
    Map {
        /// Which one.
        name: &'static str,
        /// What the kernel said.
        source: Box<aya::maps::MapError>,
    },
    /// The kernel refuses a program.
    #[error(
        "the kernel does not load the eBPF program {program}: {source}; it takes the capabilities CAP_BPF and CAP_PERFMON, or root, and a kernel that \
         is not locked down for confidentiality (/sys/kernel/security/lockdown)\n{log}"
    )]
    Load {
        /// Which one.
        program: &'static str,
        /// What it said.
        source: io::Error,
        /// Its verifier's words; empty where it has none.
        log: String,
    },
    /// A file cannot be probed.
    #[error("cannot attach {program}: {source}; uprobe_multi links need Linux 6.6 or later")]
    Attach {
        /// Which program.
        program: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// A tracepoint cannot be attached to.
    #[error("cannot attach {program} to its tracepoint: {why}")]
    Tracepoint {
        /// Which program.
        program: &'static str,
        /// What the kernel, or the library, said.
        why: String,
    },
}
