//! Stalls of a reflector: times in which its client does not read.

use crate::observation::Blockage;
use crate::thresholds::SHORTEST_STALL;
use crate::time::{Timestamp, microseconds};

/// The stalls of a reflector, the current one included.
#[derive(Clone, Debug, Default)]
pub(super) struct Stalls {
    current: Option<Stalling>,
    ended: u64,
    ended_us: u64,
}

/// A blockage of the reflector's response, so that the server cannot send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stalling {
    pub since: Timestamp,
    pub by: Blockage,
    /// Whether it was reported, because it lasted long enough.
    reported: bool,
}

/// A stall that is over.
#[derive(Clone, Copy, Debug)]
pub(super) struct PastStall {
    pub stalling: Stalling,
    /// Whether its start has not been reported yet.
    pub is_news: bool,
    pub lasted_us: u64,
}

impl Stalling {
    /// When it is long enough to be reported as a stall.
    pub(super) fn due(&self) -> Timestamp {
        self.since.plus(SHORTEST_STALL)
    }
}

impl Stalls {
    /// Notes the blockage that the response has now; `None` without one. Returns the stall that is over.
    pub(super) fn note(&mut self, at: Timestamp, blocked: Option<(Timestamp, Blockage)>) -> Option<PastStall> {
        match (blocked, &mut self.current) {
            (Some((since, by)), current @ None) => *current = Some(Stalling { since, by, reported: false }),
            (Some((since, _)), Some(stalling)) => stalling.since = since,
            (None, _) => return self.end(at),
        }
        None
    }

    /// Ends the blockage: the server can send again, or has nothing more to send. Returns the stall that is over; `None` if the
    /// blockage was too short to be a stall, and was not reported as one.
    pub(super) fn end(&mut self, at: Timestamp) -> Option<PastStall> {
        let stalling = self.current.take()?;
        let lasted = at.since(stalling.since);
        if lasted < SHORTEST_STALL && !stalling.reported {
            return None;
        }
        let lasted_us = microseconds(lasted);
        self.ended = self.ended.saturating_add(1);
        self.ended_us = self.ended_us.saturating_add(lasted_us);
        Some(PastStall { stalling, is_news: !stalling.reported, lasted_us })
    }

    /// Advances time to `at`. Returns the current blockage once it is long enough to be reported; returns each blockage only once.
    pub(super) fn pass(&mut self, at: Timestamp) -> Option<Stalling> {
        let stalling = self.current.as_mut().filter(|stalling| !stalling.reported && stalling.due() <= at)?;
        stalling.reported = true;
        Some(*stalling)
    }

    /// Whether the response is blocked, however briefly.
    pub(super) const fn is_blocked(&self) -> bool {
        self.current.is_some()
    }

    /// When the current blockage, if any, was or will be long enough to be reported.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.current.as_ref().map(Stalling::due)
    }

    /// When the current blockage is to be reported; `None` if it has been reported, or if there is none.
    pub(super) fn report_due(&self) -> Option<Timestamp> {
        self.current.as_ref().filter(|stalling| !stalling.reported).map(Stalling::due)
    }

    /// The current stall, once it has been reported.
    pub(super) fn reported(&self) -> Option<Stalling> {
        self.current.filter(|stalling| stalling.reported)
    }

    /// Number of stalls that have ended.
    pub(super) const fn ended(&self) -> u64 {
        self.ended
    }

    /// Total length of all stalls until `now`, in microseconds.
    pub(super) fn lasted_us(&self, now: Timestamp) -> u64 {
        let current = self.reported().map_or(0, |stalling| microseconds(now.since(stalling.since)));
        self.ended_us.saturating_add(current)
    }
}
