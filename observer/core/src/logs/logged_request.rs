//! The request that a line is about, in the form in which rules and proofs take it.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::audit::{AuditEvent, AuditStage};
use super::client_requests::ClientRequest;
use super::request_log::{RequestLog, RequestOutcome};
use super::watch_started::WatchStarted;
use crate::k8s::Status;
use crate::redacted::Redacted;
use crate::routing::{RecordedRead, ServerVersion};

/// A request, and what its line has of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The HTTP method.
    pub method: &'static str,
    /// Path and query, which may hold a secret.
    pub uri: Redacted<String>,
    /// The HTTP status. `None` before the answer, if there was none, or if the line does not have it.
    pub status: Option<u16>,
    /// The `Status` of a refusal, if the line has it.
    pub refusal: Option<Box<Status>>,
    /// How the request was answered, if the line shows it.
    pub recorded: Option<RecordedRead>,
}

impl LoggedRequest {
    /// The request of an audit event. `version` is that of the API server: it decides whether a missing time in etcd proves anything.
    pub fn of_event(event: &AuditEvent, version: Option<&ServerVersion>) -> Self {
        let shows_absent = version.is_some_and(AuditEvent::times_every_read);
        Self {
            method: event.method(),
            uri: event.uri.clone(),
            status: Some(event.status).filter(|status| *status != 0 && event.stage != AuditStage::RequestReceived),
            refusal: event.refusal.clone(),
            recorded: event.recorded_read().filter(|read| *read != RecordedRead::NoEtcdTime || shows_absent),
        }
    }

    /// The request of a line of the request log.
    pub fn of_request_log(request: &RequestLog) -> Self {
        let status = match request.outcome {
            RequestOutcome::Answered(status) => Some(status),
            RequestOutcome::Hijacked => Some(101),
            // The line is written as the watch opens.
            RequestOutcome::UnknownLife => Some(200),
            RequestOutcome::NotWritten => None,
        };
        Self { status, ..Self::of(AuditEvent::method_of(&request.verb.to_ascii_lowercase()), request.uri.0.clone()) }
    }

    /// The request in a client's own log. `None` for a line about a response alone.
    pub fn of_client(request: &ClientRequest) -> Option<Self> {
        let is_request = !request.method.is_empty();
        let method = AuditEvent::method_of(&request.method.to_ascii_lowercase());
        is_request.then(|| Self { status: request.status, ..Self::of(method, request.uri.0.clone()) })
    }

    /// The watch of a `Starting watch` line. The line has its options, and not its URI.
    pub fn of_watch(watch: &WatchStarted) -> Self {
        let mut uri = format!("{}?watch=true", watch.path);
        let seconds = watch.timeout.map(|timeout| timeout.as_secs().to_string()).unwrap_or_default();
        let initial = watch.send_initial_events.map(|initial| initial.to_string()).unwrap_or_default();
        // The line lacks it, and the server has accepted the options by then.
        let revision_match = if watch.send_initial_events.is_some() { "NotOlderThan" } else { "" }.to_owned();
        for (name, value) in [
            ("resourceVersion", &watch.resource_version),
            ("labelSelector", &watch.labels),
            ("fieldSelector", &watch.fields),
            ("timeoutSeconds", &seconds),
            ("sendInitialEvents", &initial),
            ("resourceVersionMatch", &revision_match),
        ] {
            if !value.is_empty() {
                uri.extend(["&", name, "="]);
                uri.extend(utf8_percent_encode(value, NON_ALPHANUMERIC));
            }
        }
        // The line is written before storage is asked, which may refuse the watch.
        Self::of("GET", uri)
    }

    const fn of(method: &'static str, uri: String) -> Self {
        Self { method, uri: Redacted(uri), status: None, refusal: None, recorded: None }
    }
}
