//! The troubles of a reflector, ongoing and past: how often and when each occurred. Findings are derived from them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cause::RelistCause;
use crate::time::{Timestamp, microseconds};

/// Bound for the kinds of trouble kept per reflector. There can be many causes with a status code.
const MAX_TROUBLES: usize = 24;

/// A condition that lasts, such as a stall, or an event at one moment, such as a relist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// It repeatedly asks for a revision that the server does not reach.
    Stuck,
    /// Several consecutive watches ended within a second, before any event.
    ShortWatches,
    /// It relisted five times within ten minutes.
    RelistLoop,
    /// It does not read its watch.
    Stalled,
    /// It relisted for this cause.
    Relisted(RelistCause),
    /// Its streaming list was refused, and a plain list replaced it.
    StreamingRefused,
    /// A list had a lower revision than the reflector already had.
    WentBack,
    /// A list with `resourceVersion=0` had a lower revision than the reflector already had. The server may answer such a list from
    /// any state.
    OlderState,
    /// Its watch delivers nothing, although other clients get newer states of the resource.
    DeafWatch,
    /// Its watch asked for a revision that the server does not have.
    WatchAhead,
    /// Its watches repeatedly ask for one revision, which the server no longer has.
    ExpiredLoop,
    /// Its watches ask again and again for one revision, and the server ends each at once without an event.
    SilentExpired,
    /// Its streaming list does not end.
    NeverSynced,
    /// The server refuses its lists or watches.
    Refused,
}

impl Trouble {
    /// The identifier of the trouble and of its finding.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Stuck => "stuck-reflector",
            Self::ShortWatches => "short-watches",
            Self::RelistLoop => "relist-loop",
            Self::Stalled => "slow-reader",
            Self::Relisted(_) => "relist",
            Self::StreamingRefused => "streaming-list-refused",
            Self::WentBack => "revision-went-back",
            Self::OlderState => "older-state",
            Self::DeafWatch => "deaf-watch",
            Self::WatchAhead => "watch-ahead-of-server",
            Self::ExpiredLoop => "expired-loop",
            Self::SilentExpired => "silent-expired",
            Self::NeverSynced => "never-synced",
            Self::Refused => "refused-requests",
        }
    }
}

/// The occurrences of a trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Spell {
    /// Number of occurrences.
    pub times: u64,
    /// Start of the first occurrence.
    pub since: Timestamp,
    /// End of the last occurrence; `None` while it lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Total length of the occurrences that have ended, in microseconds.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub lasted_us: u64,
    /// Start of the last occurrence.
    #[serde(skip)]
    latest: Timestamp,
}

/// All troubles of a reflector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Spells(BTreeMap<Trouble, Spell>);

impl Spell {
    /// A spell of `times` moments, the first at `since` and the last at `until`.
    pub const fn of_moments(times: u64, since: Timestamp, until: Timestamp) -> Self {
        Self { times, since, until: Some(until), lasted_us: 0, latest: until }
    }

    /// One occurrence that began at `since` and lasts.
    pub const fn lasting(since: Timestamp) -> Self {
        Self { times: 1, since, until: None, lasted_us: 0, latest: since }
    }

    /// The same without an end.
    #[must_use]
    pub const fn ongoing(self) -> Self {
        Self { until: None, ..self }
    }

    /// Whether the last occurrence is ongoing.
    pub const fn lasts(self) -> bool {
        self.until.is_none()
    }

    /// Merges the spells of two reflectors; keeps the longer total length.
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

    /// Total length of all occurrences until `now`, in microseconds.
    pub fn lasted_us(&self, now: Timestamp) -> u64 {
        let now = if self.until.is_some() { 0 } else { microseconds(now.since(self.latest)) };
        self.lasted_us.saturating_add(now)
    }

    /// Ends an ongoing occurrence at `until`.
    #[must_use]
    pub fn over_at(self, until: Timestamp) -> Self {
        let lasted_us = self.lasted_us(until);
        Self { until: Some(self.until.unwrap_or(until)), lasted_us, ..self }
    }
}

impl Spells {
    /// Starts an occurrence, unless one is ongoing.
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

    /// Ends the ongoing occurrence, if any.
    pub(super) fn end(&mut self, trouble: Trouble, at: Timestamp) {
        if let Some(spell) = self.0.get_mut(&trouble).filter(|spell| spell.until.is_none()) {
            spell.until = Some(at);
            spell.lasted_us = spell.lasted_us.saturating_add(microseconds(at.since(spell.latest)));
        }
    }

    /// Takes over a trouble from `from`, the troubles of an earlier reflector.
    pub(super) fn inherit(&mut self, trouble: Trouble, from: &mut Self) {
        if let Some(spell) = from.0.remove(&trouble) {
            self.0.insert(trouble, spell);
        }
    }

    /// Notes an occurrence of one moment.
    pub(super) fn happen(&mut self, trouble: Trouble, at: Timestamp) {
        self.begin(trouble, at);
        self.end(trouble, at);
    }

    /// Whether an occurrence is ongoing.
    pub(super) fn is_ongoing(&self, trouble: Trouble) -> bool {
        self.0.get(&trouble).is_some_and(|spell| spell.until.is_none())
    }

    /// Start of the last occurrence.
    pub(super) fn latest(&self, trouble: Trouble) -> Option<Timestamp> {
        self.0.get(&trouble).map(|spell| spell.latest)
    }

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
