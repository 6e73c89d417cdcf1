//! The state of a list until it is complete: its attempts, its pages, or the initial events of a watch.

use super::cause::RelistCause;
use super::failure::{Failure, FailureKind};
use super::moment::Moment;
use super::versions::{RepeatCounter, Versions};
use crate::exchange::{Exchange, of_options, of_structure, of_texts};
use crate::k8s::{Continue, ContinueToken, ListOptions};
use crate::observation::ExchangeId;
use crate::routing::{Certainty, ServedFrom};
use crate::time::Timestamp;
use crate::wire::ObjectRef;

/// Why a reflector lists.
#[derive(Clone, Debug)]
pub(super) enum Origin {
    /// It had no list before.
    Initial,
    /// It has not watched since its last list, like a poller.
    Plain,
    /// It relists.
    Again { cause: RelistCause, evidence: Vec<Moment> },
}

impl Origin {
    /// The cause of a relist; `None` for any other list.
    pub(super) const fn cause(&self) -> Option<RelistCause> {
        match self {
            Self::Again { cause, .. } => Some(*cause),
            Self::Initial | Self::Plain => None,
        }
    }
}

/// A list, from its first request to the last item or to the next list.
#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub origin: Origin,
    pub began: Timestamp,
    /// The first request of the latest attempt.
    pub first: ExchangeId,
    /// The watch before it, if one is known.
    pub watch_before: Option<ExchangeId>,
    /// The options of the latest attempt's first page.
    pub options: ListOptions,
    /// Items and repeats before the latest request. They are restored if it fails.
    before: (u64, RepeatCounter),
    /// The request under way.
    pub exchange: Option<ExchangeId>,
    /// Number of requests, pages and retries included.
    pub requests: u64,
    /// How the latest attempt failed.
    pub failure: Option<Failure>,
    /// Whether the last request returned a complete page that is not the last page of the list.
    pub awaits_page: bool,
    /// Token of the next page; `None` if it cannot be decoded.
    token: Option<ContinueToken>,
    pub items: u64,
    /// Response bytes with content coding. For a streaming list, bytes of its events without content coding.
    pub bytes: u64,
    /// Whether it comes from a log.
    pub is_logged: bool,
    /// Whether part of a response was not observed or not decoded.
    pub is_partial: bool,
    pub repeats: RepeatCounter,
    /// Object versions that the reflector has once the list is complete.
    pub objects: Versions,
    pub revision: Option<u64>,
    /// Time of the request whose response first showed the revision. The server chose the revision then or later.
    pub chosen: Timestamp,
    pub served_from: Option<(ServedFrom, &'static str, Certainty)>,
    /// Status or `ERROR` code with which a streaming list failed before this list.
    pub fallback: Option<u16>,
}

impl Listing {
    pub(super) fn begin(origin: Origin, exchange: &Exchange) -> Self {
        Self {
            origin,
            began: exchange.started,
            first: exchange.id,
            watch_before: None,
            options: exchange.request.options.clone(),
            before: (0, RepeatCounter::default()),
            exchange: Some(exchange.id),
            requests: 1,
            failure: None,
            awaits_page: false,
            token: None,
            items: 0,
            bytes: 0,
            is_logged: exchange.is_logged,
            is_partial: false,
            repeats: RepeatCounter::default(),
            objects: Versions::default(),
            revision: None,
            chosen: exchange.started,
            served_from: None,
            fallback: None,
        }
    }

    /// Estimated memory in bytes, without the versions of objects.
    pub(super) fn memory(&self) -> usize {
        let evidence: usize = match &self.origin {
            Origin::Again { evidence, .. } => evidence.iter().map(Moment::memory).sum(),
            Origin::Initial | Origin::Plain => 0,
        };
        let token = self.token.as_ref().map_or("", |token| token.start_key.as_str());
        of_structure::<Self>() + evidence + of_options(&self.options) + of_texts([token])
    }

    /// Whether a list with `options` retries this one. After a refusal or a broken connection any list does. If the revision was
    /// too new, only a list at the same revision does; if it had expired, none does.
    pub(super) fn is_tried_again_by(&self, options: &ListOptions) -> bool {
        self.failure.as_ref().is_some_and(|failure| match failure.kind {
            FailureKind::TooLarge => self.options.resource_version == options.resource_version,
            FailureKind::Expired => false,
            FailureKind::Broken | FailureKind::Refused => true,
        })
    }

    /// Whether the next request replaces this streaming list with a plain list. `is_watch` is whether that request is a watch.
    pub(super) fn is_replaced_by(&self, is_watch: bool) -> bool {
        self.options.ends_state_with_bookmark() && !is_watch
    }

    /// Whether it is the initial state of a watch without a revision: no bookmark ends it, and the list has no revision of its own.
    pub(super) fn is_without_end(&self) -> bool {
        self.options.watch && !self.options.ends_state_with_bookmark()
    }

    /// Whether `token` is that of the next page. True if either token cannot be decoded.
    pub(super) fn announces(&self, token: &Continue) -> bool {
        self.token.as_ref().is_none_or(|announced| match token {
            Continue::Token(token) => token == announced,
            Continue::Unset | Continue::Invalid => true,
        })
    }

    /// Whether another page, or a retry of a failed one, is expected.
    pub(super) fn expects_page(&self) -> bool {
        self.awaits_page || self.failure.as_ref().is_some_and(|failure| failure.is_page)
    }

    /// Starts another attempt: discards the previous one.
    pub(super) fn attempt(&mut self, exchange: &Exchange) {
        self.first = exchange.id;
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

    /// Notes that the client requests the next page, or retries the failed one. Earlier pages remain valid.
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

    /// Adds an object of the list. `had` holds the versions sent to the reflector before; those up to revision `until` have
    /// arrived.
    pub(super) fn take(&mut self, object: &ObjectRef, had: &Versions, until: Option<u64>) {
        self.items = self.items.saturating_add(1);
        self.repeats.note(had.before(object, until), had.weight());
        self.objects.take(object);
    }

    /// Ends the request under way. Returns whether the list is complete now.
    pub(super) fn end(&mut self, exchange: &Exchange, ended: Timestamp) -> bool {
        self.exchange = None;
        self.bytes = self.bytes.saturating_add(exchange.response_bytes);
        self.note_answer(exchange);
        self.failure = Failure::of(exchange, ended);
        if self.failure.is_some() {
            return false;
        }
        let revision = exchange.list.as_ref().and_then(|list| list.resource_version.parse().ok());
        if revision.is_some() && revision != self.revision {
            // All pages have the revision of the first page.
            (self.revision, self.chosen) = (revision, exchange.started);
        }
        let token = exchange.list.as_ref().map(|list| list.continue_token.as_str()).unwrap_or_default();
        self.awaits_page = !token.is_empty();
        self.token = ContinueToken::decode(token).ok();
        !self.awaits_page
    }

    /// Notes the verdict, and whether the response was decoded completely. A log has none of it.
    pub(super) fn note_answer(&mut self, exchange: &Exchange) {
        self.is_partial |= exchange.is_logged || exchange.missed_bytes > 0 || exchange.not_read.is_some();
        if let Some(verdict) = &exchange.verdict {
            self.served_from.get_or_insert_with(|| (verdict.served_from.clone(), verdict.rule.as_str(), verdict.certainty));
        }
    }
}
