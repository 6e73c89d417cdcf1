//! An exchange from its request to its end.

use std::time::Duration;

use super::watch::WatchStream;
use crate::http::Direction;
use crate::k8s::{Status, Verb};
use crate::observation::{Body, BodyNotRead, ExchangeEnd, ExchangeId, RequestLine, ResponseLine, UpstreamName, What};
use crate::routing::{Certainty, Purpose, ServedFrom, Verdict, rules};
use crate::time::Timestamp;
use crate::wire::{ListMeta, ObjectRef};

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
    /// Whether the objects have a namespace, once one was seen.
    pub namespaced: Option<bool>,
    /// A single object.
    pub object: Option<ObjectRef>,
    /// A `Status` answer.
    pub status: Option<Status>,
    /// What a watch delivered; `None` unless the verb is watch.
    pub watch: Option<WatchStream>,
    /// Bytes of the request body.
    pub request_bytes: u64,
    /// Bytes of the response body, content coding included.
    pub response_bytes: u64,
    /// Bytes among them that were not shown to the decoder, so that the counts of items and events are lower bounds.
    pub missed_bytes: u64,
    /// Why the body is not understood.
    pub not_read: Option<BodyNotRead>,
    /// The protocol it was upgraded to.
    pub upgraded: Option<String>,
    /// When and how it ended.
    pub ended: Option<(Timestamp, ExchangeEnd)>,
}

impl Exchange {
    /// An exchange that begins with `request`.
    pub fn begin(id: ExchangeId, at: Timestamp, upstream: UpstreamName, request: RequestLine, verdict: Option<Verdict>) -> Self {
        let is_watch = request.info.as_ref().is_some_and(|info| info.verb == Verb::Watch);
        Self {
            id,
            upstream,
            request,
            verdict,
            started: at,
            response: None,
            kind: String::new(),
            list: None,
            items: 0,
            namespaced: None,
            object: None,
            status: None,
            watch: is_watch.then(WatchStream::default),
            request_bytes: 0,
            response_bytes: 0,
            missed_bytes: 0,
            not_read: None,
            upgraded: None,
            ended: None,
        }
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

    /// Takes an observation of this exchange; others change nothing.
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
            What::Ended { end, .. } => self.ended = Some((at, *end)),
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
            | What::Unrecorded { .. }
            | What::CaptureEnded { .. }
            | What::Unknown
            | What::Tick => {}
        }
    }

    fn respond(&mut self, at: Timestamp, response: &ResponseLine) {
        if let Some(status) = response.status
            && let Some(verdict) = &mut self.verdict
        {
            amend(verdict, status);
        }
        self.response = Some((at, response.clone()));
    }

    fn read(&mut self, at: Timestamp, body: &Body) {
        match body {
            Body::Kind(kind) => self.kind.clone_from(kind),
            Body::List(meta) => self.list = Some(meta.clone()),
            Body::Items(items) => {
                self.items = self.items.saturating_add(items.len() as u64);
                self.note_scope(items.first());
            }
            Body::Object(object) => self.object = Some(object.clone()),
            Body::Status(status) => self.status = Some(Status::clone(status)),
            Body::Events(events) => {
                self.note_scope(events.iter().map(|event| &event.object).find(|object| !object.name.is_empty()));
                if let Some(watch) = &mut self.watch {
                    for event in events {
                        watch.take(at, event);
                    }
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

/// What a refusal says about who answered: these statuses are given before any object is read
/// (kubernetes/apiserver pkg/server/config.go, the handler chain: authentication, authorisation, priority and fairness, then validation). A 504
/// is the second outcome of a read that waited for a revision. Where the request is passed on to somebody else (a pod, an extension server),
/// the status is theirs and says nothing.
fn amend(verdict: &mut Verdict, status: u16) {
    match verdict.served_from {
        ServedFrom::Rejected { status: predicted, .. } if predicted == status => verdict.certainty = Certainty::Confirmed,
        ServedFrom::Proxied => {}
        _ if verdict.rule == rules::GET_CONNECT_ETCD => {}
        ServedFrom::Cache
        | ServedFrom::CacheConsistent
        | ServedFrom::Snapshot
        | ServedFrom::Etcd
        | ServedFrom::Rejected { .. }
        | ServedFrom::Unknown { .. } => refuse(verdict, status),
    }
}

fn refuse(verdict: &mut Verdict, status: u16) {
    let waited = verdict.otherwise.as_ref().is_some_and(|otherwise| otherwise.is_refusal(status));
    if waited || matches!(status, 400 | 401 | 403 | 405 | 406 | 413 | 415 | 422 | 429 | 503) {
        // A read that waits for the current revision has asked etcd for it before it gives up or is told to come back.
        let asks_first = verdict.reads.iter().any(|read| read.purpose == Purpose::CurrentRevision);
        let etcd_touched = asks_first && matches!(status, 429 | 504);
        verdict.served_from = ServedFrom::Rejected { status, etcd_touched };
        verdict.rule = rules::REFUSED_BY_STATUS;
        verdict.certainty = Certainty::Confirmed;
        verdict.otherwise = None;
        verdict.reads.clear();
    }
}
