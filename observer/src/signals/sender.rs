//! Who sent a signal.

use rustix::process::Pid;
use signal_hook::low_level::siginfo::{Cause, Origin};

/// Who sent a signal, as far as `siginfo_t` tells (`man 2 sigaction`, `si_code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sender {
    /// The kernel, for a key at the terminal or for its end (`SI_KERNEL`).
    Kernel,
    /// A process, by `kill` and its relatives; no id when it lives outside our PID namespace, as the runtime of our container.
    Process(Option<Pid>),
    /// A timer or something else that is not meant for the command.
    Other,
}

impl From<&Origin> for Sender {
    fn from(origin: &Origin) -> Self {
        let process = origin.process.map(|process| Pid::from_raw(process.pid));
        match (origin.cause, process) {
            (Cause::Kernel, _) => Self::Kernel,
            (Cause::Sent(_), process) => Self::Process(process.flatten()),
            // Where the system does not tell the cause (macOS), it tells the process when there is one.
            (_, Some(Some(process))) => Self::Process(Some(process)),
            _ => Self::Other,
        }
    }
}
