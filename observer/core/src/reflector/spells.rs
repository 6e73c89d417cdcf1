//! When something was wrong with a reflector, and how often: what is over is not forgotten.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cause::RelistCause;
use crate::time::{Timestamp, microseconds};

/// Kinds of trouble that are kept of a reflector; causes with codes of their own are many.
const MAX_TROUBLES: usize = 24;

/// Something that is wrong for a while, or at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// It asks in vain for a revision that the server does not reach.
    Stuck,
    /// Its watches end within a second.
    ShortWatches,
    /// It lists again and again.
    RelistLoop,
    /// It does not read its watch.
    Stalled,
    /// It listed again, for this cause.
    Relisted(RelistCause),
    /// Its streaming list was refused.
    StreamingRefused,
    /// A list was of a revision below the one before.
    WentBack,
}

/// How often, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spell {
    /// How often.
    pub times: u64,
    /// When it first began.
    pub since: Timestamp,
    /// When it last was over; nothing while it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How long it lasted in all, as far as it is over, in microseconds.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub lasted_us: u64,
    /// When it last began.
    #[serde(skip)]
    latest: Timestamp,
}

/// All of a reflector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spells(BTreeMap<Trouble, Spell>);

impl Spell {
    /// So many moments, the first and the last of which are these.
    pub const fn of_moments(times: u64, since: Timestamp, until: Timestamp) -> Self {
        Self { times, since, until: Some(until), lasted_us: 0, latest: until }
    }

    /// This and what another one had: of several reflectors.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            times: self.times.saturating_add(other.times),
            since: self.since.min(other.since),
            until: self.until.zip(other.until).map(|(one, other)| one.max(other)),
            lasted_us: self.lasted_us.max(other.lasted_us),
            latest: self.latest.max(other.latest),
        }
    }

    /// How long it lasted in all until `now`, in microseconds.
    pub fn lasted_us(&self, now: Timestamp) -> u64 {
        let now = if self.until.is_some() { 0 } else { microseconds(now.since(self.latest)) };
        self.lasted_us.saturating_add(now)
    }

    /// The same, over since then where it lasts.
    #[must_use]
    pub fn over_at(self, until: Timestamp) -> Self {
        let lasted_us = self.lasted_us(until);
        Self { until: Some(self.until.unwrap_or(until)), lasted_us, ..self }
    }
}

impl Spells {
    /// It begins, unless it lasts.
    pub(super) fn begin(&mut self, trouble: Trouble, at: Timestamp) {
        if let Some(spell) = self.0.get_mut(&trouble) {
            if spell.until.take().is_some() {
                spell.times = spell.times.saturating_add(1);
                spell.latest = at;
            }
        } else if self.0.len() < MAX_TROUBLES {
            self.0.insert(trouble, Spell { until: None, ..Spell::of_moments(1, at, at) });
        }
    }

    /// It is over, if it lasted.
    pub(super) fn end(&mut self, trouble: Trouble, at: Timestamp) {
        if let Some(spell) = self.0.get_mut(&trouble).filter(|spell| spell.until.is_none()) {
            spell.until = Some(at);
            spell.lasted_us = spell.lasted_us.saturating_add(microseconds(at.since(spell.latest)));
        }
    }

    /// It happens.
    pub(super) fn happen(&mut self, trouble: Trouble, at: Timestamp) {
        self.begin(trouble, at);
        self.end(trouble, at);
    }

    /// All of them.
    pub(super) fn all(&self) -> BTreeMap<Trouble, Spell> {
        self.0.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_add_up_and_are_bounded() {
        let mut spells = Spells::default();
        for (from, until) in [(10, 80), (100, 101)] {
            spells.begin(Trouble::Stuck, at(from));
            spells.begin(Trouble::Stuck, at(from + 1));
            spells.end(Trouble::Stuck, at(until));
            spells.end(Trouble::Stuck, at(until + 5));
        }
        let stuck = spells.all()[&Trouble::Stuck];
        assert_eq!((stuck.times, stuck.since, stuck.until, stuck.lasted_us), (2, at(10), Some(at(101)), 71_000_000));
        spells.begin(Trouble::Stuck, at(200));
        let stuck = spells.all()[&Trouble::Stuck];
        assert_eq!((stuck.times, stuck.until, stuck.lasted_us(at(203))), (3, None, 74_000_000));

        (0..100).for_each(|code| spells.happen(Trouble::Relisted(RelistCause::WatchError { code }), at(1)));
        assert_eq!(spells.all().len(), MAX_TROUBLES);
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }
}
