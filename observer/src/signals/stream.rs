//! A stream of the signals that arrive while a command runs: requests for shutdown, and others that are meant for the command.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::process::getpid;
use signal_hook::consts::{SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::{Handle, SignalsInfo};
use tokio::sync::mpsc::{self, Receiver};

use super::ending::{OF_POSIX, of_this_system};
use super::ignored::Ignored;
use super::sender::Sender;

/// The offset of exit codes for signals: a shell reports 128 plus the signal's number.
const BY_SIGNAL: i32 = 128;
/// Number of signals that can wait to be handled. The system merges equal pending signals, so more are never needed.
const WAITING: usize = 16;

/// A signal that our process got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) signal: i32,
    pub(crate) sender: Sender,
}

impl Received {
    /// Whether it requests shutdown. All signals of the stream do, except SIGUSR1 and SIGUSR2.
    pub(crate) const fn asks_for_an_end(self) -> bool {
        self.signal != SIGUSR1 && self.signal != SIGUSR2
    }

    /// Whether a write of this process exceeded the maximum file size (`RLIMIT_FSIZE`). The write fails, and only that output is
    /// closed.
    fn is_of_our_own_write(self) -> bool {
        self.signal == SIGXFSZ && self.sender == Sender::Process(Some(getpid()))
    }
}

/// Receives the signals that would end this process, so that it continues. Signals ignored from the start stay ignored.
///
/// After it is dropped, signals have their default action again, so that writing a report can be interrupted. SIGTSTP, SIGCONT and
/// SIGWINCH are not included: the terminal sends them to the entire process group, and their default action is correct.
pub(crate) struct SignalStream {
    received: Receiver<Received>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    over: Arc<AtomicBool>,
}

impl SignalStream {
    /// Installs the handlers. Call this before the command is started: otherwise, a signal in between would end watchtap and not
    /// the command.
    pub(crate) fn open() -> io::Result<Self> {
        let ignored = Ignored::at_start();
        let is_heeded = |signal: &i32| !ignored.contains(*signal);
        let heeded: Vec<i32> = OF_POSIX.into_iter().chain(of_this_system()).filter(is_heeded).collect();
        let over = Arc::new(AtomicBool::new(false));
        // Handlers run in the order of their registration, and this one must be first. It ends the process if `over` is set. If it
        // ran last, the same signal could already have ended the command, and `over` could be set: this process would end too.
        for signal in &heeded {
            if OF_POSIX.contains(signal) {
                flag::register_conditional_default(*signal, Arc::clone(&over))?;
            } else {
                // signal-hook does not know the default actions of these signals.
                flag::register_conditional_shutdown(*signal, BY_SIGNAL + signal, Arc::clone(&over))?;
            }
        }
        let mut signals = SignalsInfo::<WithOrigin>::new(&heeded)?;
        let handle = signals.handle();
        let (sender, received) = mpsc::channel(WAITING);
        let thread = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for origin in &mut signals {
                let one = Received { signal: origin.signal, sender: Sender::from(&origin) };
                if one.is_of_our_own_write() {
                    continue;
                }
                if sender.blocking_send(one).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { received, handle, thread: Some(thread), over })
    }

    /// The next signal that requests shutdown.
    pub(crate) async fn next_end(&mut self) -> i32 {
        loop {
            let received = self.next().await;
            if received.asks_for_an_end() {
                return received.signal;
            }
        }
    }

    /// The next signal. Waits forever if no more can come.
    pub(crate) async fn next(&mut self) -> Received {
        match self.received.recv().await {
            Some(received) => received,
            None => std::future::pending().await,
        }
    }
}

impl Drop for SignalStream {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        self.received.close();
        self.handle.close();
        if let Some(Err(_panic)) = self.thread.take().map(JoinHandle::join) {
            tracing::warn!("the thread that reads signals panicked");
        }
    }
}
