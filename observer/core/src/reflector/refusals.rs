//! Consecutive lists, or consecutive watches, of a reflector that the server refuses.

use serde::Serialize;

use super::clients::is_of_one_command;
use super::events::ReflectorEvent;
use super::failure::FailureKind;
use super::spells::Trouble;
use super::state::Reflector;
use crate::exchange::Exchange;
use crate::k8s::ResourceVersion;
use crate::routing::Verdict;
use crate::thresholds::{REFUSALS, REFUSED_FOR, REFUSED_WITHIN, VERY_SHORT_WATCH};
use crate::time::Timestamp;

/// Consecutive lists, or watches, that the server refused, with one status or with several of 5xx.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Refusals {
    /// Whether these are watches. A watch that begins with all objects is a list.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub are_watches: bool,
    /// The HTTP status of the last one.
    pub status: u16,
    /// Their number.
    pub times: u64,
    /// When the first one ended.
    pub since: Timestamp,
    /// When the last one ended.
    pub last: Timestamp,
}

/// The present series of lists and of watches, and the last series of each that was reported.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Refused {
    lists: Option<Refusals>,
    watches: Option<Refusals>,
    /// Whether the last refusal was that of a streaming list. The client then tries a plain list at once.
    after_streaming_list: bool,
    reported_lists: Option<Refusals>,
    reported_watches: Option<Refusals>,
}

impl Refusals {
    /// Whether a refusal with `status` at `at` continues the series.
    fn is_continued_by(self, status: u16, at: Timestamp) -> bool {
        (self.status == status || (self.status >= 500 && status >= 500)) && at.since(self.last) <= REFUSED_WITHIN
    }

    fn is_trouble(self) -> bool {
        self.times >= REFUSALS && self.last.since(self.since) >= REFUSED_FOR
    }
}

impl Refused {
    fn series(&mut self, of_watches: bool) -> &mut Option<Refusals> {
        if of_watches { &mut self.watches } else { &mut self.lists }
    }

    /// The last series that was reported. A client without a list has the worse trouble.
    pub(super) fn reported(&self) -> Option<Refusals> {
        self.reported_lists.or(self.reported_watches)
    }

    fn is_trouble(&self) -> bool {
        [self.lists, self.watches].into_iter().flatten().any(Refusals::is_trouble)
    }
}

impl Reflector {
    /// Notes the end of a list or watch. A refusal continues a series, or begins one; another answer ends it.
    pub(super) fn note_refusal(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(status) = exchange.status_code().filter(|status| !is_explained(exchange, *status)) else { return };
        if status < 400 || FailureKind::of(status, exchange.status.as_ref()) != FailureKind::Refused {
            return self.end_refusals(exchange, at, emit);
        }
        let are_watches = is_plain_watch(exchange);
        if self.refused.series(are_watches).is_some_and(|refusals| !refusals.is_continued_by(status, at)) {
            self.end_refusals(exchange, at, emit);
        }
        let is_streaming_list = exchange.request.options.begins_with_state();
        let was_streaming_list = std::mem::replace(&mut self.refused.after_streaming_list, is_streaming_list);
        let first = Refusals { are_watches, status, times: 0, since: at, last: at };
        let refusals = self.refused.series(are_watches).get_or_insert(first);
        let is_next_try = was_streaming_list && !is_streaming_list && at.since(refusals.last) < VERY_SHORT_WATCH;
        let times = refusals.times.saturating_add(u64::from(!is_next_try));
        (refusals.status, refusals.last, refusals.times) = (status, at, times);
        let refusals = *refusals;
        if refusals.is_trouble() {
            let reported = if are_watches { &mut self.refused.reported_watches } else { &mut self.refused.reported_lists };
            *reported = Some(refusals);
            self.begin_trouble(Trouble::Refused, refusals.since, at, emit);
        }
    }

    /// Ends the series of refused lists, or of refused watches, because the server answers such a request.
    pub(super) fn end_refusals(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(ended) = self.refused.series(is_plain_watch(exchange)).take() else { return };
        if ended.is_trouble() && !self.refused.is_trouble() {
            // A client that tries again much later had given up.
            let end = if at.since(ended.last) > REFUSED_WITHIN { ended.last } else { at };
            self.end_trouble(Trouble::Refused, end, emit);
        }
    }
}

fn is_plain_watch(exchange: &Exchange) -> bool {
    let options = &exchange.request.options;
    options.watch && !options.begins_with_state()
}

/// Whether a refusal is not the client's trouble, or has another name.
fn is_explained(exchange: &Exchange, status: u16) -> bool {
    let options = &exchange.request.options;
    // The server does not support streaming lists. The client then sends a plain list.
    let is_streaming_list = options.begins_with_state() && matches!(status, 400 | 422);
    let is_of_unready_cache = exchange.verdict.as_ref().is_some_and(Verdict::is_refused_by_unready_cache);
    // Without its message, the refusal of a revision that the server has not reached cannot be distinguished.
    let names_revision = matches!(options.resource_version, ResourceVersion::At(_));
    let without_message = exchange.status.as_ref().is_none_or(|status| status.message.is_empty());
    let may_be_too_large = status == 504 && names_revision && !options.watch && without_message;
    is_streaming_list || is_of_unready_cache || may_be_too_large || is_of_one_command(&exchange.request)
}
