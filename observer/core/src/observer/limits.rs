//! The bounds of the observer's tables.

use crate::reflector::ReflectorLimits;
use crate::storm::StormLimits;

/// How much is kept. What does not fit is counted in [`super::Missed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Requests that are under way at once; 10 000 watches and their lists fit.
    pub open_exchanges: usize,
    /// Open connections of which it is known where they lead.
    pub connections: usize,
    /// Finished requests kept one by one, the latest; and as many of those under way.
    pub records: usize,
    /// Rows of each table of a snapshot.
    pub rows: usize,
    /// API servers that are told apart.
    pub upstreams: usize,
    /// Resource types whose revisions are remembered, of each API server.
    pub histories: usize,
    /// Of reflectors.
    pub reflectors: ReflectorLimits,
    /// Of storms.
    pub storms: StormLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            open_exchanges: 16_384,
            connections: 65_536,
            records: 2_048,
            rows: 512,
            upstreams: 256,
            histories: 512,
            reflectors: ReflectorLimits::default(),
            storms: StormLimits::default(),
        }
    }
}
