//! Responses that wait for their reader.

use std::time::Duration;

use serde::Serialize;

use crate::observation::Blockage;
use crate::time::{Timestamp, microseconds};

/// How long a response had to wait because its client did not read. Shorter waits than [`Stall::SHORTEST`] are what flow control is for, and
/// are not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stall {
    /// What blocks it, in the order in which it began to.
    blocked: Vec<Blockage>,
    since: Option<Timestamp>,
    times: u64,
    lasted: Duration,
    /// When the last one that counted was over.
    last: Option<Timestamp>,
}

/// The same as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StallRecord {
    /// How often it had to wait for a second or more, not counting the present time.
    pub times: u64,
    /// How long, all together, in microseconds, likewise.
    pub lasted_us: u64,
    /// Since when it waits, however short that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// For what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<Blockage>,
}

/// What a server that gave up a slow reader has still to send, behind the wait.
const AFTERMATH: Duration = Duration::from_secs(5);

impl Stall {
    /// The shortest wait that counts.
    pub const SHORTEST: Duration = Duration::from_secs(1);

    /// It has to wait for one thing more.
    pub(super) fn block(&mut self, by: Blockage, since: Timestamp) {
        if !self.blocked.contains(&by) {
            self.blocked.push(by);
            self.since = Some(self.since.map_or(since, |before| before.min(since)));
        }
    }

    /// It no longer has to wait for that.
    pub(super) fn unblock(&mut self, by: Blockage, at: Timestamp) {
        self.blocked.retain(|blocked| *blocked != by);
        if self.blocked.is_empty() {
            self.end(at);
        }
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self, at: Timestamp) {
        self.blocked = Vec::new();
        let lasted = self.since.take().map(|since| at.since(since)).filter(|lasted| *lasted >= Self::SHORTEST);
        if let Some(lasted) = lasted {
            self.times = self.times.saturating_add(1);
            self.lasted = self.lasted.saturating_add(lasted);
            self.last = Some(at);
        }
    }

    /// Since when it waits, and for what; however short that is.
    pub fn now(&self) -> Option<(Timestamp, Blockage)> {
        self.since.zip(self.blocked.first().copied())
    }

    /// What is to be told of it; nothing if it never waited.
    pub fn record(&self) -> Option<StallRecord> {
        let (since, by) = self.now().unzip();
        (self.times > 0 || since.is_some()).then(|| StallRecord {
            times: self.times,
            lasted_us: microseconds(self.lasted),
            since,
            by,
        })
    }

    /// Whether it waited for long until `at`, or shortly before: long enough for what is sent in the end to follow.
    pub fn was_just_before(&self, at: Timestamp) -> bool {
        self.last.is_some_and(|last| at.since(last) <= AFTERMATH)
    }
}
