//! §1.3 and §1.5: which layer answers a list.

use super::list_eras::{Era, LIST_ERAS, ListRow};
use super::not_ready::{LIST_NOT_READY, instead_of};
use super::outcome::Decision;
use crate::routing::facts::Facts;

/// Which layer answers a list that passed validation; `None` when no row covers it.
pub(in crate::routing) fn decide_list(facts: &Facts<'_>) -> Option<Decision> {
    let row = LIST_ERAS.iter().filter(|era| era.is_of(facts)).flat_map(|era| era.rows).find(|row| row.admits(facts))?;
    let ready = row.answer.by(row.rule);
    if facts.ready { Some(ready) } else { instead_of(ready, facts, LIST_NOT_READY) }
}

impl Era {
    pub(in crate::routing) fn is_of(&self, facts: &Facts<'_>) -> bool {
        self.versions.contains(facts.release) && self.gates.iter().all(|gate| facts.gate(*gate))
    }
}

impl ListRow {
    pub(in crate::routing) fn admits(&self, facts: &Facts<'_>) -> bool {
        self.token.admits(facts.token)
            && self.matching.admits(facts.matching, facts.limit)
            && self.version.admits(facts.version)
            && self.limit.admits(facts.limit)
            && self.keys.admits(facts.keys)
            && self.snapshot.admits(facts.snapshot)
            && self.consistent.admits(facts.supports_consistent_lists())
    }
}
