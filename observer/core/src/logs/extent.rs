//! How much of a cluster's traffic a log shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::audit::{AuditEvent, AuditLevel, AuditStage};
use super::envelope::Envelope;
use crate::time::Timestamp;

/// How much a log shows: its events, its span of time, and what was not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LogExtent {
    /// Number of audit events.
    pub events: u64,
    /// Number of requests among them.
    pub requests: u64,
    /// Number of requests that API servers made themselves. They are left out, because no tap sees them.
    pub own: u64,
    /// The levels that occur.
    pub levels: BTreeSet<AuditLevel>,
    /// The stages that occur.
    pub stages: BTreeSet<AuditStage>,
    /// Time of the earliest stage.
    pub from: Option<Timestamp>,
    /// Time of the latest stage.
    pub until: Option<Timestamp>,
    /// Number of lines in each kind of envelope.
    pub envelopes: BTreeMap<Envelope, u64>,
    /// Number of lines of each form but audit events, by the name of the form.
    pub forms: BTreeMap<&'static str, u64>,
    /// Number of times that an API server was restarted without an end of its requests in the log.
    pub restarts: u64,
    /// Number of times that an API server reset a watch cache.
    pub cache_resets: u64,
    /// Number of watches that an API server closed by force, because their clients read too slowly.
    pub closed_by_force: u64,
    /// Number of such lines that fit several watches.
    pub ambiguous_closes: u64,
    /// Number of such lines that fit no open watch of the logs.
    pub unmatched_closes: u64,
    /// Number of events without a time, which are left out.
    pub without_time: u64,
    /// Number of events that repeat a stage of a request.
    pub repeated: u64,
    /// Number of events that came too late to be put in order.
    pub late: u64,
    /// Number of open requests that were given up, because too many were open at once: their ends are unknown.
    pub given_up: u64,
    /// Number of requests that were left out, because there were too many clients.
    pub without_client: u64,
    /// Number of lines that are not understood.
    pub not_understood: u64,
    /// Number of lines that are longer than 16 MiB.
    pub too_long: u64,
    /// Number of lines of which EKS logged the beginning only.
    pub cut: u64,
}

impl LogExtent {
    pub(super) fn note(&mut self, event: &AuditEvent) {
        self.events = self.events.saturating_add(1);
        self.levels.insert(event.level);
        self.stages.insert(event.stage);
    }

    pub(super) fn note_time(&mut self, at: Timestamp) {
        self.from = Some(self.from.map_or(at, |from| from.min(at)));
        self.until = self.until.max(Some(at));
    }

    /// Whether every line was understood and every event has its place.
    pub const fn is_complete(&self) -> bool {
        let Self { late, given_up, without_client, without_time, not_understood, too_long, cut, .. } = *self;
        matches!([late, given_up, without_client, without_time, not_understood, too_long, cut], [0, 0, 0, 0, 0, 0, 0])
    }
}
