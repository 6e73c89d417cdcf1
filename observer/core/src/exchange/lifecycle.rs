//! An exchange from its request to its end.

use std::time::Duration;

use super::client::ClientId;
use super::counted::Counted;
use super::stall::Stall;
use super::watch::WatchStream;
use crate::http::{Direction, Identity};
use crate::k8s::{Status, Verb, is_namespaced};
use crate::observation::{
    Blockage, Body, BodyNotRead, ExchangeEnd, ExchangeId, ExchangeObservation, RequestLine, ResponseLine, UpstreamName,
};
use crate::quantity::Amount;
use crate::routing::{Certainty, EventWindow, Evidence, ListSeen, Proof, RecordedRead, ServedFrom, Verdict, proof, weigh};
use crate::time::Timestamp;
use crate::wire::{EventType, ListMeta, ObjectRef};

/// Everything that is known about one request and its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Connection and stream of the exchange.
    pub id: ExchangeId,
    /// API server that was asked.
    pub upstream: UpstreamName,
    /// In a pod, the name of the container that the request comes from.
    pub container_name: Option<String>,
    /// Whether it comes from a log, which has no bodies: that nothing was delivered is unknown then.
    pub is_logged: bool,
    /// Its client; `None` if too many clients are known.
    pub client: Option<ClientId>,
    /// The request's head, with the client's identity.
    pub request: RequestLine,
    /// Which layer answers; `None` for requests that read no objects, and for those with an unknown path.
    pub verdict: Option<Verdict>,
    /// The highest revision in earlier answers of the API server, for this resource or another one in the same etcd. An answer with
    /// a lower one is stale.
    pub shown_before: Option<u64>,
    /// How far back the API server can begin a watch of this resource.
    pub event_window: EventWindow,
    contradiction_reported: bool,
    /// Memory of the exchange when it was last counted, in bytes.
    pub(crate) counted_memory: usize,
    /// Marks of the series.
    pub(crate) counted: Counted,
    /// When the request's head was complete.
    pub started: Timestamp,
    /// The final response's head, and when it was complete.
    pub response: Option<(Timestamp, ResponseLine)>,
    /// `kind` of the answer; empty until it is read.
    pub kind: String,
    /// Metadata of a list.
    pub list: Option<ListMeta>,
    /// Number of list items so far.
    pub items: u64,
    /// Whether the resource has namespaces. Known for built-in resources; for others, once an object was seen.
    pub namespaced: Option<bool>,
    /// The object, if the answer is a single one.
    pub object: Option<ObjectRef>,
    /// The `Status`, if the answer is one.
    pub status: Option<Status>,
    /// Events of a watch; `None` unless the verb is watch, or is unknown and events came.
    pub watch: Option<WatchStream>,
    /// Bytes of the request body.
    pub request_bytes: u64,
    /// Bytes of the response body, content coding included.
    pub response_bytes: u64,
    /// Response bytes that the decoder was not given. If there are any, the counts of items and events are lower bounds.
    pub missed_bytes: u64,
    /// Why the body is not decoded; `None` if it is.
    pub not_read: Option<BodyNotRead>,
    /// How long the response waited because its client did not read.
    pub stall: Stall,
    /// Protocol after an upgrade, such as `websocket`.
    pub upgraded: Option<String>,
    /// How it was answered, as a log of the API server or of etcd shows.
    pub recorded: Option<RecordedRead>,
    /// The user, as a log of the API server has it; `None` if it is not joined with one.
    pub user: Option<Identity>,
    /// Time in the API server in microseconds, as its log has it.
    pub server_us: Option<u64>,
    /// When the API server closed the watch by force, and the number of events that waited for the client, as its log shows.
    pub closed_by_force: Option<(Timestamp, Option<u64>)>,
    /// When the API server reset the watch cache, which ended the watch, as its log shows.
    pub cache_reset: Option<Timestamp>,
    /// When and how it ended; `None` while it is open.
    pub ended: Option<(Timestamp, ExchangeEnd)>,
}

