//! Why programs are not loaded or attached.

use std::io;

/// A step that the kernel or the eBPF object does not support.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The maps could not be made, or the object could not be read.
    #[error("cannot make the maps of the eBPF programs: {0}; it takes the capabilities CAP_BPF and CAP_PERFMON, or root")]
    Maps(#[source] Box<aya::EbpfError>),
    /// The object lacks a part that this version expects.
    #[error("the eBPF object has no {0}; it was built for another version of watchtap")]
    Lacks(&'static str),
    /// The kernel does not describe the members of its structures.
    #[error(
        "cannot find the offset of {member} in the kernel: {why}; it takes a kernel that is built with CONFIG_DEBUG_INFO_BTF and has /sys/kernel/btf/vmlinux"
    )]
    Offsets {
        /// The structure and its member.
        member: String,
        /// The missing part of the kernel's description.
        why: String,
    },
    /// The object's parts do not fit together.
    #[error("the eBPF object cannot be put together: {0}")]
    Object(String),
    /// A map cannot be used.
    #[error("map {name} of the eBPF programs: {source}")]
    Map {
        /// The map's name.
        name: &'static str,
        /// The kernel's error.
        source: Box<aya::maps::MapError>,
    },
    /// The kernel refuses a program.
    #[error(
        "the kernel does not load the eBPF program {program}: {source}; it takes the capabilities CAP_BPF and CAP_PERFMON, or root, and a kernel that \
         is not locked down for confidentiality (/sys/kernel/security/lockdown)\n{log}"
    )]
    Load {
        /// The program's name.
        program: &'static str,
        /// The kernel's error.
        source: io::Error,
        /// The verifier's log; empty if there is none.
        log: String,
    },
    /// A file cannot be probed.
    #[error("cannot attach {program}: {source}")]
    Attach {
        /// The program's name.
        program: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// No way to attach programs to files works.
    #[error("uprobes cannot be attached {0}; Linux before 6.6 needs the capability CAP_SYS_ADMIN, or root")]
    NoUprobes(String),
    /// Sends and receives of threads cannot be observed in any way.
    #[error("sends and receives of threads cannot be observed: {0}")]
    NoPairing(String),
    /// A tracepoint or a function of the kernel cannot be attached to.
    #[error("cannot attach {program} in the kernel: {why}")]
    Tracepoint {
        /// The program's name.
        program: &'static str,
        /// The message of the kernel or of aya.
        why: String,
    },
}
