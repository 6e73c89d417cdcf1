//! The signals that a command is asked to end by, or to do something else by, while it runs.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::flag;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::{Handle, SignalsInfo};
use tokio::sync::mpsc::{self, Receiver};

use super::ignored::Ignored;
use super::sender::Sender;

/// Those that we survive while the command runs. SIGTSTP, SIGCONT and SIGWINCH are not among them: the terminal gives them to the
/// whole group, and what they do by default is right.
const SIGNALS: [i32; 6] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
/// Signals that wait to be looked at. The system merges equal ones that are pending, so these are more than can be told apart.
const WAITING: usize = 16;

/// A signal that our process got.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) signal: i32,
    pub(crate) sender: Sender,
}

/// Keeps our process alive through [`SIGNALS`], but for those that it ignored from the start, and hands them on, until it is dropped; from then on they end the process as they
/// do by default, so that a report that cannot be written can still be interrupted.
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
        let heeded: Vec<i32> = SIGNALS.into_iter().filter(|signal| !ignored.contains(*signal)).collect();
        let over = Arc::new(AtomicBool::new(false));
        // Actions run in the order of their registration. This one comes first: else the signal could be handed on and have ended the
        // command, and `over` be true, before the same signal is looked at here.
        for signal in &heeded {
            flag::register_conditional_default(*signal, Arc::clone(&over))?;
        }
        let mut signals = SignalsInfo::<WithOrigin>::new(&heeded)?;
        let handle = signals.handle();
        let (sender, received) = mpsc::channel(WAITING);
        let thread = thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for origin in &mut signals {
                let one = Received { signal: origin.signal, sender: Sender::from(&origin) };
                if sender.blocking_send(one).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { received, handle, thread: Some(thread), over })
    }

    /// The next one that asks for an end: every signal of these but the two that people give a meaning of their own.
    pub(crate) async fn next_end(&mut self) -> i32 {
        loop {
            let signal = self.next().await.signal;
            if signal != SIGUSR1 && signal != SIGUSR2 {
                return signal;
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