impl Exchange {
    /// An exchange that begins with `request`.
    pub fn begin(id: ExchangeId, at: Timestamp, upstream: UpstreamName, request: RequestLine, verdict: Option<Verdict>) -> Self {
        let namespaced = request.resource().and_then(is_namespaced);
        let is_watch = request.info.as_ref().is_some_and(|info| info.verb == Verb::Watch);
        Self {
            id,
            upstream,
            container_name: None,
            is_logged: false,
            client: None,
            request,
            verdict,
            shown_before: None,
            event_window: EventWindow::default(),
            contradiction_reported: false,
            counted_memory: 0,
            counted: Counted::default(),
            started: at,
            response: None,
            kind: String::new(),
            list: None,
            items: 0,
            namespaced,
            object: None,
            status: None,
            watch: is_watch.then(WatchStream::default),
            request_bytes: 0,
            response_bytes: 0,
            missed_bytes: 0,
            not_read: None,
            stall: Stall::default(),
            upgraded: None,
            recorded: None,
            user: None,
            server_us: None,
            closed_by_force: None,
            cache_reset: None,
            ended: None,
        }
    }

    /// Sets the highest revision in earlier answers of the API server.
    #[must_use]
    pub fn after(self, shown_before: Option<u64>) -> Self {
        Self { shown_before, ..self }
    }

    /// Sets the event window that the API server has for this resource.
    #[must_use]
    pub fn within(self, event_window: EventWindow) -> Self {
        Self { event_window, ..self }
    }

    /// The verb; `None` when method or path is unknown.
    pub fn verb(&self) -> Option<Verb> {
        self.request.info.as_ref().map(|info| info.verb)
    }

    /// The response's status code; `None` until it is known.
    pub fn status_code(&self) -> Option<u16> {
        self.response.as_ref().and_then(|(_, response)| response.status)
    }

    /// Whether it is a watch that was answered.
    pub(crate) const fn is_answered_watch(&self) -> bool {
        self.watch.is_some() && self.response.is_some()
    }

    /// Time from the request's head to the response's head; `None` before the response, and in a log, which has only the time of the end.
    pub fn first_byte(&self) -> Option<Duration> {
        self.response.as_ref().filter(|_| !self.is_logged).map(|(at, _)| at.since(self.started))
    }

    /// Time from the request's head to the end; `None` while it is open.
    pub fn total(&self) -> Option<Duration> {
        self.ended.map(|(at, _)| at.since(self.started))
    }

    /// Applies an observation of this exchange.
    pub fn apply(&mut self, at: Timestamp, observed: &ExchangeObservation) {
        match observed {
            ExchangeObservation::Responded { response } => self.respond(at, response),
            ExchangeObservation::BodyBytes { direction: Direction::Request, bytes } => {
                self.request_bytes = self.request_bytes.saturating_add(*bytes);
            }
            ExchangeObservation::BodyBytes { direction: Direction::Response, bytes } => {
                self.response_bytes = self.response_bytes.saturating_add(*bytes);
            }
            ExchangeObservation::BodyRead { body } => self.read(at, body),
            ExchangeObservation::BodyNotRead { reason } => self.not_read = Some(reason.clone()),
            ExchangeObservation::BodyGap { direction: Direction::Response, bytes } => {
                self.missed_bytes = self.missed_bytes.saturating_add(*bytes);
            }
            ExchangeObservation::Upgraded { protocol } => self.upgraded = Some(protocol.clone()),
            ExchangeObservation::Recorded { read } => {
                self.recorded = self.recorded.max(Some(*read));
                if self.is_logged {
                    // Of a tap, the answer is weighed when it is complete.
                    self.weigh();
                }
            }
            ExchangeObservation::Logged { user, took_us } => {
                self.user = self.user.take().or_else(|| user.clone());
                self.server_us = self.server_us.or(*took_us);
            }
            ExchangeObservation::ClosedByForce { waiting } => {
                self.closed_by_force.get_or_insert((at, *waiting));
            }
            ExchangeObservation::CacheReset => {
                self.cache_reset.get_or_insert(at);
            }
            ExchangeObservation::Ended { end } => self.end(at, *end),
            ExchangeObservation::Requested { .. }
            | ExchangeObservation::InterimResponse { .. }
            | ExchangeObservation::BodyGap { direction: Direction::Request, .. } => {}
        }
    }

    /// Notes that its response, or all of its connection, has waited for the client since `since`.
    pub fn block(&mut self, at: Timestamp, by: Blockage, since: Timestamp) {
        self.stall.block(by, since.by_clock_of(at));
    }

    /// Notes that this blockage is over.
    pub fn unblock(&mut self, at: Timestamp, by: Blockage) {
        self.stall.unblock(by, at);
    }

    /// A number that its bodies show; unknown if it comes from a log.
    pub const fn amount(&self, number: u64) -> Amount {
        if self.is_logged { Amount::UNKNOWN } else { Amount::of(number) }
    }

