//! Stalls of a reflector: times in which the client does not read.

use super::moment::Happened;
use super::spells::Trouble;
use super::state::Reflector;
use super::told::{StallTold, Told};
use crate::exchange::{Exchange, Stall};
use crate::observation::Blockage;
use crate::time::{Timestamp, microseconds};

/// A blockage of the reflector's response, so that the server cannot send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stalling {
    pub since: Timestamp,
    pub by: Blockage,
    /// Whether it has lasted long enough and was reported.
    pub told: bool,
}

impl Stalling {
    /// When it has lasted long enough to be reported.
    pub(super) fn due(&self) -> Timestamp {
        self.since.plus(Stall::SHORTEST)
    }
}

impl Reflector {
    /// Processes the start or end of a blockage.
    pub(super) fn blockage_changed(&mut self, exchange: &Exchange, at: Timestamp, told: &mut dyn FnMut(Told)) {
        match (exchange.stall.now(), &mut self.stalling) {
            (Some((since, by)), stalling @ None) => *stalling = Some(Stalling { since, by, told: false }),
            (Some((since, _)), Some(stalling)) => stalling.since = since,
            (None, _) => self.end_stall(at, told),
        }
    }

    /// Ends the stall: the server can send again, or has nothing more to send.
    pub(super) fn end_stall(&mut self, at: Timestamp, told: &mut dyn FnMut(Told)) {
        let Some(stalling) = self.stalling.take() else { return };
        let lasted = at.since(stalling.since);
        if lasted < Stall::SHORTEST {
            return;
        }
        if !stalling.told {
            self.tell_stall(stalling, at, told);
        }
        self.counts.stalls = self.counts.stalls.saturating_add(1);
        self.counts.stalled_us = self.counts.stalled_us.saturating_add(microseconds(lasted));
        self.spells.end(Trouble::Stalled, at);
        self.timeline.push(at, Happened::ReadAgain { after_us: microseconds(lasted) });
        told(Told::StallEnded(self.stall_told(stalling, at)));
    }

    /// Reports a stall once it has lasted long enough.
    pub(super) fn pass_stall(&mut self, at: Timestamp, told: &mut dyn FnMut(Told)) {
        if let Some(stalling) = self.stalling.filter(|stalling| !stalling.told && stalling.due() <= at) {
            self.stalling = Some(Stalling { told: true, ..stalling });
            self.tell_stall(stalling, at, told);
        }
    }

    fn tell_stall(&mut self, stalling: Stalling, at: Timestamp, told: &mut dyn FnMut(Told)) {
        self.spells.begin(Trouble::Stalled, stalling.since);
        self.timeline.push(at, Happened::Stalled { by: stalling.by, since: stalling.since });
        told(Told::Stalled(self.stall_told(stalling, at)));
    }

    fn stall_told(&self, Stalling { since, by, .. }: Stalling, at: Timestamp) -> Box<StallTold> {
        Box::new(StallTold {
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
