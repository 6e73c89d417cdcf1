//! Counts the records that were not delivered, and reports why.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::endpoint::Endpoint;
use crate::view::counted;

/// The counts of one signal.
pub(super) struct Account {
    endpoint: Endpoint,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    /// Records without room in the queue.
    without_room: u64,
    /// Records that the collector refused or rejected.
    refused: u64,
    /// Records that were still in the queue at the end.
    left: u64,
    /// Those of all these that were already returned by [`Account::take`].
    taken: u64,
    /// Why the collector refused or rejected records, the last time.
    refusal: String,
    /// Why records are not delivered now; empty if they are.
    failure: String,
}

impl Account {
    /// No record is lost yet.
    pub(super) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, counts: Mutex::default() }
    }

    /// A record had no room.
    pub(super) fn note_without_room(&self) {
        let mut counts = self.counts();
        counts.without_room = counts.without_room.saturating_add(1);
        if counts.without_room == 1 {
            tracing::warn!("the queue of --otlp is full: records for {} are dropped, and counted", self.endpoint);
        }
    }

    /// The collector will never take these records. Each reason is logged when it differs from the last.
    pub(super) fn note_refusal(&self, records: u64, why: &str) {
        let mut counts = self.counts();
        counts.refused = counts.refused.saturating_add(records);
        if counts.refusal == why {
            return;
        }
        why.clone_into(&mut counts.refusal);
        let endpoint = &self.endpoint;
        if records == 0 {
            tracing::warn!("the collector at {endpoint} warns: {why}");
        } else {
            tracing::warn!("the collector at {endpoint} did not take {}: {why}", counted(records, "OTLP record"));
        }
    }

    /// An attempt failed, and another will follow. Only the first of a series is logged.
    pub(super) fn note_failure(&self, why: &str) {
        let mut counts = self.counts();
        if counts.failure.is_empty() {
            tracing::warn!("cannot export to {}: {why}; trying again", self.endpoint);
        }
        why.clone_into(&mut counts.failure);
    }

    /// The collector answered with a success.
    pub(super) fn note_success(&self) {
        let failure = std::mem::take(&mut self.counts().failure);
        if !failure.is_empty() {
            tracing::info!("exporting to {} again", self.endpoint);
        }
    }

    /// Records that no attempt will follow for.
    pub(super) fn note_left(&self, records: usize) {
        self.counts().left = u64::try_from(records).unwrap_or(u64::MAX);
    }

    /// Number of records that were lost since the last call.
    pub(super) fn take(&self) -> u64 {
        let mut counts = self.counts();
        let all = counts.lost();
        all.saturating_sub(std::mem::replace(&mut counts.taken, all))
    }

    /// All losses in one sentence; `None` if there are none.
    pub(super) fn trouble(&self) -> Option<String> {
        let counts = self.counts();
        let lost = counts.lost();
        if lost == 0 {
            return None;
        }
        let parts = [
            (counts.without_room, "without room in the queue".to_owned()),
            (counts.refused, format!("refused ({})", counts.refusal)),
            (counts.left, unsent(&counts.failure)),
        ];
        let parts = parts.into_iter().filter(|(number, _)| *number > 0).map(|(number, words)| format!("{number} {words}"));
        let parts: Vec<String> = parts.collect();
        Some(format!("{} did not reach {}: {}", counted(lost, "OTLP record"), self.endpoint, parts.join(", ")))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn lost(&self) -> u64 {
        self.without_room.saturating_add(self.refused).saturating_add(self.left)
    }
}

fn unsent(failure: &str) -> String {
    if failure.is_empty() { "unsent at the end".to_owned() } else { format!("unsent at the end ({failure})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_is_counted_once_and_explained() {
        let account = Account::new(Endpoint::parse("http://collector:4318/v1/logs").unwrap());
        assert_eq!((account.take(), account.trouble()), (0, None));
        account.note_without_room();
        account.note_refusal(3, "400 Bad Request");
        assert_eq!((account.take(), account.take()), (4, 0));
        account.note_failure("connection refused");
        account.note_left(2);
        assert_eq!(account.take(), 2);
        assert_eq!(
            account.trouble().unwrap(),
            "6 OTLP records did not reach http://collector:4318/v1/logs: 1 without room in the queue, 3 refused (400 Bad Request), \
             2 unsent at the end (connection refused)"
        );
    }
}
