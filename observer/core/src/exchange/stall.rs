//! Stalls: times in which a response waits because its client does not read.

use std::time::Duration;

use serde::Serialize;

use crate::observation::Blockage;
use crate::thresholds::SHORTEST_STALL;
use crate::time::{Timestamp, microseconds};

/// How long a response waited because its client did not read. Waits shorter than `SHORTEST_STALL` are normal flow control and
/// do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// Current blockages, oldest first.
    blocked: Vec<Blockage>,
    since: Option<Timestamp>,
    times: u64,
    lasted: Duration,
    /// End of the last wait that counted.
    last: Option<Timestamp>,
}

/// A [`Stall`] as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StallRecord {
    /// Number of waits of at least 1 s, without the current one.
    pub times: u64,
    /// Sum of these waits, in microseconds.
    pub lasted_us: u64,
    /// Start of the current wait, however short it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Oldest blockage of the current wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Blockage>,
}

/// A server that gave up on a slow reader sends its remaining bytes within this time after the wait.
const AFTERMATH: Duration = Duration::from_secs(5);

impl Stall {
    /// Notes one more blockage.
    pub(super) fn block(&mut self, by: Blockage, since: Timestamp) {
        if !self.blocked.contains(&by) {
            self.blocked.push(by);
            self.since = Some(self.since.map_or(since, |before| before.min(since)));
        }
    }

    /// Notes the end of a blockage.
    pub(super) fn unblock(&mut self, by: Blockage, at: Timestamp) {
        self.blocked.retain(|blocked| *blocked != by);
        if self.blocked.is_empty() {
            self.end(at);
        }
    }

    /// Ends the current wait, whatever blocks the response.
    pub(super) fn end(&mut self, at: Timestamp) {
        self.blocked = Vec::new();
        let lasted = self.since.take().map(|since| at.since(since)).filter(|lasted| *lasted >= SHORTEST_STALL);
        if let Some(lasted) = lasted {
            self.times = self.times.saturating_add(1);
            self.lasted = self.lasted.saturating_add(lasted);
            self.last = Some(at);
        }
    }

    /// Start and oldest blockage of the current wait, however short it is.
    pub fn now(&self) -> Option<(Timestamp, Blockage)> {
        self.since.zip(self.blocked.first().copied())
    }

    /// The same as plain data; `None` without a counted or current wait.
    pub fn record(&self) -> Option<StallRecord> {
        let (since, by) = self.now().unzip();
        (self.times > 0 || since.is_some()).then(|| StallRecord {
            times: self.times,
            lasted_us: microseconds(self.lasted),
            since,
            by,
        })
    }

    /// Whether a counted wait ended at most 5 s before `at`. In this time the server may still send the rest.
    pub fn was_just_before(&self, at: Timestamp) -> bool {
        self.last.is_some_and(|last| at.since(last) <= AFTERMATH)
    }
}
