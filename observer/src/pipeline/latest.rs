//! The newest snapshot, for a page that draws it at its own pace.

use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

use observer_core::observer::{Limits, Observer, Snapshot};

/// Shortest time between two snapshots: a reader cannot follow more.
const SHORTEST: Duration = Duration::from_millis(250);

/// The pause after a snapshot, in multiples of the time that it took. So snapshots take at most 5 % of the time.
const PAUSE: u32 = 20;

/// Holds the newest snapshot until it is taken. The lock is held only while a pointer moves.
#[derive(Debug)]
pub struct Latest {
    snapshot: Mutex<Option<Arc<Snapshot>>>,
}

/// Makes snapshots while a page takes them.
#[derive(Debug)]
pub struct Publisher {
    latest: Weak<Latest>,
    /// Identifiers of suppressed findings.
    mute: Vec<String>,
    due: Instant,
    /// Whether anything was observed since the last snapshot.
    is_stale: bool,
}

impl Latest {
    /// The snapshot of an Observer that has seen nothing.
    pub fn nothing() -> Arc<Snapshot> {
        Arc::new(Observer::new(Limits::default()).snapshot())
    }

    /// An empty place, and the publisher that fills it with snapshots, without the findings in `mute`.
    pub fn begin(mute: Vec<String>) -> (Arc<Self>, Publisher) {
        let latest = Arc::new(Self { snapshot: Mutex::new(None) });
        let publisher = Publisher { latest: Arc::downgrade(&latest), mute, due: Instant::now(), is_stale: true };
        (latest, publisher)
    }

    /// The newest snapshot; `None` if it was taken before.
    pub fn take(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Publisher {
    /// Whether a page still takes them.
    pub(super) fn is_wanted(&self) -> bool {
        self.latest.strong_count() > 0
    }

    /// Notes that the last snapshot is out of date.
    pub(super) const fn note_change(&mut self) {
        self.is_stale = true;
    }

    /// Time until a snapshot is due; `None` while nothing changes.
    pub(super) fn due_in(&self) -> Option<Duration> {
        (self.is_stale && self.is_wanted()).then(|| self.due.saturating_duration_since(Instant::now()))
    }

    /// Publishes a snapshot of `observer`, if one is due.
    pub(super) fn publish_if_due(&mut self, observer: &Observer) {
        if self.due_in() != Some(Duration::ZERO) {
            return;
        }
        let Some(latest) = self.latest.upgrade() else { return };
        let begun = Instant::now();
        let snapshot = Arc::new(observer.snapshot().without_findings(&self.mute));
        // A page that takes a snapshot at this moment gets the next one: observing never waits.
        let place = match latest.snapshot.try_lock() {
            Ok(place) => Some(place),
            Err(TryLockError::Poisoned(place)) => Some(place.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        self.is_stale = place.is_none();
        // The lock is released before the former snapshot is dropped, which takes longer than moving a pointer.
        let former = place.map(|mut place| place.replace(snapshot));
        drop(former);
        self.due = Instant::now() + pause_after(begun.elapsed());
    }
}

/// The pause after a snapshot that took this long.
fn pause_after(making: Duration) -> Duration {
    SHORTEST.max(making * PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_take_a_twentieth_of_the_time_at_most_and_come_four_times_a_second_at_most() {
        let pauses = [0, 1, 12, 13, 500].map(|making| pause_after(Duration::from_millis(making)).as_millis());
        assert_eq!(pauses, [250, 250, 250, 260, 10_000]);
    }

    #[test]
    fn nothing_is_made_before_it_is_due_or_without_news_or_for_nobody() {
        let observer = Observer::new(Limits::default());
        let (latest, mut publisher) = Latest::begin(Vec::new());
        publisher.publish_if_due(&observer);
        assert!(latest.take().is_some());
        publisher.publish_if_due(&observer);
        assert!(latest.take().is_none() && publisher.due_in().is_none(), "there is no news");
        publisher.note_change();
        publisher.publish_if_due(&observer);
        assert!(latest.take().is_none() && publisher.due_in() > Some(Duration::ZERO), "it is not due");
        drop(latest);
        assert!(!publisher.is_wanted() && publisher.due_in().is_none());
    }

    #[test]
    fn observing_does_not_wait_for_who_takes_a_snapshot() {
        let (latest, mut publisher) = Latest::begin(Vec::new());
        let taking = latest.snapshot.lock().unwrap();
        publisher.publish_if_due(&Observer::new(Limits::default()));
        assert!(publisher.due_in() > Some(Duration::ZERO), "it is tried again, and not at once: another would cost as much");
        drop(taking);
    }
}
