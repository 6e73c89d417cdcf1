//! The numbers that define a storm, and the bounds for data about storms.

use crate::thresholds::{STORM_REFLECTORS, STORM_WITHIN};
use std::time::Duration;

/// The number of reflectors and the time that define a storm, and the bounds for data about storms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StormLimits {
    /// Number of different reflectors.
    pub reflectors: usize,
    /// Time in which they must begin to relist.
    ///
    /// A storm ends after the same time without a new member, if fewer than half of `reflectors` began to relist in that time. Its
    /// length is the time in which its members joined: a member that cannot list does not prolong it.
    pub window: Duration,
    /// Number of members per storm that are kept individually; the others are only counted.
    pub members: usize,
    /// Estimated bytes for the recent relists and storm members of all API servers together, and as many for past storms. Ten
    /// recent relists of each API server are kept in any case.
    pub memory: usize,
    /// Number of past storms that are kept; the latest are kept.
    pub past: usize,
    /// Number of API servers.
    pub servers: usize,
}

impl Default for StormLimits {
    fn default() -> Self {
        Self { reflectors: STORM_REFLECTORS, window: STORM_WITHIN, members: 4_096, memory: 8 << 20, past: 32, servers: 256 }
    }
}

impl StormLimits {
    /// Reduces the memory bound to at most `memory` bytes.
    #[must_use]
    pub fn within(self, memory: usize) -> Self {
        Self { memory: self.memory.min(memory), ..self }
    }

    /// Estimated bytes of present and past storms.
    pub(crate) const fn bytes(&self) -> usize {
        self.memory.saturating_mul(2)
    }
}
