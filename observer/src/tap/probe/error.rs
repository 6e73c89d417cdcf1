//! Why a probe does not start, or ends.

use std::io;
use std::path::PathBuf;

use super::kernel::KernelError;

/// Why a probe does not start, or ends before it is asked to.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// What is to be probed is not there.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The kernel does not probe.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// No thread.
    #[error("cannot start a thread of the probe: {0}")]
    Thread(#[source] io::Error),
    /// It cannot be told when the kernel has something.
    #[error("cannot wait for what the kernel records: {0}")]
    Wakes(#[source] io::Error),
    /// One of its threads panicked, and what it knew is lost.
    #[error("the probe failed in itself and has ended, so nothing more is seen: an internal error; please report it")]
    Failed,
}

/// Why options cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    /// Nobody has this number.
    #[error("there is no process {0} to probe; give its number as the PID namespace that watchtap runs in has it")]
    NoProcess(u32),
    /// No process has such a name.
    #[error("a process to probe is given by an empty name; give the one that /proc/PID/comm tells")]
    EmptyName,
    /// There is no such folder.
    #[error(
        "cannot find the cgroup {cgroup} in {looked_in}: {source}; give it as /proc/PID/cgroup tells it behind 0::, or as a folder of the file system \
         cgroup2"
    )]
    NoCgroup {
        /// As it was given.
        cgroup: PathBuf,
        /// Where that leads.
        looked_in: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The folder is of something else, such as a controller's hierarchy of version 1.
    #[error("{folder} is no cgroup of version 2, so no process can be probed by it; give a folder below {mounted}")]
    OtherFolder {
        /// The folder.
        folder: PathBuf,
        /// Where cgroups of version 2 are.
        mounted: PathBuf,
    },
    /// Cgroups cannot be named here.
    #[error(
        "the file system cgroup2 is mounted nowhere, so cgroups to probe cannot be found; mount it, or select by number or name"
    )]
    NoCgroups,
    /// It cannot be told which file is meant.
    #[error("{0:?} names no file that is to be left alone; give its absolute path, or its base name")]
    NoFile(String),
}
