//! What reflectors were about when a shutdown was requested: their clients are disconnected next, and that says nothing of them.
//!
//! What they count goes on until the end; only what they are about is kept. A capture records the request, so a replay keeps the same.

use std::collections::BTreeMap;
use std::time::Duration;

use super::identity::ReflectorId;
use super::owner::Reflectors;
use super::polling::Polling;
use super::record::{ReflectorRow, ReflectorState};
use super::spells::{Spell, Trouble};
use super::state::{Reflector, State};
use super::watch_end::WatchEnd;
use crate::observation::Blockage;
use crate::time::Timestamp;

/// A client that left this shortly before the request shut down together with it: the signal went to both, or the exit of the command is
/// the request. The ends of its connections may be seen before the request is.
const LEFT_WITH: Duration = Duration::from_secs(2);
/// A request that comes this soon after another one is of the same shutdown.
const SAME: Duration = Duration::from_secs(10);

/// What all reflectors were about at one moment.
#[derive(Debug)]
pub struct AtShutdown {
    at: Timestamp,
    known: BTreeMap<ReflectorId, Stance>,
}

/// What one of them was about.
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
    /// What lasted.
    spells: BTreeMap<Trouble, Spell>,
}

impl AtShutdown {
    /// When it was requested.
    pub const fn at(&self) -> Timestamp {
        self.at
    }

    /// Whether a request that comes at `at` is of another shutdown: whoever was asked before went on.
    pub fn is_over(&self, at: Timestamp) -> bool {
        at.since(self.at) > SAME
    }

    /// How many were stuck, of clients that were connected.
    pub fn stuck(&self) -> u64 {
        self.known.values().filter(|stance| stance.state == ReflectorState::Stuck && !stance.client_left).count() as u64
    }

    /// Puts back what `rows` were about. Who came later is as it is.
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
    /// What all of them are about now that a shutdown is requested.
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

/// Since when it watched, if its client has ended that watch just now.
fn watched_until_now(reflector: &Reflector, at: Timestamp) -> Option<Timestamp> {
    let past = reflector.past_watch.as_ref().filter(|_| matches!(reflector.state, State::Waiting))?;
    let by_client = matches!(past.end, WatchEnd::ClientLeft | WatchEnd::Cancelled);
    (by_client && past.opened && !is_long_ago(past.ended, at)).then_some(past.asked)
}

fn is_long_ago(then: Timestamp, now: Timestamp) -> bool {
    now.since(then) > LEFT_WITH
}
