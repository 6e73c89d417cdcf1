//! A bounded number of slots, for pages or for reports. A process that is busy with one thing for too long loses its slot to another
//! one that asks for it: with a picture that it does not draw, as a stopped one, or with a report that it reads slowly.
//!
//! A process can be lost without an end of its connection. So its slot could be taken for hours, as when a node loses its network
//! while a terminal is attached to a pod.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// Slots that processes take and return.
#[derive(Debug)]
pub(super) struct Slots {
    most: usize,
    /// How long a process may be busy without losing its slot.
    patience: Duration,
    taken: Mutex<Taken>,
    /// A slot was returned, or its process has to take something.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Taken {
    next_number: u64,
    holders: BTreeMap<u64, Holder>,
}

#[derive(Debug, Default)]
struct Holder {
    /// When it was sent what it has not taken completely.
    busy_since: Option<Instant>,
    lost: Arc<Notify>,
}

/// A taken slot. It is returned when this is dropped.
#[derive(Debug)]
pub(super) struct Slot<'s> {
    slots: &'s Slots,
    number: u64,
    lost: Arc<Notify>,
}

impl Slots {
    pub(super) fn new(most: usize, patience: Duration) -> Self {
        Self { most, patience, taken: Mutex::default(), changed: Notify::new() }
    }

    /// A slot; `None` if all are taken, by processes that have not been busy for so long.
    pub(super) fn take(&self, now: Instant) -> Option<Slot<'_>> {
        let mut taken = self.taken();
        if taken.holders.len() >= self.most {
            let (since, number) = taken.longest_busy()?;
            if now.saturating_duration_since(since) < self.patience {
                return None;
            }
            taken.holders.remove(&number)?.lost.notify_one();
        }
        let (number, holder) = (taken.next_number, Holder::default());
        taken.next_number += 1;
        let lost = Arc::clone(&holder.lost);
        taken.holders.insert(number, holder);
        Some(Slot { slots: self, number, lost })
    }

    /// Waits for a slot; `None` if there is none at `limit`. Cancel-safe.
    pub(super) async fn wait(&self, limit: Instant) -> Option<Slot<'_>> {
        loop {
            // From here on, no change is missed.
            let changed = self.changed.notified();
            let now = Instant::now();
            if let Some(slot) = self.take(now) {
                return Some(slot);
            }
            if now >= limit {
                return None;
            }
            let lost_at = self.taken().longest_busy().map(|(since, _)| since + self.patience);
            // Either way, the next turn finds out.
            let _changed = timeout_at(lost_at.map_or(limit, |at| at.min(limit)), changed).await;
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Taken {
    fn longest_busy(&self) -> Option<(Instant, u64)> {
        self.holders.iter().filter_map(|(number, holder)| Some((holder.busy_since?, *number))).min()
    }
}

impl Slot<'_> {
    /// Notes that the process has to take something. It counts as busy until it has taken it.
    pub(super) fn note_sent(&self, now: Instant) {
        self.change(|holder| holder.busy_since = holder.busy_since.or(Some(now)));
        self.slots.changed.notify_waiters();
    }

    /// Notes that the process has taken everything.
    pub(super) fn note_taken(&self) {
        self.change(|holder| holder.busy_since = None);
    }

    /// Waits until another process has this slot. Cancel-safe.
    pub(super) async fn lost(&self) {
        self.lost.notified().await;
    }

    fn change(&self, change: impl FnOnce(&mut Holder)) {
        // A slot that is lost has no holder any more.
        if let Some(holder) = self.slots.taken().holders.get_mut(&self.number) {
            change(holder);
        }
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.taken().holders.remove(&self.number);
        self.slots.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    const PATIENCE: Duration = Duration::from_mins(10);

    fn is_lost(slot: &Slot<'_>) -> bool {
        pin!(slot.lost()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn process_that_is_busy_longest_loses_its_slot_if_another_one_asks() {
        let (slots, start) = (Slots::new(3, PATIENCE), Instant::now());
        let [first, second, third] = [0, 1, 2].map(|_| slots.take(start).unwrap());
        assert!(slots.take(start + 2 * PATIENCE).is_none(), "none is busy");
        third.note_sent(start + Duration::from_secs(1));
        second.note_sent(start);
        // Further messages for a busy process do not make it younger.
        second.note_sent(start + PATIENCE);
        assert!(slots.take(start + PATIENCE - Duration::from_secs(1)).is_none(), "not for so long");
        assert!(![&first, &second, &third].into_iter().any(is_lost));
        let fourth = slots.take(start + PATIENCE).unwrap();
        assert_eq!([&first, &second, &third, &fourth].map(is_lost), [false, true, false, false]);
        third.note_taken();
        assert!(slots.take(start + 3 * PATIENCE).is_none(), "it is idle again");
        drop(second);
        assert!(slots.take(start).is_none(), "its slot is that of the fourth");
        drop(first);
        assert!(slots.take(start).is_some());
    }

    #[tokio::test]
    async fn returned_slot_goes_to_a_process_that_waits() {
        let slots = Slots::new(1, PATIENCE);
        let far = Instant::now() + PATIENCE;
        let first = slots.take(Instant::now()).unwrap();
        assert!(slots.wait(Instant::now()).await.is_none(), "the limit has passed");
        let (second, ()) = tokio::join!(slots.wait(far), async { drop(first) });
        let second = second.unwrap();
        let (third, ()) = tokio::join!(slots.wait(far), async { second.note_sent(Instant::now() - PATIENCE) });
        assert!(is_lost(&second) && !is_lost(&third.unwrap()));
    }
}
