//! Losses of a probe in the kernel.

use serde::{Deserialize, Serialize};

use crate::left_out::is_zero;

/// Data that a probe could not record, or that could not be used, since the last such observation. Lost bytes of followed
/// connections are also observed as [`ConnectionObservation::Gap`](super::ConnectionObservation::Gap).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeMissed {
    /// Records for which the ring buffer had no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub records: u64,
    /// Bytes of plaintext in those records.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
    /// Records whose bytes could not be read from the memory of the process.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: u64,
    /// Bytes of a call beyond the maximum that is recorded of one call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beyond_largest_call: u64,
    /// Calls into a TLS library whose beginning was not seen, so that their bytes are unknown: the probe was attached later.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Calls into a TLS library for which there was no room. Earlier releases counted them among `calls`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls_without_room: u64,
    /// TLS connections for which there was no room.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections: u64,
    /// TLS connections whose socket was not found, so that it is unknown where they lead.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sockets: u64,
    /// Starts and ends of processes and sockets that were not recorded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lifetimes: u64,
    /// Header fields of connections opened earlier, which could not be matched with their bytes.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unused_fields: u64,
    /// Calls into a TLS library that seemed to use another socket than their connection.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub contradicted: u64,
    /// Recorded bytes of plaintext on connections whose socket was never found.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unplaced: u64,
}

impl ProbeMissed {
    /// Whether nothing was missed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The increase since `before`.
    #[must_use]
    pub const fn since(&self, before: &Self) -> Self {
        Self {
            records: self.records.saturating_sub(before.records),
            bytes: self.bytes.saturating_sub(before.bytes),
            unreadable: self.unreadable.saturating_sub(before.unreadable),
            beyond_largest_call: self.beyond_largest_call.saturating_sub(before.beyond_largest_call),
            calls: self.calls.saturating_sub(before.calls),
            calls_without_room: self.calls_without_room.saturating_sub(before.calls_without_room),
            connections: self.connections.saturating_sub(before.connections),
            sockets: self.sockets.saturating_sub(before.sockets),
            lifetimes: self.lifetimes.saturating_sub(before.lifetimes),
            unused_fields: self.unused_fields.saturating_sub(before.unused_fields),
            contradicted: self.contradicted.saturating_sub(before.contradicted),
            unplaced: self.unplaced.saturating_sub(before.unplaced),
        }
    }

    /// The sum of both.
    #[must_use]
    pub const fn and(&self, other: &Self) -> Self {
        Self {
            records: self.records.saturating_add(other.records),
            bytes: self.bytes.saturating_add(other.bytes),
            unreadable: self.unreadable.saturating_add(other.unreadable),
            beyond_largest_call: self.beyond_largest_call.saturating_add(other.beyond_largest_call),
            calls: self.calls.saturating_add(other.calls),
            calls_without_room: self.calls_without_room.saturating_add(other.calls_without_room),
            connections: self.connections.saturating_add(other.connections),
            sockets: self.sockets.saturating_add(other.sockets),
            lifetimes: self.lifetimes.saturating_add(other.lifetimes),
            unused_fields: self.unused_fields.saturating_add(other.unused_fields),
            contradicted: self.contradicted.saturating_add(other.contradicted),
            unplaced: self.unplaced.saturating_add(other.unplaced),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_serialized_form_is_read() {
        let missed: ProbeMissed = serde_json::from_str(r#"{"records":3,"lifetimes":1}"#).unwrap();
        assert_eq!(missed, ProbeMissed { records: 3, lifetimes: 1, ..ProbeMissed::default() });
    }

    #[test]
    fn every_counter_is_added_and_subtracted() {
        let (one, three) = (of_each(1), of_each(3));
        assert_eq!(one.and(&one).and(&one), three);
        assert_eq!(three.since(&one), one.and(&one));
    }

    fn of_each(number: u64) -> ProbeMissed {
        ProbeMissed {
            records: number,
            bytes: number,
            unreadable: number,
            beyond_largest_call: number,
            calls: number,
            calls_without_room: number,
            connections: number,
            sockets: number,
            lifetimes: number,
            unused_fields: number,
            contradicted: number,
            unplaced: number,
        }
    }
}
