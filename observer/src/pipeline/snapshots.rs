//! Publishes snapshots to any number of readers, each of which reads when it is ready. Readers may come and leave during the run.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use observer_core::observer::{Limits, Observer, Snapshot};
use tokio::sync::watch;

use crate::intake::Waker;

/// Minimum time between two snapshots: a person cannot read faster.
const SHORTEST: Duration = Duration::from_millis(250);

/// The pause after a snapshot, as a multiple of the time to make it. So making snapshots takes at most 5 % of the time.
const PAUSE: u32 = 20;

/// A reader of snapshots. All readers of a run get the same ones.
#[derive(Debug)]
pub struct Snapshots {
    newest: watch::Receiver<Arc<Snapshot>>,
    readers: Arc<Readers>,
}

/// Where readers subscribe. It is no reader itself: while no reader exists, no snapshot is made.
#[derive(Clone, Debug)]
pub struct SnapshotSource {
    newest: watch::Receiver<Arc<Snapshot>>,
    readers: Arc<Readers>,
    waker: Arc<OnceLock<Waker>>,
}

/// Makes snapshots while there are readers. All readers share each snapshot.
#[derive(Debug)]
pub struct Publisher {
    sender: watch::Sender<Arc<Snapshot>>,
    readers: Arc<Readers>,
    waker: Arc<OnceLock<Waker>>,
    /// Identifiers of suppressed findings.
    mute: Vec<String>,
    due: Instant,
    /// Whether anything was observed since the last snapshot.
    is_stale: bool,
    /// Whether the channel holds a snapshot.
    is_holding: bool,
}

/// The readers that exist.
#[derive(Debug, Default)]
struct Readers {
    number: AtomicUsize,
    /// Whether one of them waits for its first snapshot.
    newcomer: AtomicBool,
}

impl Snapshots {
    /// The snapshot of an Observer that has seen nothing.
    pub fn nothing() -> Arc<Snapshot> {
        Arc::new(Observer::new(Limits::default()).snapshot())
    }

    /// Returns the newest snapshot, or `None` if this reader has taken it already, or if there is none yet.
    pub fn take(&mut self) -> Option<Arc<Snapshot>> {
        // Unlike the channel's `has_changed`, this also works after the publisher is dropped, so that the last snapshot is not
        // lost.
        let newest = self.newest.borrow_and_update();
        newest.has_changed().then(|| Arc::clone(&newest))
    }

    /// Waits for the next snapshot that this reader has not taken; `None` if there will be no more. Cancel safe.
    pub async fn next(&mut self) -> Option<Arc<Snapshot>> {
        self.newest.changed().await.ok()?;
        Some(Arc::clone(&self.newest.borrow_and_update()))
    }
}

