//! Streaming lists that do not end: the bookmark that ends the initial events is missing.

use serde::Serialize;

use super::events::ReflectorEvent;
use super::spells::Trouble;
use super::state::{Reflector, State};
use super::watch_end::WatchEnd;
use crate::thresholds::{INITIAL_EVENTS_WITHIN, QUIET_WITHOUT_END, UNSYNCED_ATTEMPTS};
use crate::time::Timestamp;

/// Attempts at a streaming list, none of which ended with the bookmark of the initial events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unsynced {
    /// When the first attempt was requested.
    pub since: Timestamp,
    /// Number of attempts, the present one included.
    pub attempts: u64,
    /// Attempts that were cut off before the end.
    pub cut: u64,
    /// The most objects that one attempt delivered.
    pub items: u64,
}

/// The streaming list that has not ended, and the last one that was reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Unsyncings {
    present: Option<Unsynced>,
    pub reported: Option<Unsynced>,
}

impl Reflector {
    /// Notes a request for a streaming list.
    pub(super) fn note_streaming_list(&mut self, at: Timestamp) {
        let unsynced = self.unsynced.present.get_or_insert(Unsynced { since: at, attempts: 0, cut: 0, items: 0 });
        unsynced.attempts = unsynced.attempts.saturating_add(1);
    }

    /// Notes that the watch of a streaming list ended before the list did.
    pub(super) fn note_cut_list(&mut self, end: WatchEnd, items: u64, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(unsynced) = &mut self.unsynced.present else { return };
        unsynced.items = unsynced.items.max(items);
        let is_cut = match end {
            WatchEnd::TimedOut
            | WatchEnd::Early
            | WatchEnd::VeryShort
            | WatchEnd::ByForce
            | WatchEnd::StreamReset { .. }
            | WatchEnd::ConnectionLost { .. } => true,
            // A refusal is another trouble, and the other ends are not the server's.
            WatchEnd::ErrorEvent { .. }
            | WatchEnd::Refused { .. }
            | WatchEnd::Cancelled
            | WatchEnd::ClientLeft
            | WatchEnd::ByWatchtap
            | WatchEnd::BeforeTimeout
            | WatchEnd::NotObserved => false,
        };
        unsynced.cut = unsynced.cut.saturating_add(u64::from(is_cut));
        if unsynced.cut >= UNSYNCED_ATTEMPTS {
            let unsynced = *unsynced;
            self.report_unsynced(unsynced, at, emit);
        }
    }

    /// Ends the trouble: the reflector has a complete list.
    pub(super) fn note_synced(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        self.end_trouble(Trouble::NeverSynced, at, emit);
        self.unsynced.present = None;
    }

    /// When to examine a streaming list that has not ended, always later than `now`; `None` without one.
    pub(super) fn unsynced_due(&self, now: Timestamp) -> Option<Timestamp> {
        let opened = self.streaming_since()?.0;
        let due = opened.plus(INITIAL_EVENTS_WITHIN);
        Some(if due > now { due } else { now.plus(QUIET_WITHOUT_END) }).filter(|_| !self.spells.is_ongoing(Trouble::NeverSynced))
    }

    /// Examines a streaming list that has not ended.
    pub(super) fn examine_unsynced(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some((opened, latest, items)) = self.streaming_since() else { return };
        let Some(unsynced) = &mut self.unsynced.present else { return };
        unsynced.items = unsynced.items.max(items);
        let is_quiet = at.since(latest) >= QUIET_WITHOUT_END;
        if at.since(opened) >= INITIAL_EVENTS_WITHIN && !self.stalls.is_blocked() && (is_quiet || unsynced.cut > 0) {
            let unsynced = *unsynced;
            self.report_unsynced(unsynced, at, emit);
        }
    }

    /// Keeps the evidence, and begins the trouble.
    fn report_unsynced(&mut self, unsynced: Unsynced, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        self.unsynced.reported = Some(unsynced);
        self.begin_trouble(Trouble::NeverSynced, unsynced.since, at, emit);
    }

    /// When the streaming list under way was opened, when it last delivered something, and the objects that came.
    fn streaming_since(&self) -> Option<(Timestamp, Timestamp, u64)> {
        let State::Listing(listing, Some(watching)) = &self.state else { return None };
        let opened = watching.opened.filter(|_| listing.options.ends_state_with_bookmark())?;
        Some((opened, watching.latest.unwrap_or(opened), listing.items))
    }
}
