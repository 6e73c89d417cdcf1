//! The newest snapshot, for a page that draws it at its own pace.

use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

use observer_core::observer::{Limits, Observer, Snapshot};

/// The shortest time between two snapshots: a reader takes in no more.
const SHORTEST: Duration = Duration::from_millis(250);

/// How many times longer than the making of a snapshot the pause behind it is: with that, making them takes at most 5 % of the time.
const PAUSE: u32 = 20;

/// Where the newest snapshot lies until it is taken. The lock is held for as long as a pointer takes to move.
#[derive(Debug)]
pub struct Latest {
    snapshot: Mutex<Option<Arc<Snapshot>>>,
}

/// Makes snapshots for as long as somebody takes them.
#[derive(Debug)]
pub struct Publisher {
    latest: Weak<Latest>,
    /// Findings that nobody wants to hear.
    mute: Vec<String>,
    due: Instant,
    /// Whether anything was observed since the last one.
    is_stale: bool,
}

impl Latest {
    /// A snapshot in which nothing was seen.
    pub fn nothing() -> Arc<Snapshot> {
        Arc::new(Observer::new(Limits::default()).snapshot())
    }

    /// An empty place, and who puts snapshots there, without the findings of these identifiers.
    pub fn begin(mute: Vec<String>) -> (Arc<Self>, Publisher) {
        let latest = Arc::new(Self { snapshot: Mutex::new(None) });
        let publisher = Publisher { latest: Arc::downgrade(&latest), mute, due: Instant::now(), is_stale: true };
        (latest, publisher)
    }

    /// The newest snapshot, unless it was taken before.
    pub fn take(&self) -> Option<Arc<Snapshot>> {
        self.snapshot.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Publisher {
    /// Whether somebody still takes them.
    pub(super) fn is_wanted(&self) -> bool {
        self.latest.strong_count() > 0
    }

    /// Takes note that the last snapshot is not the newest any more.
    pub(super) const fn note_change(&mut self) {
        self.is_stale = true;
    }

    /// How long until a snapshot is due; `None` while nothing changes.
    pub(super) fn due_in(&self) -> Option<Duration> {
        (self.is_stale && self.is_wanted()).then(|| self.due.saturating_duration_since(Instant::now()))
    }

    /// Publishes what `observer` knows, if that is due.
    pub(super) fn publish_if_due(&mut self, observer: &Observer) {
        if self.due_in() != Some(Duration::ZERO) {
            return;
        }
        let Some(latest) = self.latest.upgrade() else { return };
        let begun = Instant::now();
        let snapshot = Arc::new(observer.snapshot().without_findings(&self.mute));
        // Whoever takes one at this moment gets the next; observing waits for nobody.
        let place = match latest.snapshot.try_lock() {
            Ok(place) => Some(place),
            Err(TryLockError::Poisoned(place)) => Some(place.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        };
        self.is_stale = place.is_none();
        // The lock is over before the former one is: that takes longer than moving a pointer.
        let former = place.map(|mut place| place.replace(snapshot));
        drop(former);
        self.due = Instant::now() + pause_after(begun.elapsed());
    }
}

/// How long no snapshot is made after one that took so long.
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
