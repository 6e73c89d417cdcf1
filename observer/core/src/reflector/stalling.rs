//! Stalls of a reflector: times in which the client does not read.

use super::events::{ReflectorEvent, StallEvent};
use super::moment::Happened;
use super::spells::Trouble;
use super::state::Reflector;
use crate::exchange::{Exchange, Stall};
use crate::observation::Blockage;
use crate::time::{Timestamp, microseconds};

/// A blockage of the reflector's response, so that the server cannot send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stalling {
    pub since: Timestamp,
    pub by: Blockage,
    /// Whether it has lasted long enough and was reported.
    pub reported: bool,
}

impl Stalling {
    /// When it has lasted long enough to be reported.
    pub(super) fn due(&self) -> Timestamp {
        self.since.plus(Stall::SHORTEST)
    }
}

impl Reflector {
    /// Processes the start or end of a blockage.
    pub(super) fn blockage_changed(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        match (exchange.stall.now(), &mut self.stalling) {
            (Some((since, by)), stalling @ None) => *stalling = Some(Stalling { since, by, reported: false }),
            (Some((since, _)), Some(stalling)) => stalling.since = since,
            (None, _) => self.end_stall(at, emit),
        }
    }

    /// Ends the stall: the server can send again, or has nothing more to send.
    pub(super) fn end_stall(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(stalling) = self.stalling.take() else { return };
        let lasted = at.since(stalling.since);
        if lasted < Stall::SHORTEST {
            return;
        }
        if !stalling.reported {
            self.report_stall(stalling, at, emit);
        }
        self.counts.stalls = self.counts.stalls.saturating_add(1);
        self.counts.stalled_us = self.counts.stalled_us.saturating_add(microseconds(lasted));
        self.spells.end(Trouble::Stalled, at);
        self.timeline.push(at, Happened::ReadAgain { after_us: microseconds(lasted) });
        emit(ReflectorEvent::StallEnded(self.stall_reported(stalling, at)));
    }

    /// Reports a stall once it has lasted long enough.
    pub(super) fn pass_stall(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if let Some(stalling) = self.stalling.filter(|stalling| !stalling.reported && stalling.due() <= at) {
            self.stalling = Some(Stalling { reported: true, ..stalling });
            self.report_stall(stalling, at, emit);
        }
    }

    fn report_stall(&mut self, stalling: Stalling, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        self.spells.begin(Trouble::Stalled, stalling.since);
        self.timeline.push(at, Happened::Stalled { by: stalling.by, since: stalling.since });
        emit(ReflectorEvent::Stalled(self.stall_reported(stalling, at)));
    }

    fn stall_reported(&self, Stalling { since, by, .. }: Stalling, at: Timestamp) -> Box<StallEvent> {
        Box::new(StallEvent {
            at,
            reflector: self.id,
            client: self.client.clone(),
            shape: self.shape.clone(),
            by,
            since,
            lasted_us: microseconds(at.since(since)),
        })
    }
}
