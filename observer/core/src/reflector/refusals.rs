//! Consecutive lists and watches of a reflector that the server refuses.

use serde::Serialize;

use super::events::ReflectorEvent;
use super::failure::FailureKind;
use super::spells::Trouble;
use super::state::Reflector;
use crate::exchange::Exchange;
use crate::thresholds::{REFUSALS, REFUSED_FOR};
use crate::time::Timestamp;

/// Consecutive lists and watches that the server refused, with one status or with several of 5xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Refusals {
    /// The HTTP status of the last one.
    pub status: u16,
    /// Their number.
    pub times: u64,
    /// When the first one was requested.
    pub since: Timestamp,
    /// When the last one ended.
    pub last: Timestamp,
}

/// The present series of refusals, and the last one that was reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refused {
    present: Option<Refusals>,
    pub reported: Option<Refusals>,
}

impl Refusals {
    /// Whether a refusal with `status` continues the series.
    const fn is_continued_by(self, status: u16) -> bool {
        self.status == status || (self.status >= 500 && status >= 500)
    }
}

impl Reflector {
    /// Notes the end of a list or watch. A refusal continues the series or starts another one; any other answer ends the series.
    pub(super) fn note_refusal(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(status) = exchange.status_code() else { return };
        let is_refused = status >= 400 && FailureKind::of(status, exchange.status.as_ref()) == FailureKind::Refused;
        if !is_refused || self.refused.present.is_some_and(|refusals| !refusals.is_continued_by(status)) {
            self.end_refusals(at, emit);
        }
        if !is_refused || is_refused_streaming_list(exchange, status) {
            return;
        }
        let first = Refusals { status, times: 0, since: exchange.started, last: at };
        let refusals = self.refused.present.get_or_insert(first);
        (refusals.status, refusals.last, refusals.times) = (status, at, refusals.times.saturating_add(1));
        let refusals = *refusals;
        if refusals.times >= REFUSALS && at.since(refusals.since) >= REFUSED_FOR {
            self.refused.reported = Some(refusals);
            self.begin_trouble(Trouble::Refused, refusals.since, at, emit);
        }
    }

    fn end_refusals(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if self.refused.present.take().is_some() {
            self.end_trouble(Trouble::Refused, at, emit);
        }
    }
}

/// Whether the server refused a streaming list because it does not support it. The client then sends a plain list.
fn is_refused_streaming_list(exchange: &Exchange, status: u16) -> bool {
    exchange.request.options.begins_with_state() && matches!(status, 400 | 422)
}
