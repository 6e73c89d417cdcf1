//! Timers for facts about reflectors that only the passing of time reveals.

use std::collections::BTreeSet;

use super::identity::ReflectorId;
use crate::time::Timestamp;

/// The fact that a timer reveals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// The watch is a resume.
    Resume,
    /// The client does not read its response.
    Stall,
    /// The initial state of a watch is complete.
    State,
    /// A watch is deaf or ahead of the server, or a streaming list does not end.
    Examine,
}

/// Pending timers by due time, bounded.
#[derive(Debug)]
pub(super) struct Alarms {
    due: BTreeSet<(Timestamp, ReflectorId, Purpose)>,
    limit: usize,
}

impl Alarms {
    /// An empty table for at most `limit` timers.
    pub(super) const fn new(limit: usize) -> Self {
        Self { due: BTreeSet::new(), limit }
    }

    /// Adds a timer for `reflector` at `due`. Above the limit, drops the timer that is due first.
    pub(super) fn set(&mut self, due: Timestamp, reflector: ReflectorId, purpose: Purpose) {
        self.due.insert((due, reflector, purpose));
        if self.due.len() > self.limit {
            self.due.pop_first();
        }
    }

    pub(super) fn unset(&mut self, due: Timestamp, reflector: ReflectorId, purpose: Purpose) {
        self.due.remove(&(due, reflector, purpose));
    }

    /// Removes and returns the first timer that is due at `at`.
    pub(super) fn next(&mut self, at: Timestamp) -> Option<(Timestamp, ReflectorId, Purpose)> {
        self.is_due(at).then(|| self.due.pop_first()).flatten()
    }

    /// Whether a timer is due at `at`.
    pub(super) fn is_due(&self, at: Timestamp) -> bool {
        self.due.first().is_some_and(|(due, ..)| *due <= at)
    }
}
