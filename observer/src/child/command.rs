//! One command: started, waited for, signals handed on to it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process};
use thiserror::Error;
use tokio::process;

use super::origin::{Circumstances, is_forwarded};
use super::session;
use crate::signals::{Received, SignalStream};

/// A command that runs, with our standard input, output and error, and with the signals that are meant for it.
///
/// One per process: signals are the process's, and after the end of the first child they end it.
pub struct Child {
    process: process::Child,
    signals: SignalStream,
}

/// Why a command does not run.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// There is no such command, neither at that path nor in `PATH`, or not the interpreter that its first line names.
    #[error("cannot run {}: no such command; is it installed, and in PATH?", .0.display())]
    NotFound(OsString),
    /// There is one, and the system refuses to run it: no permission, a folder, not a program.
    #[error("cannot run {}: {source}", command.display())]
    NotExecutable {
        /// The command.
        command: OsString,
        /// What the system says.
        source: io::Error,
    },
    /// A signal asked for the end before the command was started.
    #[error("ended by a signal ({0}) before the command was started")]
    Interrupted(i32),
    /// We could not do our part: no signal handlers, no process left.
    #[error("cannot start a process: {0}")]
    Failed(#[source] io::Error),
}

impl SpawnError {
    /// The exit code that says so, as env(1) has it: 127, 126, 128 and the signal's number, and 125 for a failure of our own.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::NotFound(_) => 127,
            Self::NotExecutable { .. } => 126,
            Self::Interrupted(signal) => u8::try_from(*signal).map_or(125, |signal| signal.saturating_add(128)),
            Self::Failed(_) => 125,
        }
    }

    fn new(command: &OsStr, source: io::Error) -> Self {
        let kind = source.kind();
        if kind == io::ErrorKind::NotFound {
            Self::NotFound(command.to_owned())
        } else if kind == io::ErrorKind::WouldBlock || kind == io::ErrorKind::OutOfMemory {
            // EAGAIN and ENOMEM of fork: nothing is wrong with the command.
            Self::Failed(source)
        } else {
            Self::NotExecutable { command: command.to_owned(), source }
        }
    }
}

impl Child {
    /// Starts `command` with `variables` set beside the environment that it inherits. Needs a tokio runtime.
    ///
    /// From here until the child has ended, what comes by `signals` is the child's. The signals that our process ignored from the start
    /// the child ignores as well.
    pub(crate) fn spawn(
        command: &OsStr,
        arguments: &[OsString],
        variables: &[(OsString, OsString)],
        signals: SignalStream,
    ) -> Result<Self, SpawnError> {
        let variables = variables.iter().map(|(name, value)| (name, value));
        let process = process::Command::new(command)
            .args(arguments)
            .envs(variables)
            .spawn()
            .map_err(|source| SpawnError::new(command, source))?;
        Ok(Self { process, signals })
    }

    /// Waits for the end of the command, handing on the signals that are sent to us alone. `asked_to_end` is called when one asks for an end,
    /// before it is handed on.
    ///
    /// When this returns, signals end our process again. So remove private files before doing anything that may block.
    pub async fn wait_forwarding(mut self, asked_to_end: impl Fn()) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                biased;
                status = self.process.wait() => return status,
                received = self.signals.next() => {
                    if received.asks_for_an_end() {
                        asked_to_end();
                    }
                    self.hand_on(received);
                }
            }
        }
    }

    /// The child is reaped by `wait` only, in the same task as this runs: so its id, while there is one, is not somebody else's.
    fn hand_on(&self, received: Received) {
        let command = self.process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let circumstances = Circumstances { command, leads_session: session::is_led_by_us() };
        // Those for real time have no name, and end a process by default as this one does.
        let signal = Signal::from_named_raw(received.signal).unwrap_or(Signal::TERM);
        let Some(command) = command else { return };
        if !is_forwarded(received.signal, received.sender, circumstances) {
            tracing::debug!(?received, "the command has this signal already");
        } else if let Err(error) = kill_process(command, signal) {
            tracing::debug!(?received, %error, "the command did not take this signal");
        }
    }
}

/// Our exit code for the command's end: its own, or 128 and the number of the signal that ended it, as a shell says it.
pub fn exit_code(status: ExitStatus) -> u8 {
    let by_signal = status.signal().and_then(|signal| signal.checked_add(128));
    status.code().or(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
