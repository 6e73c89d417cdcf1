//! Counters of data that was not observed, or not understood.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::observation::{BodyNotRead, ProbeMissed};
use crate::reflector::ReflectorsMissed;
use crate::time::Timestamp;

/// Bound for distinct reasons why bodies were not understood; further reasons count as `other`.
const MAX_REASONS: usize = 16;
/// Bound for spans of a capture that are kept individually; the first ones are kept.
const MAX_SPANS: usize = 16;

/// A span of a capture that could not be read. The snapshot lacks its observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Unrecorded {
    /// Number of missing observations; `None` when it is unknown.
    pub observations: Option<u64>,
    /// Time of the last observation before the span; `None` when there is none.
    pub from: Option<Timestamp>,
    /// Time of the first observation after the span, or of the last one in it; `None` when both are unknown.
    pub until: Option<Timestamp>,
}

/// Counters of all data that the rest of a snapshot omits. If all are zero, the snapshot is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Missed {
    /// Forwarded bytes that the decoders were not given, because observing lagged behind.
    pub bytes: u64,
    /// Number of gaps that these bytes make.
    pub gaps: u64,
    /// Places where bytes were not valid HTTP.
    pub malformed: u64,
    /// Directions of connections that could not be decoded any further.
    pub stopped_directions: u64,
    /// Client connections that were forwarded unobserved.
    pub connections: u64,
    /// Notices of a tap about itself (listeners, refusals, failed connections) that were discarded for lack of room. If there are
    /// any, the counts of refusals and failures below are lower bounds.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub notices: u64,
    /// Open connections beyond the bound, whose API server was forgotten. Their traffic counts for an API server without a name.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub connections_forgotten: u64,
    /// Connections whose decoder failed because of an internal error.
    pub decoder_failures: u64,
    /// Response bodies that were not understood, by reason.
    pub bodies: BTreeMap<String, u64>,
    /// Lines of logs that were not understood, were too long, or were cut.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub log_lines: u64,
    /// Events of logs that have no time or no request, that came too late to be put in order, or that had no room.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub log_events: u64,
    /// Requests whose method or path is unknown.
    pub unknown_requests: u64,
    /// Requests that were not followed, or not to their end, because too many were under way or they took too much memory.
    pub exchanges_dropped: u64,
    /// Finished requests that are in the tables, but no longer kept individually.
    pub records_dropped: u64,
    /// Requests under way that are in the totals and tables, but not kept individually.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub open_not_shown: u64,
    /// Finished requests that are in the totals, but in no table, because the tables were full.
    pub rows_dropped: u64,
    /// Connections to API servers that are not distinguished, because there are too many. No facts about these servers are kept.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub upstreams_dropped: u64,
    /// Clients that were reset although the API server refused connections: its refusal came too late to pass on.
    pub reset_instead_of_refused: u64,
    /// Client connections that failed for a reason other than a refusal.
    pub connect_failures: u64,
    /// The last of these reasons, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_connect_failure: String,
    /// Losses of a probe in the kernel.
    #[serde(skip_serializing_if = "ProbeMissed::is_none")]
    pub probe: ProbeMissed,
    /// Programs and libraries whose TLS connections the probe does not see.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub not_probed: u64,
    /// Name of the last of these, with the reason.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_not_probed: String,
    /// Reflectors that are followed, but not among the rows of a snapshot.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub reflectors_not_shown: u64,
    /// Clients that are known, but not among the rows of a snapshot.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub clients_not_shown: u64,
    /// Data that the tables of reflectors dropped to keep their bounds.
    #[serde(skip_serializing_if = "ReflectorsMissed::is_none")]
    pub reflectors: ReflectorsMissed,
    /// Spans of a replayed capture that could not be read.
    pub unrecorded: u64,
    /// The first of these spans.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unrecorded_spans: Vec<Unrecorded>,
    /// Observations of a replayed capture that this version does not know.
    pub unknown_observations: u64,
    /// Why the capture of this run ended early, in words. This snapshot is not affected, only a later replay.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub capture_ended: String,
    /// Log records, spans and final data points of `--otlp` that did not reach the collector. This snapshot is not affected.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub not_exported: u64,
}

impl Missed {
    /// Whether some traffic was not decoded, could not be followed, or is in no table. Shapes that are absent from the tables may
    /// then have occurred.
    pub fn unseen(&self) -> bool {
        self.bytes > 0
            || self.stopped_directions > 0
            || self.connections > 0
            || self.decoder_failures > 0
            || self.exchanges_dropped > 0
            || self.rows_dropped > 0
            || self.unrecorded > 0
            || self.log_events > 0
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
