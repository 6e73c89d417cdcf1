//! Waits for requests to shut down: signals, and the user who quits the page.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::printable::print_message;
use crate::signals::SignalStream;
use crate::terminal::{Left, RunningPage};

/// Exit code after the second signal, as a shell reports SIGINT.
pub(crate) const ENDED_AT_ONCE: u8 = 130;
/// Signals within this time count as one, because timeout(1) and some shells send a signal to the process and also to its group.
/// Clients that got the same signal as watchtap (in a pipeline, or those of the demo) have ended after this time.
pub(crate) const SETTLING: Duration = Duration::from_millis(300);

/// The sources of shutdown requests: signals, including the terminal's hangup, and the user of the page.
pub(crate) struct Ends {
    signals: SignalStream,
    page: Option<RunningPage>,
    latest: Option<Instant>,
}

impl Ends {
    /// Installs the signal handlers. From now on, signals request an orderly shutdown.
    pub(crate) fn open() -> Result<Self> {
        let signals = SignalStream::open().context("cannot listen for signals")?;
        Ok(Self { signals, page: None, latest: None })
    }

    /// Lets the user of the page request shutdown, too.
    pub(crate) fn listen_to(&mut self, page: Option<RunningPage>) {
        self.page = page;
    }

    /// Waits for the next shutdown request; requests within [`SETTLING`] count as one. The page is closed afterwards, and further
    /// output goes to the ordinary screen. Cancel safe: the future may be dropped and `next` called again.
    pub(crate) async fn next(&mut self) {
        self.next_but(None).await;
    }

    /// [`Self::next`] without the requests by the signal `ignored`.
    pub(crate) async fn next_but(&mut self, ignored: Option<i32>) {
        loop {
            let signal = tokio::select! {
                signal = self.signals.next_end() => Some(signal),
                () = page_left(&mut self.page) => None,
            };
            if signal.is_some() && signal == ignored {
                continue;
            }
            self.page = None;
            let former = self.latest.replace(Instant::now());
            if former.is_none_or(|former| former.elapsed() >= SETTLING) {
                return;
            }
        }
    }
}

/// Waits until the user leaves the page. If the page fails, the run continues without it.
async fn page_left(page: &mut Option<RunningPage>) {
    if let Some(running) = page {
        let left = running.left().await;
        *page = None;
        match left {
            Left::Asked => return,
            Left::Failed(why) => print_message(format!(
                "the page stopped: {why}; the traffic continues, and Ctrl-C stops \
                watchtap"
            )),
        }
    }
    std::future::pending::<()>().await;
}
