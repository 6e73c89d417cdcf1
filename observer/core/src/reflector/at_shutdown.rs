//! State of all reflectors when a shutdown was requested. The shutdown disconnects the clients, so later states show only the
//! shutdown.
//!
//! Counters continue until the end of the run. A capture records when the shutdown was requested, so a replay keeps the same state.

use std::collections::BTreeMap;
use std::time::Duration;

use super::identity::ReflectorId;
use super::polling::Polling;
use super::record::{ReflectorRow, ReflectorState};
use super::reflectors::Reflectors;
use super::spells::{Spell, Trouble};
use super::state::{Reflector, State};
use super::watch_end::WatchEnd;
use crate::observation::Blockage;
use crate::time::Timestamp;

/// A client that disconnected at most this long before the shutdown request counts as connected. Either the client and watchtap got
/// the same signal, or the client's exit triggered the shutdown. The end of its connections may be observed first.
const LEFT_WITH: Duration = Duration::from_secs(2);
/// A request at most this long after the first belongs to the same shutdown.
const SAME: Duration = Duration::from_secs(10);

/// The state of all reflectors when a shutdown was requested.
#[derive(Debug)]
pub struct AtShutdown {
    at: Timestamp,
    known: BTreeMap<ReflectorId, Stance>,
}

/// The state of one reflector.
#[derive(Debug)]
struct Stance {
    state: ReflectorState,
    since: Timestamp,
    client_left: bool,
    server_revision: Option<u64>,
    behind: Option<u64>,
    behind_store: Option<u64>,
    stalled_by: Option<Blockage>,
    bookmark_every_us: Option<u64>,
    last_bookmark: Option<Timestamp>,
    polling: Option<Polling>,
    /// Troubles that were ongoing.
    spells: BTreeMap<Trouble, Spell>,
}

impl AtShutdown {
    /// Time of the request.
    pub const fn at(&self) -> Timestamp {
        self.at
    }

    /// Whether a request at `at` belongs to another shutdown, because the first one did not end the run.
    pub fn is_over(&self, at: Timestamp) -> bool {
        at.since(self.at) > SAME
    }

    /// Number of stuck reflectors, without those whose clients had left.
    pub fn stuck(&self) -> u64 {
        self.known.values().filter(|stance| stance.state == ReflectorState::Stuck && !stance.client_left).count() as u64
    }

    /// Restores the kept state in `rows`. Rows of later reflectors are unchanged.
    pub fn restore(&self, rows: &mut [ReflectorRow]) {
        for row in rows {
            let Some(stance) = self.known.get(&row.reflector) else { continue };
            row.state = stance.state;
            row.since = stance.since;
            row.client_left = stance.client_left;
            row.server_revision = stance.server_revision;
            row.behind = stance.behind;
            row.behind_store = stance.behind_store;
            row.stalled_by = stance.stalled_by;
            row.bookmark_every_us = stance.bookmark_every_us;
            row.last_bookmark = stance.last_bookmark;
            row.polling = stance.polling;
            row.spells.extend(&stance.spells);
        }
    }
}

impl Stance {
    fn of(row: &ReflectorRow) -> Self {
        Self {
            state: row.state,
            since: row.since,
            client_left: row.client_left,
            server_revision: row.server_revision,
            behind: row.behind,
            behind_store: row.behind_store,
            stalled_by: row.stalled_by,
            bookmark_every_us: row.bookmark_every_us,
            last_bookmark: row.last_bookmark,
            polling: row.polling,
            spells: row
                .spells
                .iter()
                .map(|(trouble, spell)| (*trouble, *spell))
                .filter(|(_, spell)| spell.until.is_none())
                .collect(),
        }
    }
}

impl Reflectors {
    /// Captures the state of all reflectors at `at`, the time of a shutdown request.
    pub fn at_shutdown(&self, at: Timestamp) -> AtShutdown {
        let stance = |row: ReflectorRow| {
            let mut stance = Stance::of(&row);
            if let Some(reflector) = self.get(row.reflector) {
                stance.client_left = self.left(reflector).is_some_and(|left| is_long_ago(left, at));
                if !stance.client_left {
                    stance.polling = reflector.polls.polling(at);
                }
                if let Some(asked) = watched_until_now(reflector, at) {
                    (stance.state, stance.since) = (ReflectorState::Watching, asked);
                }
            }
            (row.reflector, stance)
        };
        AtShutdown { at, known: self.rows(at).into_iter().map(stance).collect() }
    }
}

/// The time when the last watch was requested, if its client ended it at most [`LEFT_WITH`] before `at`.
fn watched_until_now(reflector: &Reflector, at: Timestamp) -> Option<Timestamp> {
    let past = reflector.past_watch.as_ref().filter(|_| matches!(reflector.state, State::Waiting))?;
    let by_client = matches!(past.end, WatchEnd::ClientLeft | WatchEnd::Cancelled);
    (by_client && past.opened.is_some() && !is_long_ago(past.ended, at)).then_some(past.asked)
}

fn is_long_ago(then: Timestamp, now: Timestamp) -> bool {
    now.since(then) > LEFT_WITH
}
