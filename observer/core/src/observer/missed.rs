//! What was not seen, or seen and not understood.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::observation::{BodyNotRead, ProbeMissed};
use crate::reflector::ReflectorsMissed;
use crate::time::Timestamp;

/// Different reasons that are kept apart; further ones are counted as `other`.
const MAX_REASONS: usize = 16;
/// Spans of a capture that are kept one by one, the first ones.
const MAX_SPANS: usize = 16;

/// A span of a capture that could not be read. What happened in it is not in the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unrecorded {
    /// How many observations; `None` when that cannot be known.
    pub observations: Option<u64>,
    /// The time of the last observation before it.
    pub from: Option<Timestamp>,
    /// The time of the first observation behind it; `None` when nothing behind it was read.
    pub until: Option<Timestamp>,
}

/// Counters of everything that the rest of a snapshot leaves out. All zero means that it is the whole truth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Missed {
    /// Forwarded bytes that the decoders were not shown, because observing lagged behind.
    pub bytes: u64,
    /// Holes that these bytes made.
    pub gaps: u64,
    /// Places where bytes were not HTTP as the standard has it.
    pub malformed: u64,
    /// Directions of connections that could not be decoded any further.
    pub dark: u64,
    /// Client connections that were forwarded unobserved.
    pub connections: u64,
    /// Things that a tap told of itself and that found no room: its listeners, refusals, connections that failed. The numbers below of
    /// refusals and failures are lower bounds then.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub notices: u64,
    /// Open connections beyond those that are followed: what they carry is counted, but for an API server without a name.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub connections_forgotten: u64,
    /// Connections whose decoder failed on its own account.
    pub decoder_failures: u64,
    /// Response bodies that were not understood, by reason.
    pub bodies: BTreeMap<String, u64>,
    /// Requests whose method or path could not be known.
    pub unknown_requests: u64,
    /// Requests that were not followed, because too many were under way.
    pub exchanges_dropped: u64,
    /// Finished requests that are in the tables but no longer in the list of single requests.
    pub records_dropped: u64,
    /// Requests under way that are in the totals and tables but not among the single requests.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub open_not_shown: u64,
    /// Finished requests that are in the totals only, because their table was full.
    pub rows_dropped: u64,
    /// Connections to API servers beyond those that are told apart; nothing is known of these servers.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub upstreams_dropped: u64,
    /// Clients that were reset although the API server refused.
    pub reset_instead_of_refused: u64,
    /// Client connections that did not come about for another reason.
    pub connect_failures: u64,
    /// The last of these reasons, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_connect_failure: String,
    /// What a probe in the kernel could not record.
    #[serde(skip_serializing_if = "ProbeMissed::is_none")]
    pub probe: ProbeMissed,
    /// Programs and libraries whose TLS connections the probe does not see.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub not_probed: u64,
    /// The last of these, and why.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_not_probed: String,
    /// Reflectors that are followed and not among the rows.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub reflectors_not_shown: u64,
    /// What fell out of the tables of reflectors.
    #[serde(skip_serializing_if = "ReflectorsMissed::is_none")]
    pub reflectors: ReflectorsMissed,
    /// Spans of a replayed capture that could not be read.
    pub unrecorded: u64,
    /// These spans; of very many the first ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unrecorded_spans: Vec<Unrecorded>,
    /// Observations of a replayed capture that this version does not know.
    pub unknown_observations: u64,
    /// Why the capture of this run ended early, in words. It takes nothing from this snapshot, only from its later replay.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub capture_ended: String,
}

impl Missed {
    /// Whether some traffic was not shown to the decoders, could not be followed, or is in no table, so that a shape that is not in the
    /// tables may have occurred.
    pub fn unseen(&self) -> bool {
        self.bytes > 0
            || self.dark > 0
            || self.connections > 0
            || self.decoder_failures > 0
            || self.exchanges_dropped > 0
            || self.rows_dropped > 0
            || self.unrecorded > 0
            || self.not_probed > 0
            || !self.probe.is_none()
    }

    pub(super) fn note_unrecorded(&mut self, span: Unrecorded) {
        self.unrecorded = self.unrecorded.saturating_add(1);
        if self.unrecorded_spans.len() < MAX_SPANS {
            self.unrecorded_spans.push(span);
        }
    }

    pub(super) fn note_body(&mut self, reason: &BodyNotRead) {
        let text = match reason {
            BodyNotRead::MediaType(media_type) => media_type.clone(),
            BodyNotRead::ContentCoding(coding) => format!("content-encoding {coding}"),
            BodyNotRead::Malformed { what, .. } => format!("malformed: {what}"),
        };
        let known = self.bodies.contains_key(&text) || self.bodies.len() < MAX_REASONS;
        let key = if known { text } else { "other".to_owned() };
        let count = self.bodies.entry(key).or_default();
        *count = count.saturating_add(1);
    }
}
