//! Outages: times in which API servers refused connections. The tap's listener refuses connections at these times, too, so that
//! clients notice no difference.

use std::collections::VecDeque;

use serde::Serialize;

use crate::observation::{ListenerState, UpstreamName};
use crate::time::{Timestamp, microseconds};

/// Bound for outages that are kept individually; the latest are kept.
const MAX_OUTAGES: usize = 16;

/// A time in which an API server refused connections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outage {
    /// The API server; empty if clients used only one.
    #[serde(skip_serializing_if = "UpstreamName::is_empty")]
    pub upstream: UpstreamName,
    /// When its listener began to refuse connections.
    pub since: Timestamp,
    /// When its listener accepted connections again; `None` while the outage lasts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// All outages of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outages {
    /// Number of outages.
    pub times: u64,
    /// Total length of the outages that have ended, in microseconds.
    pub lasted_us: u64,
    /// The latest outages, in order of their beginning.
    pub latest: VecDeque<Outage>,
}

impl Outages {
    /// Notes that a listener began to refuse connections, or accepts them again.
    pub(super) fn note(&mut self, upstream: &UpstreamName, state: ListenerState, at: Timestamp) {
        let of_this = |outage: &&mut Outage| outage.upstream == *upstream && outage.until.is_none();
        let lasts = self.latest.iter_mut().rev().find(of_this);
        match (state, lasts) {
            (ListenerState::Refusing, None) => self.begin(upstream, at),
            (ListenerState::Listening, Some(outage)) => {
                outage.until = Some(at);
                self.lasted_us = self.lasted_us.saturating_add(microseconds(at.since(outage.since)));
            }
            (ListenerState::Refusing, Some(_)) | (ListenerState::Listening, None) => {}
        }
    }

    /// Whether there was no outage.
    pub const fn is_none(&self) -> bool {
        self.times == 0
    }

    /// Ongoing outages.
    pub fn lasting(&self) -> impl Iterator<Item = &Outage> {
        self.latest.iter().filter(|outage| outage.until.is_none())
    }

    /// Removes the API server's name, for runs with only one API server.
    pub(super) fn drop_upstream_names(&mut self) {
        self.latest.iter_mut().for_each(|outage| outage.upstream = UpstreamName::default());
    }

    fn begin(&mut self, upstream: &UpstreamName, at: Timestamp) {
        self.times = self.times.saturating_add(1);
        if self.latest.len() >= MAX_OUTAGES {
            self.latest.pop_front();
        }
        self.latest.push_back(Outage { upstream: upstream.clone(), since: at, until: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outages_have_times_and_are_counted_beyond_the_limit() {
        let mut outages = Outages::default();
        let name = UpstreamName("a:6443".to_owned());
        for round in 0..20 {
            outages.note(&name, ListenerState::Refusing, at(10 * round));
            outages.note(&name, ListenerState::Refusing, at(10 * round + 1));
            outages.note(&name, ListenerState::Listening, at(10 * round + 3));
            outages.note(&name, ListenerState::Listening, at(10 * round + 4));
        }
        assert_eq!((outages.times, outages.lasted_us, outages.latest.len()), (20, 60_000_000, MAX_OUTAGES));
        outages.note(&name, ListenerState::Refusing, at(500));
        assert_eq!(outages.lasting().map(|outage| outage.since).collect::<Vec<_>>(), [at(500)]);
        outages.note(&UpstreamName("b:6443".to_owned()), ListenerState::Listening, at(501));
        assert_eq!(outages.lasting().count(), 1, "another server's port is not this one's");
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }
}
