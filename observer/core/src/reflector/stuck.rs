//! A reflector that is stuck: it asks for a revision that the server does not reach.

use super::events::{ReflectorEvent, StuckEvent};
use super::failure::{Failure, FailureKind};
use super::listing::Listing;
use super::spells::Trouble;
use super::state::Reflector;
use crate::exchange::Exchange;
use crate::k8s::{ResourceVersion, Status};
use crate::thresholds::STUCK_REFUSALS;
use crate::time::Timestamp;

/// A reflector that asks for a revision that the server does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stuck {
    pub revision: u64,
    /// The server's own revision, as its last refusal reports it.
    pub current: Option<u64>,
    pub since: Timestamp,
    pub refusals: u64,
    pub reported: bool,
}

impl Reflector {
    /// Whether it keeps asking for a revision that the server does not reach.
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck.is_some_and(|stuck| stuck.reported)
    }

    /// Ends the stuck state: the server reached the revision, or the reflector asks for another one.
    pub(super) fn end_stuck(&mut self, at: Timestamp) {
        self.stuck = None;
        self.spells.end(Trouble::Stuck, at);
    }

    /// Notes the end of a list. A refusal of its revision as too large continues the state, or begins it.
    pub(super) fn note_too_large(
        &mut self,
        exchange: &Exchange,
        listing: &Listing,
        at: Timestamp,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) {
        let (Some(Failure { kind: FailureKind::TooLarge, .. }), ResourceVersion::At(revision)) =
            (&listing.failure, listing.options.resource_version)
        else {
            return;
        };
        if self.stuck.is_some_and(|stuck| stuck.revision != revision) {
            self.end_stuck(at);
        }
        let first = Stuck { revision, current: None, since: at, refusals: 0, reported: false };
        let stuck = self.stuck.get_or_insert(first);
        stuck.current = exchange.status.as_ref().and_then(Status::current_revision);
        stuck.refusals = stuck.refusals.saturating_add(1);
        if stuck.refusals >= STUCK_REFUSALS && !std::mem::replace(&mut stuck.reported, true) {
            let stuck = StuckEvent {
                at,
                reflector: self.id,
                client: self.client.clone(),
                shape: self.shape.clone(),
                resource_version: revision,
                current: stuck.current,
                since: stuck.since,
                refusals: stuck.refusals,
            };
            self.spells.begin(Trouble::Stuck, stuck.since);
            self.last_stuck_at = Some(revision);
            emit(ReflectorEvent::Stuck(Box::new(stuck)));
        }
    }
}
