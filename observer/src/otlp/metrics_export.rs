//! Exports the numbers of metrics at an interval, and those of the end.
//!
//! There is no queue: numbers are cumulative, so newer ones take the place of those that were not delivered. Only the last ones can
//! be lost.

use std::convert::Infallible;
use std::time::{Duration, SystemTime};

use observer_core::series::Samples;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, sleep_until};

use super::backoff::{Backoff, Pause};
use super::closing::{Closing, pause};
use super::export_request::Envelope;
use super::metric_requests::{MetricRequest, MetricRequests};
use super::sender::{Fate, Refusal, Sender};
use crate::backoff::chance;
use crate::metrics::MetricsReader;

/// Reads numbers and sends them.
pub(super) struct MetricsExport {
    reader: MetricsReader,
    sender: Sender,
    envelope: Envelope,
    interval: Duration,
    /// Maximum number of bytes of the points in a request.
    max_bytes: usize,
    /// Until when the collector asked to wait.
    asked_until: Option<Instant>,
}

impl MetricsExport {
    /// Exports what `reader` reads, in requests with at most `max_bytes` bytes of points.
    pub(super) const fn new(
        reader: MetricsReader,
        sender: Sender,
        envelope: Envelope,
        interval: Duration,
        max_bytes: usize,
    ) -> Self {
        Self { reader, sender, envelope, interval, max_bytes, asked_until: None }
    }

    /// Exports until the end of the run, and then its last numbers. An export under way is given up for these.
    pub(super) async fn run(&mut self, mut closing: watch::Receiver<Option<Closing>>) {
        let last = {
            // After an error, the last numbers are not wanted.
            let closing = async { closing.wait_for(Option::is_some).await.ok().and_then(|closing| closing.as_ref()?.last.clone()) };
            tokio::select! {
                never = self.export_newest() => match never {},
                last = closing => last,
            }
        };
        if let Some(last) = last {
            self.export_last(&last, &mut closing).await;
        }
    }

    async fn export_newest(&mut self) -> Infallible {
        let mut ticks = interval_at(Instant::now() + self.interval, self.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut backoff = Backoff::default();
        loop {
            ticks.tick().await;
            while let Err(Later(asked)) = self.export().await {
                let Pause { asked, rest } = backoff.next(asked, chance());
                self.asked_until = Some(Instant::now() + asked);
                sleep(asked + rest).await;
            }
            backoff.reset();
        }
    }

    /// Exports the newest numbers.
    async fn export(&mut self) -> Result<(), Later> {
        let samples = match self.reader.read().await {
            Ok(samples) => samples,
            // Newer numbers are exported at the next interval.
            Err(why) => {
                self.sender.account.note_unread(why);
                return Ok(());
            }
        };
        self.sender.account.note_read();
        for MetricRequest { metrics, points } in MetricRequests::of(&samples, SystemTime::now(), self.max_bytes) {
            match self.send(&metrics, points).await {
                Fate::Settled(refusal) => {
                    if let Some(Refusal { records, why }) = refusal {
                        self.sender.account.note_refusal_for_now(records, &why);
                    }
                }
                Fate::Later(asked) => return Err(Later(asked)),
            }
        }
        Ok(())
    }

    async fn export_last(&mut self, last: &Samples, closing: &mut watch::Receiver<Option<Closing>>) {
        if let Some(until) = self.asked_until {
            sleep_until(until).await;
        }
        let mut backoff = Backoff::default();
        for MetricRequest { metrics, points } in MetricRequests::of(last, SystemTime::now(), self.max_bytes) {
            let refusal = loop {
                match self.send(&metrics, points).await {
                    Fate::Settled(refusal) => break refusal,
                    Fate::Later(asked) => pause(backoff.next(asked, chance()), closing).await,
                }
            };
            self.sender.account.note_settled(points);
            if let Some(Refusal { records, why }) = refusal {
                self.sender.account.note_refusal(records, &why);
            }
        }
    }

    async fn send(&mut self, metrics: &[Vec<u8>], points: u64) -> Fate {
        self.sender.send(self.envelope.request(metrics.iter().map(Vec::as_slice)), points).await
    }
}

/// An export that may be tried again, after the time that the collector asked for.
struct Later(Option<Duration>);
