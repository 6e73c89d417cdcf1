//! Publishes snapshots to any number of readers, each of which reads when it is ready.

use std::sync::Arc;
use std::time::{Duration, Instant};

use observer_core::observer::{Limits, Observer, Snapshot};
use tokio::sync::watch;

/// Minimum time between two snapshots: a person cannot read faster.
const SHORTEST: Duration = Duration::from_millis(250);

/// The pause after a snapshot, as a multiple of the time to make it. So making snapshots takes at most 5 % of the time.
const PAUSE: u32 = 20;

/// A reader of snapshots. All its clones get the same ones.
#[derive(Clone, Debug)]
pub struct Snapshots(watch::Receiver<Arc<Snapshot>>);

/// Makes snapshots while there are readers. All readers share each snapshot.
#[derive(Debug)]
pub struct Publisher {
    sender: watch::Sender<Arc<Snapshot>>,
    /// Identifiers of suppressed findings.
    mute: Vec<String>,
    due: Instant,
    /// Whether anything was observed since the last snapshot.
    is_stale: bool,
}

impl Snapshots {
    /// Returns a reader and the publisher of its snapshots. The snapshots leave out the findings in `mute`.
    pub fn begin(mute: Vec<String>) -> (Self, Publisher) {
        let (sender, receiver) = watch::channel(Self::nothing());
        (Self(receiver), Publisher { sender, mute, due: Instant::now(), is_stale: true })
    }

    /// The snapshot of an Observer that has seen nothing.
    pub fn nothing() -> Arc<Snapshot> {
        Arc::new(Observer::new(Limits::default()).snapshot())
    }

    /// Returns the newest snapshot, or `None` if this reader has taken it already, or if there is none yet.
    pub fn take(&mut self) -> Option<Arc<Snapshot>> {
        // Unlike the channel's `has_changed`, this also works after the publisher is dropped, so that the last snapshot is not
        // lost.
        let newest = self.0.borrow_and_update();
        newest.has_changed().then(|| Arc::clone(&newest))
    }
}

impl Publisher {
    /// Whether there is a reader.
    pub(super) fn is_wanted(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Notes that the last snapshot is out of date.
    pub(super) const fn note_change(&mut self) {
        self.is_stale = true;
    }

    /// Time until a snapshot is due; `None` while nothing changes.
    pub(super) fn due_in(&self) -> Option<Duration> {
        (self.is_stale && self.is_wanted()).then(|| self.due.saturating_duration_since(Instant::now()))
    }

    /// Publishes the snapshot of a run that is over.
    pub(super) fn publish_last(&self, snapshot: &Snapshot) {
        if self.is_wanted() {
            drop(self.sender.send_replace(Arc::new(snapshot.clone().without_findings(&self.mute))));
        }
    }

    /// Publishes a snapshot of `observer`, if one is due.
    pub(super) fn publish_if_due(&mut self, observer: &Observer) {
        if self.due_in() != Some(Duration::ZERO) {
            return;
        }
        let begun = Instant::now();
        let snapshot = Arc::new(observer.snapshot().without_findings(&self.mute));
        // Readers hold the channel's lock only while they clone an `Arc`. The previous snapshot is dropped after the lock is
        // released.
        drop(self.sender.send_replace(snapshot));
        self.is_stale = false;
        self.due = Instant::now() + pause_after(begun.elapsed());
    }
}

/// The pause after a snapshot that took the time `making`.
fn pause_after(making: Duration) -> Duration {
    SHORTEST.max(making * PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_are_limited_in_time_share_and_rate() {
        let pauses = [0, 1, 12, 13, 500].map(|making| pause_after(Duration::from_millis(making)).as_millis());
        assert_eq!(pauses, [250, 250, 250, 260, 10_000]);
    }

    #[test]
    fn snapshots_require_a_due_time_changes_and_readers() {
        let observer = Observer::new(Limits::default());
        let (mut reader, mut publisher) = Snapshots::begin(Vec::new());
        assert!(reader.take().is_none(), "nothing is published yet");
        publisher.publish_if_due(&observer);
        assert!(reader.take().is_some());
        publisher.publish_if_due(&observer);
        assert!(reader.take().is_none() && publisher.due_in().is_none(), "there is no news");
        publisher.note_change();
        publisher.publish_if_due(&observer);
        assert!(reader.take().is_none() && publisher.due_in() > Some(Duration::ZERO), "it is not due");
        drop(reader);
        assert!(!publisher.is_wanted() && publisher.due_in().is_none());
    }

    #[test]
    fn readers_share_one_snapshot_and_each_gets_it_once() {
        let (mut page, mut publisher) = Snapshots::begin(Vec::new());
        let mut metrics = page.clone();
        publisher.publish_if_due(&Observer::new(Limits::default()));
        let (one, other) = (page.take().unwrap(), metrics.take().unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        assert!(page.take().is_none() && metrics.take().is_none());
        drop(page);
        assert!(publisher.is_wanted(), "one reader is left");
    }

    #[test]
    fn last_snapshot_is_delivered_after_its_publisher_is_dropped() {
        let (mut reader, mut publisher) = Snapshots::begin(Vec::new());
        let observer = Observer::new(Limits::default());
        publisher.publish_if_due(&observer);
        assert!(reader.take().is_some());
        publisher.publish_last(&observer.snapshot());
        drop(publisher);
        assert!(reader.take().is_some(), "it need not be due");
        assert!(reader.take().is_none());
    }
}
