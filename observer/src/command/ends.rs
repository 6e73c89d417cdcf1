//! Who asks for the end of a run.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use super::output::say;
use crate::signals::SignalStream;
use crate::terminal::{Left, RunningPage};

/// What the second signal is answered with, as a shell says it.
pub(super) const ENDED_AT_ONCE: u8 = 130;
/// Signals that come closer together are one: timeout(1) and some shells signal the process and its group. And clients that were asked to
/// end together with us (a pipeline, the demo's own) have ended after this.
pub(super) const SETTLING: Duration = Duration::from_millis(300);

/// Who asks for the end: signals, of which the end of the terminal is one, and the person before the page.
pub(super) struct Ends {
    signals: SignalStream,
    page: Option<RunningPage>,
    latest: Option<Instant>,
}

impl Ends {
    /// From here on signals ask for an end that can be a proper one.
    pub(super) fn open() -> Result<Self> {
        let signals = SignalStream::open().context("cannot listen for signals")?;
        Ok(Self { signals, page: None, latest: None })
    }

    /// The person before it may ask, too.
    pub(super) fn listen_to(&mut self, page: Option<RunningPage>) {
        self.page = page;
    }

    /// Waits until the end is asked for, again. The page is closed then: what is said from there on is for the ordinary screen. May be dropped
    /// and called again.
    pub(super) async fn next(&mut self) {
        loop {
            tokio::select! {
                _signal = self.signals.next_end() => {}
                () = page_left(&mut self.page) => {}
            }
            self.page = None;
            let former = self.latest.replace(Instant::now());
            if former.is_none_or(|former| former.elapsed() >= SETTLING) {
                return;
            }
        }
    }
}

/// Waits until the person leaves the page. One that fails ends nothing but itself.
async fn page_left(page: &mut Option<RunningPage>) {
    if let Some(running) = page {
        let left = running.left().await;
        *page = None;
        match left {
            Left::Asked => return,
            Left::Failed(why) => say(format!("the page ended early: {why}; the traffic goes on, and ctrl-C ends it")),
        }
    }
    std::future::pending::<()>().await;
}
