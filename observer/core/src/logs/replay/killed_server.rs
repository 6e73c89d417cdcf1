//! Ends the requests in the log of an API server that was killed.

use std::iter;

use super::log_replay::LogReplay;
use super::record::{Record, observation};
use super::requests::OpenRequest;
use super::restart::{WITHIN, was_killed};
use crate::logs::audit::AuditEvent;
use crate::logs::envelope::Envelope;
use crate::observation::{
    ExchangeEnd, ExchangeObservation, ListenerState, Observation, RequestLine, Subject, UpstreamName, UpstreamObservation,
};
use crate::time::Timestamp;

impl LogReplay {
    /// Whether the API server of a log was killed before this record, the first one after a silence.
    pub(super) fn was_killed(&self, at: Timestamp, record: &Record, log: usize) -> bool {
        // The log of a cloud has the events of several API servers.
        let is_of_cloud = [Envelope::CloudWatch, Envelope::Azure].iter().any(|cloud| self.extent.envelopes.contains_key(cloud));
        let records = iter::once((at, record)).chain(self.window.until(at.plus(WITHIN)));
        let staged = records.filter_map(|(at, record)| Some((at, record.staged()?)));
        let of_log = staged.filter(|(_, (of, ..))| *of == log).map(|(at, (_, stage, event))| (at, stage, event));
        let is_watched = |event: &AuditEvent, request: &RequestLine| {
            self.clients.connection(event).is_some_and(|client| self.requests.has_watch_of(client, request))
        };
        !is_of_cloud && was_killed(at, of_log, is_watched)
    }

    /// Ends the open requests of an API server that was killed. It refused connections until it listened again.
    pub(super) fn begin_again(&mut self, at: Timestamp, log: usize, emit: &mut dyn FnMut(Observation)) {
        self.extent.restarts = self.extent.restarts.saturating_add(1);
        let Self { requests, ended, .. } = self;
        // A log that ended before may be an earlier part of this one.
        let is_past = |other| ended.get(&other).is_some_and(|last| *last < at);
        for open in requests.close_all(|other| other == log || is_past(other)) {
            give_up(at, &open, ExchangeEnd::Cut(None), emit);
        }
        // The other API servers of a cluster did not refuse connections.
        if self.silences.logs().filter(|log| !is_past(*log)).count() == 1 {
            for state in [ListenerState::Refusing, ListenerState::Listening] {
                let subject = Subject::Upstream(UpstreamName::default(), UpstreamObservation::Listener { state });
                emit(Observation { at, subject });
            }
        }
    }
}

/// Ends a request whose end is not in the log.
pub(super) fn give_up(at: Timestamp, open: &OpenRequest, end: ExchangeEnd, emit: &mut dyn FnMut(Observation)) {
    if !open.is_own {
        emit(observation(at, open.id, ExchangeObservation::Ended { end }));
    }
}
