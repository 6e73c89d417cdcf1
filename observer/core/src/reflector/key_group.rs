//! Reflectors with the same key, such as those of replicas. Only their history distinguishes them.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::ReflectorId;
use crate::thresholds::TOGETHER;
use crate::time::Timestamp;

/// Maximum number of candidates that are checked for a request, per index. Thousands of replicas may share a key, and most
/// candidates fit equally well.
const MAX_CANDIDATES: usize = 64;

/// An entry of the index: when the reflector was last seen, and its revision at that time.
pub(super) type IdleEntry = (Timestamp, Option<u64>);

/// All reflectors with one key: their number, and those without a request under way.
#[derive(Debug, Default)]
pub(super) struct KeyGroup {
    all: usize,
    /// Element *n* is the time since which at least *n* + 2 reflectors have been busy.
    together: Vec<Timestamp>,
    /// Highest number of reflectors that were busy at once for at least [`TOGETHER`].
    most_together: usize,
    idle: BTreeSet<(Timestamp, ReflectorId)>,
    at_revision: BTreeMap<u64, BTreeSet<(Timestamp, ReflectorId)>>,
}

/// Bound for the number of simultaneous reflectors, beyond the first, that is counted.
const MOST_TOGETHER: usize = 64;

impl KeyGroup {
    /// Whether it has only one reflector.
    pub(super) const fn is_of_one(&self) -> bool {
        self.all <= 1
    }

    /// Adds a reflector, with a request at `at`.
    pub(super) fn join(&mut self, at: Timestamp) {
        self.all += 1;
        self.note(at);
    }

    /// Highest number of reflectors that were busy at once for at least 3 s, until `now`; 1 if they took turns.
    pub(super) fn most_together(&self, now: Timestamp) -> usize {
        let present = self.together.iter().take_while(|since| now.since(**since) >= TOGETHER).count();
        self.most_together.max(present.saturating_add(1))
    }

    /// Updates `together` and `most_together` after reflectors became busy or idle at `at`.
    fn note(&mut self, at: Timestamp) {
        let busy = self.all.saturating_sub(self.idle.len());
        let more_than_one = busy.saturating_sub(1).min(MOST_TOGETHER);
        if more_than_one < self.together.len() {
            self.most_together = self.most_together(at);
        }
        self.together.resize(more_than_one, at);
    }

    /// Removes a reflector with index entry `place`. Returns whether it was the last one.
    pub(super) fn leave(&mut self, id: ReflectorId, place: Option<IdleEntry>) -> bool {
        self.all = self.all.saturating_sub(1);
        self.take_up(id, place);
        self.all == 0
    }

    /// Marks a reflector as idle since `seen`.
    pub(super) fn rest(&mut self, id: ReflectorId, (seen, revision): IdleEntry) {
        self.idle.insert((seen, id));
        self.note(seen);
        if let Some(revision) = revision {
            self.at_revision.entry(revision).or_default().insert((seen, id));
        }
    }

    /// Marks a reflector as busy since `at`; `place` was its index entry.
    pub(super) fn begin(&mut self, id: ReflectorId, place: Option<IdleEntry>, at: Timestamp) {
        self.take_up(id, place);
        self.note(at);
    }

    /// Removes the index entry `place`.
    pub(super) fn take_up(&mut self, id: ReflectorId, place: Option<IdleEntry>) {
        let Some((seen, revision)) = place else { return };
        self.idle.remove(&(seen, id));
        if let Some(revision) = revision
            && let Some(there) = self.at_revision.get_mut(&revision)
        {
            there.remove(&(seen, id));
            if there.is_empty() {
                self.at_revision.remove(&revision);
            }
        }
    }

    /// Reflectors that may have made a request at `revision`. The reflectors at this revision come first, then all idle ones;
    /// within both groups, the latest comes first.
    pub(super) fn candidates(&self, revision: Option<u64>) -> impl Iterator<Item = ReflectorId> {
        let there = revision.and_then(|revision| self.at_revision.get(&revision));
        let there = there.into_iter().flat_map(|there| there.iter().rev().take(MAX_CANDIDATES));
        there.chain(self.idle.iter().rev().take(MAX_CANDIDATES)).map(|(_, id)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_with_the_revision_come_first_without_busy_reflectors() {
        let mut group = KeyGroup::default();
        for number in 1..=4 {
            group.join(at(0));
            group.rest(ReflectorId(number), (at(number), Some(number % 2)));
        }
        group.take_up(ReflectorId(3), Some((at(3), Some(1))));
        let found: Vec<u64> = group.candidates(Some(1)).map(|id| id.0).collect();
        assert_eq!(found, [1, 4, 2, 1]);
        assert!((1..=3).all(|number| !group.leave(ReflectorId(number), None)));
        assert!(group.leave(ReflectorId(4), Some((at(4), Some(0)))));
    }

    #[test]
    fn reflectors_busy_together_for_three_seconds_are_concurrent() {
        let mut group = KeyGroup::default();
        group.join(at(0));
        group.join(at(1));
        assert_eq!((group.most_together(at(3)), group.most_together(at(4))), (1, 2));
        group.rest(ReflectorId(1), (at(3), None));
        assert_eq!(group.most_together(at(60)), 1, "it was for two seconds only");
        group.begin(ReflectorId(1), Some((at(3), None)), at(60));
        group.rest(ReflectorId(2), (at(71), None));
        assert_eq!(group.most_together(at(100)), 2, "it was, once");
    }

    #[test]
    fn briefly_overlapping_lists_are_not_concurrent() {
        let mut group = KeyGroup::default();
        (1..=4).for_each(|_| group.join(at(0)));
        for number in 3..=4 {
            group.rest(ReflectorId(number), (at(1), None));
        }
        assert_eq!(group.most_together(at(60)), 2, "two were for long, and four for a second");
    }

    #[test]
    fn candidate_search_is_bounded() {
        let mut group = KeyGroup::default();
        (0..10_000).for_each(|number| group.rest(ReflectorId(number), (at(number), Some(7))));
        assert_eq!(group.candidates(Some(7)).count(), 2 * MAX_CANDIDATES);
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }
}
