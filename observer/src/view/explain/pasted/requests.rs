//! Lines about one request.

use std::time::Duration;

use observer_core::logs::{
    AuditEvent, AuditStage, ClientRequest, GkeAuditEntry, LoggedRequest, RequestLog, RequestOutcome, WatchStarted,
};
use observer_core::routing::ServerVersion;

use super::content::Content;
use crate::view::quantity::{counted, microseconds};

const AUDIT: &[&str] = &[
    "objects, bytes and bookmarks of the answer",
    "the resource version of an answered list (the client's next watch begins from it)",
    "how a watch ended: by its timeout, by the client, by the server or by the network",
];
const REQUEST_LOG: &[&str] = &[
    "the user (the audit log has it, under the same audit ID from 1.22 on)",
    "objects, bytes and bookmarks of the answer",
    "the resource version of an answered list",
];
const WATCH_STARTED: &[&str] = &[
    "the client (from 1.36 on, the audit ID leads to it)",
    "the end of the watch, and its events",
    "whether bookmarks are allowed",
];
const CLIENT: &[&str] = &[
    "the program's name and user",
    "the end of a watch: the line has the time until the head of the response",
    "objects and bytes",
];
const GKE: &[&str] = &[
    "the query: resource version, limit and selectors, and with them the layer",
    "objects, bytes and bookmarks of the answer",
    "how a watch ended",
];
const NOT_WRITTEN: &str = "no status was written, as when the client leaves before the answer";
/// kubernetes/kubernetes issue 125614.
const WATCH_LOGGED_AS_IT_OPENS: &str = "kube-apiserver 1.30.0 to 1.30.3 log a watch as it opens (kubernetes/kubernetes issue 125614): the \
                                        latency is not the life of the watch, and resp=0 is no failure. Other versions log it after its end";

pub(super) fn of_event(event: &AuditEvent, version: Option<&ServerVersion>) -> Content {
    let took = event.received.zip(event.reached).map(|(received, reached)| reached.since(received));
    let is_watch = event.verb == "watch";
    let meaning = match event.stage {
        AuditStage::RequestReceived => "the API server received the request; a later event with this audit ID has the answer",
        AuditStage::ResponseStarted if is_watch => "the API server sent the head of the response; the watch is open from here on",
        AuditStage::ResponseStarted => "the API server sent the head of a long response",
        AuditStage::ResponseComplete if event.status == 0 => NOT_WRITTEN,
        AuditStage::ResponseComplete if is_watch && event.status >= 400 => "the watch was refused",
        AuditStage::ResponseComplete if is_watch => "the watch ended",
        AuditStage::ResponseComplete => "the request ended",
        AuditStage::Panic => "the API server panicked while it answered",
    };
    let stage = match event.stage {
        AuditStage::RequestReceived => "RequestReceived",
        AuditStage::ResponseStarted => "ResponseStarted",
        AuditStage::ResponseComplete => "ResponseComplete",
        AuditStage::Panic => "Panic",
    };
    let refusal = event.refusal.as_ref().map(|status| joined([&status.reason, &status.message], ": "));
    let length = if is_watch { "lasted" } else { "took" };
    Content {
        at: event.reached.or(event.received),
        meaning: meaning.to_owned(),
        request: Some(LoggedRequest::of_event(event, version)),
        not_shown: AUDIT,
        ..Content::default()
    }
    .with("stage", stage)
    .with("audit ID", &*event.audit_id)
    .with("user", &*event.user)
    .with("client", joined([&event.user_agent, &event.address], ", "))
    .with_some("status", status(event.status))
    .with_some("refusal", refusal)
    .with_some(length, took.filter(|_| event.stage != AuditStage::RequestReceived).map(duration))
    .with_some("in etcd", event.etcd_latency.map(duration))
}

