//! Whether the command has a signal already that we get.

use rustix::process::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT};

use crate::signals::Sender;

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
/// (`drivers/tty/tty_jobctrl.c`, `tty_signal_session_leader`). Whatever else the kernel sends is for us alone, as the alarm that somebody set before
/// we were started, or the end of our processor time: it means the run, and so the command.
///
/// What a process sends is taken as sent to us alone: `kill -TERM -GROUP` looks the same from here, and then the command gets it
/// twice. A command that signals its own parent or group does not get its signal back.
pub(super) fn is_forwarded(signal: i32, sender: Sender, circumstances: Circumstances) -> bool {
    match sender {
        Sender::Kernel => match signal {
            SIGINT | SIGQUIT => false,
            SIGHUP => circumstances.leads_session,
            _ => true,
        },
        Sender::Process(process) => process.is_none() || process != circumstances.command,
        Sender::Other => false,
    }
}
