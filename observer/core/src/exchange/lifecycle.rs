//! An exchange from its request to its end.

use std::time::Duration;

use super::stall::Stall;
use super::watch::WatchStream;
use crate::http::Direction;
use crate::k8s::{Status, Verb, is_namespaced};
use crate::observation::{Body, BodyNotRead, ExchangeEnd, ExchangeId, RequestLine, ResponseLine, UpstreamName, What};
use crate::routing::{Certainty, EventWindow, Evidence, ListSeen, Proof, Verdict, proof, weigh};
use crate::time::Timestamp;
use crate::wire::{EventType, ListMeta, ObjectRef};

/// Everything that is known of one request and its response.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Which one.
    pub id: ExchangeId,
    /// Of which API server.
    pub upstream: UpstreamName,
    /// What was asked, and by whom.
    pub request: RequestLine,
    /// Which layer answers; `None` for requests that read no objects, and for those whose path is not known.
    pub verdict: Option<Verdict>,
    /// The highest revision that the API server had shown before; what answers with less is behind.
    pub shown_before: Option<u64>,
    /// How far back the API server can begin a watch of what is asked for.
    pub event_window: EventWindow,
    contradiction_told: bool,
    /// The memory that it was last counted with, in bytes.
    pub(crate) counted_memory: usize,
    /// When the request's head was complete.
    pub started: Timestamp,
    /// The final response's head, and when it was complete.
    pub response: Option<(Timestamp, ResponseLine)>,
    /// `kind` of the answer.
    pub kind: String,
    /// Metadata of a list.
    pub list: Option<ListMeta>,
    /// Items of a list.
    pub items: u64,
    /// Whether the resource has namespaces: known of built-in ones, of others once an object was seen.
    pub namespaced: Option<bool>,
    /// A single object.
    pub object: Option<ObjectRef>,
    /// A `Status` answer.
    pub status: Option<Status>,
    /// What a watch delivered; `None` unless the verb is watch, or is not known and events came.
    pub watch: Option<WatchStream>,
    /// Bytes of the request body.
    pub request_bytes: u64,
    /// Bytes of the response body, content coding included.
    pub response_bytes: u64,
    /// Bytes among them that were not shown to the decoder, so that the counts of items and events are lower bounds.
    pub missed_bytes: u64,
    /// Why the body is not understood.
    pub not_read: Option<BodyNotRead>,
    /// How long it had to wait for its reader.
    pub stall: Stall,
    /// The protocol it was upgraded to.
    pub upgraded: Option<String>,
    /// When and how it ended.
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
            request,
            verdict,
            shown_before: None,
            event_window: EventWindow::default(),
            contradiction_told: false,
            counted_memory: 0,
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
            ended: None,
        }
    }

    /// The same, with the highest revision that the API server had shown before.
    #[must_use]
    pub fn after(self, shown_before: Option<u64>) -> Self {
        Self { shown_before, ..self }
    }

    /// The same, asked of an API server with this event window.
    #[must_use]
    pub fn within(self, event_window: EventWindow) -> Self {
        Self { event_window, ..self }
    }

    /// The verb; `None` when method or path are not known.
    pub fn verb(&self) -> Option<Verb> {
        self.request.info.as_ref().map(|info| info.verb)
    }

    /// The response's status code.
    pub fn status_code(&self) -> Option<u16> {
        self.response.as_ref().and_then(|(_, response)| response.status)
    }

    /// From the request's head to the response's head.
    pub fn first_byte(&self) -> Option<Duration> {
        self.response.as_ref().map(|(at, _)| at.since(self.started))
    }

    /// From the request's head to the end.
    pub fn total(&self) -> Option<Duration> {
        self.ended.map(|(at, _)| at.since(self.started))
    }

    /// Takes an observation of this exchange, or of what blocks its connection; others change nothing.
    pub fn apply(&mut self, at: Timestamp, what: &What) {
        match what {
            What::Responded { response, .. } => self.respond(at, response),
            What::Bytes { direction: Direction::Request, bytes, .. } => {
                self.request_bytes = self.request_bytes.saturating_add(*bytes);
            }
            What::Bytes { direction: Direction::Response, bytes, .. } => {
                self.response_bytes = self.response_bytes.saturating_add(*bytes);
            }
            What::Understood { body, .. } => self.read(at, body),
            What::NotRead { reason, .. } => self.not_read = Some(reason.clone()),
            What::BodyMissed { direction: Direction::Response, bytes, .. } => {
                self.missed_bytes = self.missed_bytes.saturating_add(*bytes);
            }
            What::Upgraded { protocol, .. } => self.upgraded = Some(protocol.clone()),
            What::Blocked { by, since, .. } => self.stall.block(*by, since.by_clock_of(at)),
            What::Unblocked { by, .. } => self.stall.unblock(*by, at),
            What::Ended { end, .. } => self.end(at, *end),
            What::Profile { .. }
            | What::ConnectionOpened { .. }
            | What::ConnectionEnded { .. }
            | What::ConnectionClosed { .. }
            | What::GoAway { .. }
            | What::Requested { .. }
            | What::Informed { .. }
            | What::BodyMissed { direction: Direction::Request, .. }
            | What::Missed { .. }
            | What::Malformed { .. }
            | What::Dark { .. }
            | What::DecoderFailed { .. }
            | What::Listener { .. }
            | What::ResetInsteadOfRefused { .. }
            | What::ConnectFailed { .. }
            | What::Unobserved { .. }
            | What::Untold { .. }
            | What::ProbeMissed { .. }
            | What::NotProbed { .. }
            | What::Unrecorded { .. }
            | What::CaptureEnded { .. }
            | What::Unknown
            | What::ShutdownRequested
            | What::Tick => {}
        }
    }

    fn respond(&mut self, at: Timestamp, response: &ResponseLine) {
        self.response = Some((at, response.clone()));
        if self.watch.is_some() && response.is_granted() {
            // That it was not refused is known now, and nothing else for minutes. Why one is refused, its body says.
            self.weigh();
        }
    }

    fn end(&mut self, at: Timestamp, end: ExchangeEnd) {
        self.ended = Some((at, end));
        self.stall.end(at);
        self.weigh();
    }

    /// The proof that contradicts the verdict, once.
    pub fn take_contradiction(&mut self) -> Option<&'static Proof> {
        let verdict = self.verdict.as_ref().filter(|verdict| verdict.certainty == Certainty::Contradicted)?;
        let id = verdict.proof.filter(|_| !std::mem::replace(&mut self.contradiction_told, true))?;
        proof(id.as_str())
    }

    /// Holds the verdict against what was seen so far.
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
