//! The initial state of a watch without a revision: a list whose end the stream does not show.
//!
//! The server sends an `ADDED` event for each object, then the changes. A streaming list (`sendInitialEvents=true`) does the same,
//! but ends the initial state with a bookmark, which [`super::watches`] handles.

use std::time::Duration;

use super::events::ReflectorEvent;
use super::moment::Happened;
use super::state::{Reflector, State};
use super::watch_end::WatchEnd;
use crate::exchange::Exchange;
use crate::time::Timestamp;
use crate::wire::{EventType, WatchFrame};

/// The state is complete once nothing has arrived for this long: the server sends it without a pause.
const PAUSE: Duration = Duration::from_secs(1);
/// After this long the state counts as complete in any case. New objects look like initial ones, so a resource to which objects are
/// added without a pause would never be complete.
const LONGEST: Duration = Duration::from_secs(30);

impl Reflector {
    /// When to check whether the state is complete, always later than `now`; `None` if no state is being sent.
    pub(super) fn state_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.state_complete_at().map(|due| if due > now { due } else { now.plus(PAUSE) })
    }

    /// Completes the state if it is due at `at`.
    pub(super) fn pass_state(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        // While the client does not read, a pause proves nothing.
        if !self.stalls.is_blocked() && self.state_complete_at().is_some_and(|due| due <= at) {
            self.end_state(None, emit);
        }
    }

    /// When the state being sent counts as complete, unless more arrives before.
    fn state_complete_at(&self) -> Option<Timestamp> {
        let State::Listing(listing, Some(watching)) = &self.state else { return None };
        let opened = watching.opened.filter(|_| listing.is_without_end())?;
        Some(watching.latest.unwrap_or(opened).plus(PAUSE).min(opened.plus(LONGEST)))
    }

    /// Whether `frame` shows that the initial state is complete: every event except `ADDED` and `ERROR` does.
    pub(super) fn is_behind_state(&self, frame: &WatchFrame) -> bool {
        let State::Listing(listing, Some(_)) = &self.state else { return false };
        listing.is_without_end()
            && matches!(frame.event_type, EventType::Modified | EventType::Deleted | EventType::Bookmark | EventType::Unknown)
    }

    /// Completes the state at the end of its watch, if the watch ended normally.
    pub(super) fn end_state_with(&mut self, exchange: &Exchange, emit: &mut dyn FnMut(ReflectorEvent)) {
        let is_of_it = matches!(&self.state, State::Listing(_, Some(watching)) if watching.exchange == exchange.id);
        if is_of_it && matches!(WatchEnd::of(exchange), Some(WatchEnd::TimedOut | WatchEnd::Early)) {
            self.end_state(Some(exchange), emit);
        }
    }

    /// Completes the initial state of a watch in a log, when the watch is answered. A log has neither events nor bookmarks, so it
    /// does not show when the state is complete.
    pub(super) fn end_logged_state(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::Listing(mut listing, Some(watching)) if exchange.is_logged && watching.exchange == exchange.id => {
                listing.note_answer(exchange);
                self.state = State::Watching(watching);
                self.complete_list(*listing, at, emit);
            }
            other @ (State::Listing(..) | State::Listed | State::Watching(_) | State::Waiting) => self.state = other,
        }
    }

    /// Completes the state. `exchange` is `None` if only time passed.
    pub(super) fn end_state(&mut self, exchange: Option<&Exchange>, emit: &mut dyn FnMut(ReflectorEvent)) {
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::Listing(mut listing, Some(watching)) if listing.is_without_end() => {
                let at = watching.latest.or(watching.opened).unwrap_or(watching.asked);
                if let Some(exchange) = exchange {
                    listing.note_answer(exchange);
                }
                self.timeline.push(at, Happened::InitialEventsEnded { items: listing.items });
                self.state = State::Watching(watching);
                self.complete_list(*listing, at, emit);
            }
            other @ (State::Listing(..) | State::Listed | State::Watching(_) | State::Waiting) => self.state = other,
        }
    }
}
