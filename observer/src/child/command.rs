//! Starts one command, forwards signals to it and waits for its end.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_current_process_group, kill_process};
use thiserror::Error;
use tokio::process;
use tokio::time::{Instant, sleep_until};

use super::origin::{Circumstances, is_forwarded};
use crate::process_group;
use crate::signals::{Received, SignalStream};

/// Time between SIGTERM and SIGKILL, as for a pod by default (`terminationGracePeriodSeconds`).
const TERMINATION: Duration = Duration::from_secs(30);

/// A running command. Signals that are meant for it are forwarded to it.
///
/// A process can have only one `Child`, because signals are handled for the entire process.
pub struct Child {
    process: process::Child,
    signals: SignalStream,
}

/// The standard streams of a command.
#[derive(Debug)]
pub(crate) enum Streams {
    /// Those of watchtap.
    Inherited,
    /// Stdout and stderr go to this file, and stdin is empty, because a page has the terminal.
    ToFile(File),
}

/// The source of a request to the command to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Another process, or a key at a terminal without a page.
    Signal,
    /// A future that watchtap passed.
    Watchtap,
}

/// How a command ended. As long as this exists, signals do not end our process: see [`SignalStream`].
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Whether watchtap sent it SIGTERM.
    pub(crate) was_terminated: bool,
    pub(crate) signals: SignalStream,
}

/// Why a command does not run.
#[derive(Debug, Error)]
pub enum SpawnError {
    /// There is no such command at that path or in `PATH`, or the interpreter in its first line does not exist.
    #[error("cannot run {}: no such command; is it installed, and in PATH?", .0.display())]
    NotFound(OsString),
    /// The command exists, but the system refuses to run it: no permission, a directory, not a program.
    #[error("cannot run {}: {source}", command.display())]
    NotExecutable {
        /// A path, or a name to find in `PATH`, as the user gave it.
        command: OsString,
        /// The system's error.
        source: io::Error,
    },
    /// A signal requested shutdown before the command was started.
    #[error("stopped by a signal ({0}) before the command was started")]
    Interrupted(i32),
    /// An internal failure: signal handlers could not be installed, or no process could be created.
    #[error("cannot start a process: {0}")]
    Failed(#[source] io::Error),
}

impl SpawnError {
    /// The exit code for this error, as in env(1): 127, 126, 128 plus the signal's number, or 125 for an internal failure.
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
            // EAGAIN and ENOMEM from fork: the command itself is fine.
            Self::Failed(source)
        } else {
            Self::NotExecutable { command: command.to_owned(), source }
        }
    }
}

impl Child {
    /// Starts `command` with `variables` added to the environment that it inherits. Needs a tokio runtime.
    ///
    /// Until the child has ended, signals that arrive at `signals` are meant for the child. The child also ignores the signals that
    /// our process ignored at its start.
    pub(crate) fn spawn(
        command: &OsStr,
        arguments: &[OsString],
        variables: &[(OsString, OsString)],
        streams: Streams,
        signals: SignalStream,
    ) -> Result<Self, SpawnError> {
        let mut starting = process::Command::new(command);
        starting.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        if let Streams::ToFile(file) = streams {
            let errors = file.try_clone().map_err(SpawnError::Failed)?;
            starting.stdin(Stdio::null()).stdout(file).stderr(errors);
        }
        let process = starting.spawn().map_err(|source| SpawnError::new(command, source))?;
        Ok(Self { process, signals })
    }

    /// Waits for the command to end, and forwards signals that only watchtap received. If a signal requests shutdown,
    /// `asked_to_end` is called before the signal is forwarded.
    ///
    /// When this returns, signals end our process again: remove private files before doing anything that may block.
    pub async fn wait_forwarding(self, asked_to_end: impl Fn()) -> io::Result<ExitStatus> {
        let never = std::future::pending;
        self.wait_or_end(|_asker| asked_to_end(), never(), never()).await.map(|ended| ended.status)
    }

    /// The same, and sends SIGTERM to the command when `over` is ready, and SIGKILL if it then does not end in time. When
    /// `interrupted` is ready, sends SIGINT to our process group, as Ctrl-C does at a terminal without a page.
    pub(crate) async fn wait_or_end(
        mut self,
        asked_to_end: impl Fn(Asker),
        over: impl Future<Output = ()>,
        interrupted: impl Future<Output = ()>,
    ) -> io::Result<Ended> {
        let (mut over, mut interrupted) = (pin!(over), pin!(interrupted));
        let (mut was_terminated, mut was_interrupted) = (false, false);
        let mut killed_at: Option<Instant> = None;
        loop {
            let too_long = async {
                match killed_at {
                    Some(at) => sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                status = self.process.wait() => {
                    let Self { process: _, signals } = self;
                    return status.map(|status| Ended { status, was_terminated, signals });
                }
                () = &mut interrupted, if !was_interrupted => {
                    was_interrupted = true;
                    asked_to_end(Asker::Watchtap);
                    kill_current_process_group(Signal::INT)?;
                }
                () = &mut over, if !was_terminated => {
                    (was_terminated, killed_at) = (true, Some(Instant::now() + TERMINATION));
                    asked_to_end(Asker::Watchtap);
                    self.send(Signal::TERM);
                }
                () = too_long => {
                    killed_at = None;
                    self.send(Signal::KILL);
                }
                received = self.signals.next() => {
                    if received.asks_for_an_end() {
                        asked_to_end(Asker::Signal);
                    }
                    self.hand_on(received);
                }
            }
        }
    }

    fn send(&self, signal: Signal) {
        if let Some(command) = self.pid()
            && let Err(error) = kill_process(command, signal)
        {
            tracing::debug!(%error, ?signal, "the command did not take this signal");
        }
    }

    fn pid(&self) -> Option<Pid> {
        self.process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
    }

    /// Forwards a signal to the child if necessary. Only `wait` reaps the child, in the same task. So while the child has an id, no
    /// other process can have this id.
    fn hand_on(&self, received: Received) {
        let command = self.pid();
        let own = getpid();
        let leads_session = process_group::session() == Some(own.as_raw_nonzero().get());
        let circumstances = Circumstances { command, own, leads_session };
        // Real-time signals have no name. By default they end a process, as SIGTERM does.
        let signal = Signal::from_named_raw(received.signal).unwrap_or(Signal::TERM);
        let Some(command) = command else { return };
        if !is_forwarded(received.signal, received.sender, circumstances) {
            tracing::debug!(?received, "the command already has this signal");
        } else if let Err(error) = kill_process(command, signal) {
            tracing::debug!(?received, %error, "the command did not take this signal");
        }
    }
}

/// The exit code of `watchtap exec` after the command: the command's own, or 128 plus the number of the signal that ended it, as in
/// a shell.
pub fn exit_code(status: ExitStatus) -> u8 {
    let by_signal = status.signal().and_then(|signal| signal.checked_add(128));
    status.code().or(by_signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}
