//! Reflectors of which something becomes clear by the time alone.

use std::collections::BTreeSet;

use super::identity::ReflectorId;
use crate::time::Timestamp;

/// What will have become clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Purpose {
    /// That a watch goes on where the one before ended.
    Resume,
    /// That a response waits for its reader.
    Stall,
    /// That all of the state came with which a watch begins.
    State,
}

/// When to look at which reflector again; bounded.
#[derive(Debug)]
pub(super) struct Alarms {
    due: BTreeSet<(Timestamp, ReflectorId, Purpose)>,
    limit: usize,
}

impl Alarms {
    /// None yet, and never more than `limit`.
    pub(super) const fn new(limit: usize) -> Self {
        Self { due: BTreeSet::new(), limit }
    }

    /// Looks at `reflector` again at `due`. Beyond the limit the next one is given up.
    pub(super) fn set(&mut self, due: Timestamp, reflector: ReflectorId, purpose: Purpose) {
        self.due.insert((due, reflector, purpose));
        if self.due.len() > self.limit {
            self.due.pop_first();
        }
    }

    pub(super) fn unset(&mut self, due: Timestamp, reflector: ReflectorId, purpose: Purpose) {
        self.due.remove(&(due, reflector, purpose));
    }

    /// The next one that is due at `at`.
    pub(super) fn next(&mut self, at: Timestamp) -> Option<ReflectorId> {
        let (due, ..) = self.due.first()?;
        (*due <= at).then(|| self.due.pop_first()).flatten().map(|(_, reflector, _)| reflector)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.due.is_empty()
    }
}
