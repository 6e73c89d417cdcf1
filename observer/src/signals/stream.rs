//! The signals that arrive while a command runs: requests for its end, and others that are meant for it.

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

/// The exit code of a process ended by a signal, minus the signal's number, as a shell reports it.
const BY_SIGNAL: i32 = 128;
/// Signals that wait to be handled. The system merges equal pending signals, so these are more than can be distinguished.
const WAITING: usize = 16;

/// A signal that our process got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) signal: i32,
    pub(crate) sender: Sender,
}

impl Received {
    /// Whether it requests shutdown. All signals here do, except the two that users define.
    pub(crate) const fn asks_for_an_end(self) -> bool {
        self.signal != SIGUSR1 && self.signal != SIGUSR2
    }

    /// Whether a write of ours reached the largest size of a file (`RLIMIT_FSIZE`). The write fails, which ends the file and not
    /// the run.
    fn is_of_our_own_write(self) -> bool {
        self.signal == SIGXFSZ && self.sender == Sender::Process(Some(getpid()))
    }
}

/// Keeps our process alive through the signals that would end it, and hands them on. Signals ignored from the start stay ignored.
///
/// After it is dropped, signals have their default action again, so that writing a report can be interrupted. SIGTSTP, SIGCONT and
/// SIGWINCH are not included: the terminal sends them to the entire group, and their default action is right.
pub(crate) struct SignalStream {
    received: Receiver<Received>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    over: Arc<AtomicBool>,
}

impl SignalStream {
    /// Call this before the command is started: a signal in between would end us and not the command.
    pub(crate) fn open() -> io::Result<Self> {
        let ignored = Ignored::at_start();
        let is_heeded = |signal: &i32| !ignored.contains(*signal);
        let heeded: Vec<i32> = OF_POSIX.into_iter().chain(of_this_system()).filter(is_heeded).collect();
        let over = Arc::new(AtomicBool::new(false));
        // Actions run in the order of their registration, and this one must come first. Otherwise the signal could be handed on and
        // end the command, and `over` be set, before this action sees the same signal.
        for signal in &heeded {
            if OF_POSIX.contains(signal) {
                flag::register_conditional_default(*signal, Arc::clone(&over))?;
            } else {
                // signal-hook does not know the default action of these.
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
