//! Determines the sender of a signal.

use rustix::process::Pid;
use signal_hook::low_level::siginfo::{Cause, Origin};

/// The sender of a signal, as far as `siginfo_t` identifies it (`man 2 sigaction`, `si_code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The kernel (`SI_KERNEL`), for example for a key at the terminal or for its hangup.
    Kernel,
    /// A process, by `kill` or a similar call. `None` if it is outside this PID namespace, such as the container runtime.
    Process(Option<Pid>),
    /// A timer, or another source that is not meant for the command.
    Other,
}

impl From<&Origin> for Sender {
    fn from(origin: &Origin) -> Self {
        let process = origin.process.map(|process| Pid::from_raw(process.pid));
        match (origin.cause, process) {
            (Cause::Kernel, _) => Self::Kernel,
            (Cause::Sent(_), process) => Self::Process(process.flatten()),
            // If the system does not report the cause (macOS), it reports the process if there is one.
            (_, Some(Some(process))) => Self::Process(Some(process)),
            _ => Self::Other,
        }
    }
}
