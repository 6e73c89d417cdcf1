//! The signals that a command is asked to end by, or to do something else by, while it runs.

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

/// What a process exits with that a signal ended, less the number of the signal, as a shell says it.
const BY_SIGNAL: i32 = 128;
/// Signals that wait to be looked at. The system merges equal ones that are pending, so these are more than can be told apart.
const WAITING: usize = 16;

/// A signal that our process got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) signal: i32,
    pub(crate) sender: Sender,
}

impl Received {
    /// Every signal of these does but the two that people give a meaning of their own.
    pub(crate) const fn asks_for_an_end(self) -> bool {
        self.signal != SIGUSR1 && self.signal != SIGUSR2
    }

    /// Whether a write of ours reached the largest size of a file (`RLIMIT_FSIZE`). It fails then, which ends the file and not the run.
    fn is_of_our_own_write(self) -> bool {
        self.signal == SIGXFSZ && self.sender == Sender::Process(Some(getpid()))
    }
}

/// Keeps our process alive through the signals that would end it, but for those that it ignored from the start, and hands them on, until it is
/// dropped; from then on they end the process as they do by default, so that a report that cannot be written can still be interrupted. SIGTSTP,
/// SIGCONT and SIGWINCH are not among them: the terminal gives them to the whole group, and what they do by default is right.
pub(crate) struct SignalStream {
    received: Receiver<Received>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
    over: Arc<AtomicBool>,
}

impl SignalStream {
    /// To be called before the command is started, or a signal in between would end us and not it.
    pub(crate) fn open() -> io::Result<Self> {
        let ignored = Ignored::at_start();
        let is_heeded = |signal: &i32| !ignored.contains(*signal);
        let heeded: Vec<i32> = OF_POSIX.into_iter().chain(of_this_system()).filter(is_heeded).collect();
        let over = Arc::new(AtomicBool::new(false));
        // Actions run in the order of their registration. This one comes first: else the signal could be handed on and have ended the
        // command, and `over` be true, before the same signal is looked at here.
        for signal in &heeded {
            if OF_POSIX.contains(signal) {
                flag::register_conditional_default(*signal, Arc::clone(&over))?;
            } else {
                // Of these signal-hook does not know the default.
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

    /// The next one that asks for an end.
    pub(crate) async fn next_end(&mut self) -> i32 {
        loop {
            let received = self.next().await;
            if received.asks_for_an_end() {
                return received.signal;
            }
        }
    }

    /// The next signal. Waits for ever when there is none.
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
