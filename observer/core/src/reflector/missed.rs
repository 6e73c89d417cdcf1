//! Counters of data that the tables of reflectors dropped.

use serde::Serialize;

/// Data that was dropped from the tables of reflectors to keep their bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ReflectorsMissed {
    /// Reflectors that were dropped to make room.
    pub forgotten: u64,
    /// Requests that were assigned to no reflector, because there was no room for another one.
    pub requests: u64,
    /// Number of times that half of a reflector's object versions were dropped. Its spurious updates are then estimates.
    pub thinned: u64,
    /// Own writes, and measured times of own writes, that were dropped to make room.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub own_writes: u64,
    /// Clients whose request times or rate limit were dropped to make room, so that a limit may be missed.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub rate_limits: u64,
    /// Gets that were not followed for lack of room, so that a poller of them may be missed.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub gets: u64,
    /// Clients that were dropped to make room, with the counts of their requests.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub clients: u64,
}

impl ReflectorsMissed {
    /// Whether nothing was dropped.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}
