//! The options of a probe, and its outcome.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::kernel::{AttachBy, PairBy};
use crate::api_server::UpstreamId;
use crate::intake::ProbeLimits;

/// The default of [`ProbeOptions::calls_per_second`]. At 5 µs per call, this number of calls takes about half of a processor. A
/// call costs that much if its probed instructions must be single-stepped: 1 to 2 µs of it at the entry, and again at the return.
const CALLS_PER_SECOND: u32 = 100_000;
/// The default of [`ProbeOptions::processor_budget`]: one processor.
const PROCESSOR_BUDGET: u32 = 1_000;

/// The processes that a probe records, and the bounds of its cost.
///
/// A process is recorded if it matches any of `processes`, `names` or `cgroups`; without these, all processes are recorded. The
/// kernel makes this decision when the process calls its TLS library for the first time after executing its program. A process that
/// takes another name or cgroup later keeps the decision until it executes another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeOptions {
    /// The addresses of API servers at first, as their clients reach them. The value is the server at the address. Only connections
    /// to one of these addresses are followed, or of those that [`ServerAddresses`](super::ServerAddresses) gives later. Of more
    /// than 64, those of the first servers are followed.
    pub api_servers: BTreeMap<SocketAddr, UpstreamId>,
    /// The ends at which connections are followed.
    pub server_ends: ServerEnds,
    /// Bounds on the memory of records and plaintext.
    pub memory: ProbeLimits,
    /// Processes by PID, 4,096 at most, as numbered in watchtap's PID namespace. Children are not included.
    pub processes: Vec<u32>,
    /// Processes by name, 1,024 at most. The name of a process is that of its first thread, as in `/proc/PID/comm`. Linux keeps 15
    /// bytes, so only the first 15 bytes of a name here are compared.
    pub names: Vec<String>,
    /// Processes by cgroup of version 2, 4,096 at most. Each includes its descendants, such as the containers of a pod, and later
    /// processes. A cgroup is given by its path in `/proc/PID/cgroup` (the part after `0::`) or by its folder. Only the 16
    /// nearest cgroups of a process are compared, from its own one up.
    pub cgroups: Vec<PathBuf>,
    /// Programs and libraries that are never probed or read, whichever process runs them. Each is given by base name, or by
    /// absolute path as the process or watchtap sees it. Each match is reported once.
    pub exclude: Vec<String>,
    /// Maximum number of calls per second of one file's probed functions, over all processes that run it; 0 for no limit. Measured
    /// over five seconds. A file with more calls is reported, and is not probed for the rest of the run; its connections are no
    /// longer observed.
    ///
    /// Unrecorded processes count too, since their calls cost the same: a probe is attached to a file, whichever process runs it.
    pub calls_per_second: u32,
    /// Maximum processor time of watchtap itself, in thousandths of a processor; 0 for no limit. Measured over five seconds, without
    /// the examination of files. If watchtap takes more, the file that it records most of is reported. It is not probed for the rest
    /// of the run, as with [`Self::calls_per_second`].
    pub processor_budget: u32,
    /// The folder in which the kubelet keeps the logs of all pods. Its subfolders name the pods and containers of clients.
    pub pod_logs: PathBuf,
    /// The name of this node, with which the names of static pods end. It only serves to name their workloads.
    pub node_name: String,
    /// How the programs are attached to files; by default in the best way that works. For tests.
    pub attach_by: Option<AttachBy>,
    /// How the sockets of threads are learnt; by default in the best way that works. For tests.
    pub pair_by: Option<PairBy>,
}

impl ProbeOptions {
    /// The default of [`Self::pod_logs`], which is that of the kubelet (`DefaultPodLogsDir` of kubernetes/kubernetes
    /// pkg/kubelet/apis/config/v1beta1/defaults.go, 1.34.4).
    pub const POD_LOGS: &str = "/var/log/pods";
}

/// Whether connections are followed at the API server's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerEnds {
    /// They are followed at the client's end only.
    #[default]
    Ignored,
    /// They are followed at either end. A connection seen at both ends counts once, unless its addresses are translated in between.
    Added,
    /// They are followed at the server's end only, so each counts once, however its addresses are translated. The client's end only
    /// shows the client's process.
    Alone,
}

impl Default for ProbeOptions {
    /// No API server, all processes, a ring buffer of 16 MiB, and the folder of a default kubelet. The limits are 100,000 calls a
    /// second per file, and one processor.
    fn default() -> Self {
        Self {
            api_servers: BTreeMap::new(),
            server_ends: ServerEnds::Ignored,
            memory: ProbeLimits::default(),
            processes: Vec::new(),
            names: Vec::new(),
            cgroups: Vec::new(),
            exclude: Vec::new(),
            calls_per_second: CALLS_PER_SECOND,
            processor_budget: PROCESSOR_BUDGET,
            pod_logs: PathBuf::from(Self::POD_LOGS),
            node_name: String::new(),
            attach_by: None,
            pair_by: None,
        }
    }
}

/// Facts about a probe's run that its [notices](crate::intake::Notice) do not report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProbeOutcome {
    /// Number of files whose header fields are recorded, because their processes had connections from before the probe.
    pub recording_fields: usize,
    /// Number of entries of [`ProbeOptions::pod_logs`] whose names the kubelet does not give. They are ignored.
    pub other_log_folders: u64,
}
