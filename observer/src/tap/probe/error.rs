//! Why a probe does not start or ends early.

use std::io;
use std::path::PathBuf;

use super::kernel::KernelError;

/// Why a probe does not start, or ends before shutdown was requested.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The options cannot be applied.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The kernel refuses a step.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A thread cannot be started.
    #[error("cannot start a thread of the probe: {0}")]
    Thread(#[source] io::Error),
    /// epoll(7) cannot be set up for the rings.
    #[error("cannot wait for records of the kernel: {0}")]
    Wakeups(#[source] io::Error),
    /// A thread of the probe panicked, and its state is lost.
    #[error("the probe has ended because of an internal error, so nothing more is seen; please report it")]
    Failed,
}

/// Why the options cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// No process has this PID.
    #[error("there is no process {0} to probe; give its PID as seen in the PID namespace of watchtap")]
    NoProcess(u32),
    /// A process name is empty.
    #[error("a process to probe is given by an empty name; give the one in /proc/PID/comm")]
    EmptyName,
    /// The cgroup's folder does not exist.
    #[error(
        "cannot find the cgroup {cgroup} in {looked_in}: {source}; give it as in /proc/PID/cgroup after 0::, or as a folder of the file system \
         cgroup2"
    )]
    NoCgroup {
        /// The cgroup as given.
        cgroup: PathBuf,
        /// The folder that it resolves to.
        looked_in: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// The folder is not a cgroup of version 2, but for example a controller's hierarchy of version 1.
    #[error("{folder} is no cgroup of version 2, so no process can be probed by it; give a folder below {mounted}")]
    OtherFolder {
        /// The folder that was found.
        folder: PathBuf,
        /// The mount point of cgroups of version 2.
        mounted: PathBuf,
    },
    /// The file system cgroup2 is not mounted.
    #[error(
        "the file system cgroup2 is mounted nowhere, so cgroups to probe cannot be found; mount it, or select by number or name"
    )]
    NoCgroups,
    /// The name is neither an absolute path nor a base name.
    #[error("{0:?} names no file to exclude; give its absolute path, or its base name")]
    NoFile(String),
}
