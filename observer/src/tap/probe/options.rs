//! What a probe is asked to do, and what it did.

use std::net::SocketAddr;
use std::path::PathBuf;

/// So many calls a second cost about half of a processor, at five microseconds each: where the probe's instructions must be single-stepped, which takes
/// one to two microseconds at the entry and again at the return.
const CALLS_PER_SECOND: u32 = 100_000;

/// What a probe is to observe.
///
/// Processes are recorded that are among `processes`, `names` or `cgroups`, whichever; all are where none of these is given. The kernel decides that when
/// a process first calls its TLS library after it has executed its program: a process that takes another name or cgroup later is what it was until it
/// executes another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeOptions {
    /// The addresses of API servers, as their clients reach them, 64 at most: connections that lead to one of them are followed, and no others.
    pub api_servers: Vec<SocketAddr>,
    /// Whether connections are followed where the process is an API server, too. One that is seen at both ends counts once, unless its
    /// addresses are translated in between.
    pub server_ends: bool,
    /// Size of the kernel's ring buffer in bytes: a power of two, and a multiple of the page size.
    pub ring_bytes: u32,
    /// Processes by number, 4,096 at most: as the PID namespace numbers them in which this runs. Each is that process only, and none of its children.
    pub processes: Vec<u32>,
    /// Processes by name, 1,024 at most: that of the first thread, as `/proc/PID/comm` tells it. Linux keeps 15 bytes of it, so of a longer name here only the first
    /// 15 are compared.
    pub names: Vec<String>,
    /// Processes by cgroup of version 2, 4,096 at most: those in it and in all below it, such as the containers of a pod, those of later too. Either as
    /// `/proc/PID/cgroup` tells it behind `0::`, or as the folder. Of a process more than 16 levels deep the cgroups from the 17th level on are not
    /// looked at, but for its own.
    pub cgroups: Vec<PathBuf>,
    /// Programs and libraries that are never probed, however they are found and whoever runs them: by absolute path, as the process sees it or as this one
    /// does, or by base name. Nothing is read of them. Each that is found is told once.
    pub never: Vec<String>,
    /// How many calls a second of the functions of one file the probes may cost, of all processes together that run it; 0 for any number. Measured over five
    /// seconds. A file that is called more often is left alone for the rest of the run, and told; its connections go out of sight.
    ///
    /// Processes that are not recorded count, since their calls cost the same: a probe is at a place of a file, for whomever runs it.
    pub calls_per_second: u32,
}

impl Default for ProbeOptions {
    /// No API server, all processes, a ring buffer of 8 MiB, and 100,000 calls a second of a file.
    fn default() -> Self {
        Self {
            api_servers: Vec::new(),
            server_ends: false,
            ring_bytes: 8 << 20,
            processes: Vec::new(),
            names: Vec::new(),
            cgroups: Vec::new(),
            never: Vec::new(),
            calls_per_second: CALLS_PER_SECOND,
        }
    }
}

/// What a probe did, as far as its [notices](crate::intake::Notice) do not tell it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeOutcome {
    /// Files whose processes had connections that were open before, so that their header fields are told besides.
    pub telling_fields: usize,
}
