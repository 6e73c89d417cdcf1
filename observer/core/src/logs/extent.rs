//! How much of a cluster's traffic a log shows.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::audit::{AuditEvent, AuditLevel, AuditStage};
use super::envelope::Envelope;
use crate::observation::RunObservation;
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
    /// Whether lines state no year or no zone.
    pub has_incomplete_times: bool,
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
    /// Number of lines of traces without their first line, and of traces that were given up because too many were open.
    pub torn_traces: u64,
    /// Number of events without a time, which are left out.
    pub without_time: u64,
    /// Number of events that repeat a stage of a request.
    pub repeated: u64,
    /// Number of events that came too late to be put in order.
    pub late: u64,
    /// Number of open requests that were given up, because too many were open at once: their ends are unknown.
    pub given_up: u64,
    /// Number of requests that have the audit ID of an earlier request. Clients may choose it.
    pub same_ids: u64,
    /// Number of watches that were logged as they opened, and whose ends are not logged (kubernetes/kubernetes issue 125614).
    pub without_end: u64,
    /// The versions that API servers state in requests to themselves.
    pub server_versions: BTreeSet<String>,
    /// Number of answers in the log of a client that fit several of its requests, or none.
    pub unpaired: u64,
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

    /// Notes the version in the user agent of an API server, as in `kube-apiserver/v1.34.4 (linux/amd64) kubernetes/8cc511e`.
    pub(super) fn note_server(&mut self, user_agent: &str) {
        /// Maximum number of versions that are kept.
        const MOST: usize = 8;
        let version = user_agent.split([' ', '/']).find_map(|word| {
            let version = word.strip_prefix("kube-apiserver-").unwrap_or(word).strip_prefix('v')?;
            let numbers = version.split('.').take_while(|number| number.bytes().all(|byte| byte.is_ascii_digit())).count();
            (numbers == 3 && version.len() <= 16).then_some(version)
        });
        if let Some(version) = version.filter(|_| self.server_versions.len() < MOST) {
            self.server_versions.insert(version.to_owned());
        }
    }

    pub(super) fn note_time(&mut self, at: Timestamp) {
        self.from = Some(self.from.map_or(at, |from| from.min(at)));
        self.until = self.until.max(Some(at));
    }

    /// Whether every line was understood and every event has its place.
    pub const fn is_complete(&self) -> bool {
        let Self { late, given_up, unpaired, without_time, not_understood, too_long, cut, .. } = *self;
        matches!([late, given_up, unpaired, without_time, not_understood, too_long, cut], [0, 0, 0, 0, 0, 0, 0])
    }

    /// The parts of the logs that the observations lack.
    pub const fn missed(&self) -> RunObservation {
        let lines = self.not_understood.saturating_add(self.too_long).saturating_add(self.cut);
        let late = self.late.saturating_add(self.given_up);
        RunObservation::LogsMissed { lines, events: late.saturating_add(self.without_time).saturating_add(self.unpaired) }
    }
}
