//! Who sent a signal, and whether the command has it already.

use rustix::process::Pid;
use signal_hook::consts::SIGHUP;
use signal_hook::low_level::siginfo::{Cause, Origin};

/// Who sent a signal, as far as `siginfo_t` tells (`man 2 sigaction`, `si_code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
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

/// What decides, beside the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Circumstances {
    /// The command, while it runs.
    pub(super) command: Option<Pid>,
    /// Our process leads its session, as the first process behind a terminal or `ssh -t` does.
    pub(super) leads_session: bool,
}

/// Whether the command would miss the signal if we kept it.
///
/// What the kernel sends for the terminal goes to the whole foreground group (Linux `drivers/tty/n_tty.c`, `__isig`), so the
/// command has it. The one exception: when the terminal itself goes away, its SIGHUP goes to the leader of the session alone
/// (`drivers/tty/tty_jobctrl.c`, `tty_signal_session_leader`).
///
/// What a process sends is taken as sent to us alone: `kill -TERM -GROUP` looks the same from here, and then the command gets it
/// twice. A command that signals its own parent or group does not get its signal back.
pub(super) fn is_forwarded(signal: i32, sender: Sender, circumstances: Circumstances) -> bool {
    match sender {
        Sender::Kernel => signal == SIGHUP && circumstances.leads_session,
        Sender::Process(process) => process.is_none() || process != circumstances.command,
        Sender::Other => false,
    }
}
