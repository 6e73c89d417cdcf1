//! The state with which a watch without a revision begins: a list, whose end nothing in the stream shows.
//!
//! The server sends an `ADDED` event for each object there is, and then what changes. Streaming lists (`sendInitialEvents=true`) do the same and end
//! that with a bookmark; there [`super::watches`] sees it.

use std::time::Duration;

use super::moment::Happened;
use super::state::{Reflector, State};
use super::told::Told;
use super::watch_end::WatchEnd;
use crate::exchange::Exchange;
use crate::time::Timestamp;
use crate::wire::{EventType, WatchFrame};

/// The state is complete once nothing came for so long: the server sends it in one go.
const PAUSE: Duration = Duration::from_secs(1);
/// After so long it counts as complete, whatever comes: where objects are only added, nothing tells the new ones from the others.
const LONGEST: Duration = Duration::from_secs(30);

impl Reflector {
    /// When to look again whether the state is complete that is being sent; always later than `now`.
    pub(super) fn state_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.state_complete_at().map(|due| if due > now { due } else { now.plus(PAUSE) })
    }

    /// Time has come to `at`.
    pub(super) fn pass_state(&mut self, at: Timestamp, told: &mut dyn FnMut(Told)) {
        // While the client does not read, a pause shows nothing.
        if self.stalling.is_none() && self.state_complete_at().is_some_and(|due| due <= at) {
            self.end_state(None, told);
        }
    }

    /// When the state that is being sent is complete, unless something comes before.
    fn state_complete_at(&self) -> Option<Timestamp> {
        let State::Listing(listing, Some(watching)) = &self.state else { return None };
        let opened = watching.opened.filter(|_| listing.is_without_end())?;
        Some(watching.latest.unwrap_or(opened).plus(PAUSE).min(opened.plus(LONGEST)))
    }

    /// Whether `frame` is about something that happened behind the state.
    pub(super) fn is_behind_state(&self, frame: &WatchFrame) -> bool {
        let State::Listing(listing, Some(_)) = &self.state else { return false };
        listing.is_without_end()
            && matches!(frame.event_type, EventType::Modified | EventType::Deleted | EventType::Bookmark | EventType::Unknown)
    }

    /// The watch of `exchange` is over; where it ended as it should, the state had come.
    pub(super) fn end_state_with(&mut self, exchange: &Exchange, told: &mut dyn FnMut(Told)) {
        let is_of_it = matches!(&self.state, State::Listing(_, Some(watching)) if watching.exchange == exchange.id);
        if is_of_it && matches!(WatchEnd::of(exchange), Some(WatchEnd::TimedOut | WatchEnd::Early)) {
            self.end_state(Some(exchange), told);
        }
    }

    /// All of the state came. `exchange` is at hand unless only time passed.
    pub(super) fn end_state(&mut self, exchange: Option<&Exchange>, told: &mut dyn FnMut(Told)) {
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::Listing(mut listing, Some(watching)) if listing.is_without_end() => {
                let at = watching.latest.or(watching.opened).unwrap_or(watching.asked);
                if let Some(exchange) = exchange {
                    listing.note_answer(exchange);
                }
                self.timeline.push(at, Happened::InitialEventsEnded { items: listing.items });
                self.state = State::Watching(watching);
                self.whole(*listing, at, told);
            }
            other @ (State::Listing(..) | State::Listed | State::Watching(_) | State::Waiting) => self.state = other,
        }
    }
}
