//! The inputs of the check: texts of the kernel, read once.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::trial::Trial;
use crate::api_server::is_in_pod;
use crate::tap::probe::find::namespace;
use crate::tap::probe::kernel::kernel_offsets;

/// A machine, and the rights of this process on it.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    /// The kernel release, as in `uname -r`.
    pub release: String,
    /// The architecture, as in `uname -m`.
    pub architecture: String,
    /// Whether the kernel describes all structure members that the programs read; otherwise why not.
    pub description: Result<(), String>,
    /// `/proc/self/status`.
    pub status: String,
    /// The inode of the user namespace.
    pub user_namespace: Option<u64>,
    /// The inode of the PID namespace.
    pub pid_namespace: Option<u64>,
    /// `/sys/kernel/security/lockdown`, or why it cannot be read.
    pub lockdown: Result<String, String>,
    /// `/proc/sys/kernel/perf_event_paranoid`, or why it cannot be read.
    pub perf_event_paranoid: Result<String, String>,
    /// `/proc/sys/kernel/unprivileged_bpf_disabled`, or why it cannot be read.
    pub unprivileged_bpf_disabled: Result<String, String>,
    /// `/proc/self/mounts`.
    pub mounts: String,
    /// Whether the folder with the logs of pods can be read, or why not; `None` if there is none, and this is no pod.
    pub pod_logs: Option<Result<(), String>>,
    /// The outcome of loading and attaching the programs.
    pub trial: Trial,
}

impl Machine {
    /// `pod_logs` is the folder with the logs of pods.
    pub(super) fn here(pod_logs: &Path) -> Self {
        Self {
            release: read("/proc/sys/kernel/osrelease").unwrap_or_default(),
            // Before Linux 6.1 there is no such file, and programs of another architecture rarely run.
            architecture: read("/proc/sys/kernel/arch").unwrap_or_else(|_why| std::env::consts::ARCH.to_owned()),
            description: kernel_offsets().map(|_offsets| ()).map_err(|error| error.to_string()),
            status: read("/proc/self/status").unwrap_or_default(),
            user_namespace: namespace::own("user").map(|(_, number)| number),
            pid_namespace: namespace::own("pid").map(|(_, number)| number),
            lockdown: read("/sys/kernel/security/lockdown"),
            perf_event_paranoid: read("/proc/sys/kernel/perf_event_paranoid"),
            unprivileged_bpf_disabled: read("/proc/sys/kernel/unprivileged_bpf_disabled"),
            mounts: read("/proc/self/mounts").unwrap_or_default(),
            pod_logs: readable(pod_logs),
            trial: Trial::here(),
        }
    }
}

fn readable(pod_logs: &Path) -> Option<Result<(), String>> {
    match fs::read_dir(pod_logs) {
        Ok(_entries) => Some(Ok(())),
        Err(error) if error.kind() == ErrorKind::NotFound && !is_in_pod() => None,
        Err(error) => Some(Err(format!("{}: {error}", pod_logs.display()))),
    }
}

/// The text of a kernel file, or why it cannot be read.
fn read(path: &str) -> Result<String, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) => Err(format!("{path}: {error}")),
    }
}