pub(super) fn of_request_log(request: &RequestLog) -> Content {
    let is_watch = request.verb == "WATCH";
    let (meaning, status) = match request.outcome {
        RequestOutcome::Answered(status) if is_watch && status >= 400 => ("the watch was refused", Some(status.to_string())),
        RequestOutcome::Answered(status) if is_watch => ("the watch ended", Some(status.to_string())),
        RequestOutcome::Answered(status) => ("the request ended", Some(status.to_string())),
        RequestOutcome::Hijacked => ("the connection was taken over, as for exec or a watch over WebSocket, and has ended", None),
        RequestOutcome::UnknownLife => ("the watch is open, and its end is not logged", None),
        RequestOutcome::NotWritten => (NOT_WRITTEN, None),
    };
    let is_trap = request.outcome == RequestOutcome::UnknownLife;
    let fairness = joined([&request.priority_level, &request.flow_schema], ", flow schema ");
    let seats = request.seats.map(|seats| counted(seats, "seat"));
    Content {
        at: request.logged,
        meaning: meaning.to_owned(),
        trap: is_trap.then_some(WATCH_LOGGED_AS_IT_OPENS),
        request: Some(LoggedRequest::of_request_log(request)),
        not_shown: REQUEST_LOG,
        ..Content::default()
    }
    .with("audit ID", &*request.audit_id)
    .with("client", joined([&request.user_agent, &request.address], ", "))
    .with_some("status", status)
    .with_some(if is_watch { "lasted" } else { "took" }, request.latency.filter(|_| !is_trap).map(duration))
    .with("APF level", joined([&fairness, &seats.unwrap_or_default()], ", "))
    .with_some("initial list", request.watch_list_init.map(duration))
}

pub(super) fn of_watch(watch: &WatchStarted) -> Content {
    let from = match watch.resource_version.as_str() {
        "" => "the present state".to_owned(),
        "0" => "any state of the watch cache".to_owned(),
        revision => format!("resource version {revision}"),
    };
    Content {
        at: watch.at,
        meaning: format!("a watch begins from {from}"),
        request: Some(LoggedRequest::of_watch(watch)),
        not_shown: WATCH_STARTED,
        ..Content::default()
    }
    .with("audit ID", &*watch.audit_id)
    .with_some("timeout", watch.timeout.map(duration))
}

pub(super) fn of_client(request: &ClientRequest) -> Content {
    let meaning = match (request.method.is_empty(), request.latency) {
        (true, _) => "the program received the head of a response; the line before it has the request",
        (false, None) => "the program sends a request; a later line has the response",
        (false, Some(_)) if request.status.is_none() => "the program sent a request, and got no response",
        (false, Some(_)) => "the program sent a request, and received the head of the response",
    };
    Content {
        at: request.at,
        meaning: meaning.to_owned(),
        request: LoggedRequest::of_client(request),
        not_shown: CLIENT,
        ..Content::default()
    }
    .with_some("status", request.status.and_then(status))
    .with_some("took", request.latency.map(duration))
}

pub(super) fn of_gke(entry: &GkeAuditEntry) -> Content {
    let stage = match (entry.is_first, entry.is_last) {
        (true, false) => "a request began, with further entries of its operation",
        (false, true) => "a request ended, with earlier entries of its operation",
        (true, true) | (false, false) => "a request, without its query",
    };
    Content { at: entry.at, meaning: stage.to_owned(), not_shown: GKE, ..Content::default() }
        .with("verb", &*entry.verb)
        .with("path", &*entry.path)
        .with("user", &*entry.user)
        .with("client", joined([&entry.user_agent, &entry.address], ", "))
        .with("gRPC status", entry.status.to_string())
        .with("operation", &*entry.operation)
}

fn status(status: u16) -> Option<String> {
    (status != 0).then(|| status.to_string())
}

pub(super) fn duration(duration: Duration) -> String {
    microseconds(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
}

/// The texts that are not empty.
fn joined(texts: [&str; 2], separator: &str) -> String {
    texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(separator)
}