    /// Whether it was answered with 4xx or 5xx, or its watch ended with an `ERROR` event.
    pub fn has_failed(&self) -> bool {
        let is_refused = self.status_code().is_some_and(|status| status >= 400);
        is_refused || self.watch.as_ref().is_some_and(|watch| watch.error.is_some())
    }

    /// Whether it was answered with 2xx.
    pub fn has_succeeded(&self) -> bool {
        self.response.as_ref().is_some_and(|(_, response)| response.is_success())
    }

    /// For a list that succeeded: 1 list from etcd, and 1 whose layer is unknown, if it is one. Otherwise both are 0.
    pub(crate) fn lists_from_etcd_and_unknown(&self) -> (u64, u64) {
        if self.verb() != Some(Verb::List) || !self.has_succeeded() {
            return (0, 0);
        }
        match self.verdict.as_ref().map(|verdict| &verdict.served_from) {
            Some(ServedFrom::Etcd) => (1, 0),
            Some(ServedFrom::Unknown { .. }) | None => (0, 1),
            Some(
                ServedFrom::Cache
                | ServedFrom::CacheConsistent
                | ServedFrom::Snapshot
                | ServedFrom::Proxied
                | ServedFrom::Rejected { .. },
            ) => (0, 0),
        }
    }

    fn respond(&mut self, at: Timestamp, response: &ResponseLine) {
        self.response = Some((at, response.clone()));
        if self.watch.is_some() && response.is_granted() {
            // An accepted watch is weighed now: nothing more may come for minutes. A refusal is weighed at its end, with its body.
            self.weigh();
        }
    }

    fn end(&mut self, at: Timestamp, end: ExchangeEnd) {
        self.ended = Some((at, end));
        self.stall.end(at);
        self.weigh();
    }

    /// The proof that contradicts the verdict; returned only once.
    pub fn take_contradiction(&mut self) -> Option<&'static Proof> {
        let verdict = self.verdict.as_ref().filter(|verdict| verdict.certainty == Certainty::Contradicted)?;
        let id = verdict.proof.filter(|_| !std::mem::replace(&mut self.contradiction_reported, true))?;
        proof(id.as_str())
    }

    /// Checks the verdict against the answer so far.
    fn weigh(&mut self) {
        let Self { request, verdict: Some(verdict), response: Some((_, response)), .. } = self else { return };
        let (Some(info), Some(status)) = (&request.info, response.status) else { return };
        let plain_text = response.content_type.as_deref().is_some_and(|media_type| media_type.starts_with("text/plain"));
        let list = self
            .list
            .as_ref()
            .map(|list| ListSeen { revision: list.resource_version.parse().ok(), continues: !list.continue_token.is_empty() });
        let evidence = Evidence {
            info,
            options: &request.options,
            shown_before: self.shown_before,
            status,
            plain_text,
            refusal: self.status.as_ref(),
            list,
            items: self.items,
            error: self.watch.as_ref().and_then(|watch| watch.error.as_ref()),
            initial_events_ended: self.watch.as_ref().is_some_and(|watch| watch.initial_events_end.is_some()),
            recorded: self.recorded,
        };
        weigh(verdict, &evidence);
    }

    fn read(&mut self, at: Timestamp, body: &Body) {
        match body {
            Body::MediaType(media_type) => {
                if let Some((_, response)) = &mut self.response {
                    response.content_type.get_or_insert_with(|| media_type.clone());
                }
            }
            Body::Kind(kind) => self.kind.clone_from(kind),
            Body::List(meta) => self.list = Some(meta.clone()),
            Body::Items(items) => {
                self.items = self.items.saturating_add(items.len() as u64);
                self.note_scope(items.first());
            }
            Body::Object(object) => self.object = Some(object.clone()),
            Body::Status(status) => self.status = Some(Status::clone(status)),
            Body::Version(_) => {}
            Body::Events(events) => {
                self.note_scope(events.iter().map(|event| &event.object).find(|object| !object.name.is_empty()));
                if self.request.info.is_none() {
                    self.watch.get_or_insert_default();
                }
                if let Some(watch) = &mut self.watch {
                    for event in events {
                        watch.take(at, event);
                    }
                }
                if events.iter().any(|event| event.event_type == EventType::Error || event.initial_events_end) {
                    self.weigh();
                }
            }
        }
    }

    fn note_scope(&mut self, object: Option<&ObjectRef>) {
        if let Some(object) = object {
            self.namespaced.get_or_insert(!object.namespace.is_empty());
        }
    }
}
