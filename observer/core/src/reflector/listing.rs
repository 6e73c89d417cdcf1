//! A list until it is whole: its attempts, its pages, or the initial events of a watch.

use super::cause::RelistCause;
use super::moment::Moment;
use super::versions::{RepeatCounter, Versions};
use super::watching::PastWatch;
use crate::exchange::Exchange;
use crate::http::Direction;
use crate::k8s::{Continue, ContinueToken, ListOptions, Status};
use crate::observation::{ExchangeEnd, ExchangeId};
use crate::routing::{Certainty, ServedFrom};
use crate::time::Timestamp;
use crate::wire::ObjectRef;

/// Why a reflector lists.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// It had nothing before.
    Initial,
    /// It lists without having watched since, as a poller does.
    Plain,
    /// It had, and lists again.
    Again { cause: RelistCause, evidence: Vec<Moment> },
}

/// A list, from its first request to the last item or to the next list.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub origin: Origin,
    pub began: Timestamp,
    /// The options of the latest attempt's first page.
    pub options: ListOptions,
    /// Items and repeats before the latest request: what it brought does not count if it fails.
    before: (u64, RepeatCounter),
    /// The request that is under way.
    pub exchange: Option<ExchangeId>,
    /// Requests for it.
    pub requests: u64,
    /// How the latest attempt failed.
    pub failure: Option<Failure>,
    /// A whole page came that is not the last.
    pub awaits_page: bool,
    /// The token of the next page, if it can be read.
    token: Option<ContinueToken>,
    pub items: u64,
    /// Bytes of the answers, content coding included; of a streaming list those of its events, without.
    pub bytes: u64,
    /// Whether some of the answer was not seen, or not understood.
    pub is_partial: bool,
    pub repeats: RepeatCounter,
    /// What the reflector has once this is whole.
    pub objects: Versions,
    pub revision: Option<u64>,
    /// When the request was made whose answer first showed the revision: the server chose it then, or later.
    pub chosen: Timestamp,
    pub served_from: Option<(ServedFrom, &'static str, Certainty)>,
    /// With which status a streaming list was refused before this.
    pub fallback: Option<u16>,
}

/// How an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub at: Timestamp,
    /// The HTTP status or the code of the `ERROR` event; `None` when the connection broke.
    pub code: Option<u16>,
    pub kind: FailureKind,
    /// Whether it was a page behind the first.
    pub is_page: bool,
}

/// What a failure means for the next list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// The server has not reached the revision.
    TooLarge,
    /// The server has no longer the revision.
    Expired,
    /// The connection broke, or the client gave up.
    Broken,
    /// Anything else.
    Refused,
}

impl Listing {
    pub(super) fn begin(origin: Origin, exchange: &Exchange) -> Self {
        Self {
            origin,
            began: exchange.started,
            options: exchange.request.options.clone(),
            before: (0, RepeatCounter::default()),
            exchange: Some(exchange.id),
            requests: 1,
            failure: None,
            awaits_page: false,
            token: None,
            items: 0,
            bytes: 0,
            is_partial: false,
            repeats: RepeatCounter::default(),
            objects: Versions::default(),
            revision: None,
            chosen: exchange.started,
            served_from: None,
            fallback: None,
        }
    }

    /// Whether a list with `options` is one more attempt at this one. A client whose list was refused, or broke, asks for the same again, in
    /// whatever form; one whose revision was too new, or gone, asks for something else.
    pub(super) fn is_tried_again_by(&self, options: &ListOptions) -> bool {
        self.failure.as_ref().is_some_and(|failure| match failure.kind {
            FailureKind::TooLarge => self.options.resource_version == options.resource_version,
            FailureKind::Expired => false,
            FailureKind::Broken | FailureKind::Refused => true,
        })
    }

    /// Whether a list in the old form takes the place of this streaming one, which was refused or broke.
    pub(super) fn is_replaced_by(&self, is_watch: bool) -> bool {
        self.options.ends_state_with_bookmark() && !is_watch
    }

    /// Whether it is the state with which a watch without a revision begins: no bookmark ends it, and the list has no revision of its own.
    pub(super) fn is_without_end(&self) -> bool {
        self.options.watch && !self.options.ends_state_with_bookmark()
    }

    /// Whether `token` is that of the page that is to be asked for, as far as both can be read.
    pub(super) fn announces(&self, token: &Continue) -> bool {
        self.token.as_ref().is_none_or(|announced| match token {
            Continue::Token(token) => token == announced,
            Continue::Unset | Continue::Invalid => true,
        })
    }

