//! Decides whether a signal that watchtap received must be forwarded to the command, or has reached the command already.

use rustix::process::Pid;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT};

use crate::signals::Sender;

/// The facts that the decision depends on, in addition to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Circumstances {
    /// `None` once the command has ended.
    pub(super) command: Option<Pid>,
    pub(super) own: Pid,
    /// Whether our process leads its session, as the first process of a terminal or of `ssh -t` does.
    pub(super) leads_session: bool,
}

/// Whether the command would miss the signal if we did not forward it.
///
/// The kernel sends a terminal's signals to the complete foreground process group (Linux `drivers/tty/n_tty.c`, `__isig`), so the
/// command has them. There is one exception: when the terminal itself disappears, its SIGHUP goes to the session leader alone
/// (`drivers/tty/tty_jobctrl.c`, `tty_signal_session_leader`). All other signals of the kernel reach only watchtap, such as an
/// alarm that was set before it started, or its CPU time limit. They are meant for the complete run, and so for the command too.
///
/// A signal from a process counts as sent to watchtap only. `kill -TERM -GROUP` cannot be distinguished from that, so the command
/// gets such a signal twice. A signal that the command sent to its parent or group is not forwarded to it. A signal that we sent to our
/// group has reached the command, too.
pub(super) fn is_forwarded(signal: i32, sender: Sender, circumstances: Circumstances) -> bool {
    match sender {
        Sender::Kernel => match signal {
            SIGINT | SIGQUIT => false,
            SIGHUP => circumstances.leads_session,
            _ => true,
        },
        Sender::Process(None) => true,
        Sender::Process(process) => process != circumstances.command && process != Some(circumstances.own),
        Sender::Other => false,
    }
}