impl Drop for Snapshots {
    fn drop(&mut self) {
        self.readers.number.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SnapshotSource {
    /// A new reader. Its first snapshot is published after this call began.
    pub fn subscribe(&self) -> Snapshots {
        let Self { newest, readers, waker } = self;
        let mut newest = newest.clone();
        newest.mark_unchanged();
        // In this order, a snapshot that is published meanwhile counts as the first one.
        readers.number.fetch_add(1, Ordering::Relaxed);
        readers.newcomer.store(true, Ordering::Release);
        if let Some(waker) = waker.get() {
            waker.wake();
        }
        Snapshots { newest, readers: Arc::clone(readers) }
    }
}

impl Publisher {
    /// A publisher without readers. Its snapshots leave out the findings in `mute`.
    pub fn new(mute: Vec<String>) -> Self {
        let sender = watch::Sender::new(Snapshots::nothing());
        let (readers, waker) = (Arc::default(), Arc::default());
        Self { sender, readers, waker, mute, due: Instant::now(), is_stale: true, is_holding: false }
    }

    /// Where readers subscribe.
    pub fn source(&self) -> SnapshotSource {
        let Self { sender, readers, waker, .. } = self;
        SnapshotSource { newest: sender.subscribe(), readers: Arc::clone(readers), waker: Arc::clone(waker) }
    }

    /// New readers wake the observing thread with `waker`. The first call decides.
    pub(super) fn wake_by(&self, waker: Waker) {
        self.waker.get_or_init(|| waker);
    }

    /// Whether there is a reader.
    pub(super) fn is_wanted(&self) -> bool {
        self.readers.number.load(Ordering::Relaxed) > 0
    }

    /// Notes that the last snapshot is out of date.
    pub(crate) const fn note_change(&mut self) {
        self.is_stale = true;
    }

    /// Time until a snapshot is due; `None` while nothing changes.
    pub(super) fn due_in(&self) -> Option<Duration> {
        let is_asked = self.is_stale || self.readers.newcomer.load(Ordering::Acquire);
        (is_asked && self.is_wanted()).then(|| self.due.saturating_duration_since(Instant::now()))
    }

    /// Publishes the snapshot of a run that is over.
    pub(super) fn publish_last(&self, snapshot: &Snapshot) {
        if self.is_wanted() {
            drop(self.sender.send_replace(Arc::new(snapshot.clone().without_findings(&self.mute))));
        }
    }

    /// Publishes a snapshot of `observer`, if one is due.
    pub(crate) fn publish_if_due(&mut self, observer: &Observer) {
        self.release_unwanted();
        if self.due_in() != Some(Duration::ZERO) {
            return;
        }
        self.readers.newcomer.store(false, Ordering::Release);
        let begun = Instant::now();
        let snapshot = Arc::new(observer.snapshot().without_findings(&self.mute));
        // Readers hold the channel's lock only while they clone an `Arc`. The previous snapshot is dropped after the lock is
        // released.
        drop(self.sender.send_replace(snapshot));
        (self.is_stale, self.is_holding) = (false, true);
        self.due = Instant::now() + pause_after(begun.elapsed());
    }

    /// Drops the last snapshot when its last reader has left, since it may be large.
    fn release_unwanted(&mut self) {
        if self.is_holding && !self.is_wanted() {
            self.is_holding = false;
            let mut last = Snapshots::nothing();
            // A reader that subscribes at this moment must not take this for news.
            self.sender.send_if_modified(|newest| {
                std::mem::swap(newest, &mut last);
                false
            });
        }
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
        let mut publisher = Publisher::new(Vec::new());
        let mut reader = publisher.source().subscribe();
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
        let mut publisher = Publisher::new(Vec::new());
        let (mut page, mut other) = (publisher.source().subscribe(), publisher.source().subscribe());
        publisher.publish_if_due(&Observer::new(Limits::default()));
        let (one, same) = (page.take().unwrap(), other.take().unwrap());
        assert!(Arc::ptr_eq(&one, &same));
        assert!(page.take().is_none() && other.take().is_none());
        drop(page);
        assert!(publisher.is_wanted(), "one reader is left");
    }

    #[test]
    fn snapshot_without_readers_is_dropped_and_never_made() {
        let observer = Observer::new(Limits::default());
        let mut publisher = Publisher::new(Vec::new());
        let source = publisher.source();
        publisher.publish_if_due(&observer);
        assert!(!publisher.is_holding, "a source is no reader");
        let mut reader = source.subscribe();
        publisher.publish_if_due(&observer);
        let held = Arc::downgrade(&reader.take().unwrap());
        drop(reader);
        publisher.publish_if_due(&observer);
        assert_eq!(held.strong_count(), 0);
    }

    #[test]
    fn new_reader_gets_a_snapshot_made_after_it_came() {
        let observer = Observer::new(Limits::default());
        let mut publisher = Publisher::new(Vec::new());
        let source = publisher.source();
        let mut first = source.subscribe();
        publisher.publish_if_due(&observer);
        let former = first.take().unwrap();
        publisher.due = Instant::now();
        let mut second = source.subscribe();
        assert!(second.take().is_none(), "the former snapshot is older than this reader");
        publisher.publish_if_due(&observer);
        assert!(!Arc::ptr_eq(&second.take().unwrap(), &former), "made although nothing was observed");
    }

    #[test]
    fn last_snapshot_is_delivered_after_its_publisher_is_dropped() {
        let mut publisher = Publisher::new(Vec::new());
        let mut reader = publisher.source().subscribe();
        let observer = Observer::new(Limits::default());
        publisher.publish_if_due(&observer);
        assert!(reader.take().is_some());
        publisher.publish_last(&observer.snapshot());
        drop(publisher);
        assert!(reader.take().is_some(), "it need not be due");
        assert!(reader.take().is_none());
    }
}