    /// Whether a further page is to be asked for, or asked for again.
    pub(super) fn expects_page(&self) -> bool {
        self.awaits_page || self.failure.as_ref().is_some_and(|failure| failure.is_page)
    }

    /// Another request for the same list: nothing of the attempt before counts.
    pub(super) fn attempt(&mut self, exchange: &Exchange) {
        self.options.clone_from(&exchange.request.options);
        self.items = 0;
        self.is_partial = false;
        self.repeats = RepeatCounter::default();
        self.objects = Versions::default();
        self.revision = None;
        self.chosen = exchange.started;
        self.served_from = None;
        self.failure = None;
        self.awaits_page = false;
        self.next(exchange);
    }

    /// The next page, or the one that failed once more: those before it stand.
    pub(super) fn next_page(&mut self, exchange: &Exchange) {
        if self.failure.is_some() {
            (self.items, self.repeats) = self.before;
        }
        self.awaits_page = false;
        self.failure = None;
        self.next(exchange);
    }

    fn next(&mut self, exchange: &Exchange) {
        self.exchange = Some(exchange.id);
        self.before = (self.items, self.repeats);
        self.requests = self.requests.saturating_add(1);
    }

    /// Takes an object of the list. `had` is what the reflector was sent before, `until` the revision up to which that had reached it.
    pub(super) fn take(&mut self, object: &ObjectRef, had: &Versions, until: Option<u64>) {
        self.items = self.items.saturating_add(1);
        self.repeats.note(had.before(object, until), had.weight());
        self.objects.take(object);
    }

    /// The request under way is over; whether the list is whole now.
    pub(super) fn end(&mut self, exchange: &Exchange, ended: Timestamp) -> bool {
        self.exchange = None;
        self.bytes = self.bytes.saturating_add(exchange.response_bytes);
        self.note_answer(exchange);
        self.failure = failure(exchange, ended);
        if self.failure.is_some() {
            return false;
        }
        let revision = exchange.list.as_ref().and_then(|list| list.resource_version.parse().ok());
        if revision.is_some() && revision != self.revision {
            // Further pages are of the revision that the first one chose.
            (self.revision, self.chosen) = (revision, exchange.started);
        }
        let token = exchange.list.as_ref().map(|list| list.continue_token.as_str()).unwrap_or_default();
        self.awaits_page = !token.is_empty();
        self.token = ContinueToken::decode(token).ok();
        !self.awaits_page
    }

    /// Takes who answered, and whether all of it was understood.
    pub(super) fn note_answer(&mut self, exchange: &Exchange) {
        self.is_partial |= exchange.missed_bytes > 0 || exchange.not_read.is_some();
        if let Some(verdict) = &exchange.verdict {
            self.served_from.get_or_insert_with(|| (verdict.served_from.clone(), verdict.rule.as_str(), verdict.certainty));
        }
    }
}

impl Failure {
    /// How a streaming list failed whose watch ended before it was whole.
    pub(super) fn of_streaming(watch: &PastWatch) -> Self {
        Self { at: watch.ended, code: watch.end.code(), kind: watch.failure.unwrap_or(FailureKind::Broken), is_page: false }
    }
}

/// How the list of `exchange` failed; nothing if it is whole.
fn failure(exchange: &Exchange, at: Timestamp) -> Option<Failure> {
    let is_page = exchange.request.options.continue_token != Continue::Unset;
    if let Some(code) = exchange.status_code().filter(|status| *status >= 300) {
        let kind = kind(code, exchange.status.as_ref());
        return Some(Failure { at, code: Some(code), kind, is_page });
    }
    let broke = match exchange.ended?.1 {
        ExchangeEnd::Complete => exchange.response.is_none(),
        ExchangeEnd::Reset { by: Direction::Request | Direction::Response, .. } | ExchangeEnd::Cut(_) | ExchangeEnd::OutOfSight => {
            true
        }
    };
    broke.then_some(Failure { at, code: None, kind: FailureKind::Broken, is_page })
}

/// What a refusal means (kubernetes/apimachinery pkg/api/errors/errors.go, `IsTooLargeResourceVersion`, `IsResourceExpired`, `IsGone`).
/// Servers before 1.18.6 name no cause; their message is the only sign.
pub(super) fn kind(code: u16, status: Option<&Status>) -> FailureKind {
    let names_it = |status: &Status| {
        status.causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
            || status.message.contains("Too large resource version")
    };
    match code {
        410 => FailureKind::Expired,
        504 if status.is_some_and(names_it) => FailureKind::TooLarge,
        _other => FailureKind::Refused,
    }
}
