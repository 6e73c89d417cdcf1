//! Requests of other logs, in the form of an audit event.

use crate::k8s::ListOptions;
use crate::logs::audit::{AuditEvent, AuditStage};
use crate::logs::client_requests::ClientRequest;
use crate::logs::request_log::{RequestLog, RequestOutcome};
use crate::time::Timestamp;

/// The first byte of an audit ID that watchtap made. A client may choose one, but no header has such a byte.
const OWN: char = '\u{1}';

/// Makes audit IDs for requests without one.
#[derive(Debug, Default)]
pub(super) struct OwnIds(u64);

impl OwnIds {
    /// The ID of a request whose audit ID another request had before it.
    pub(super) fn of_another(audit_id: &str, asked: u64) -> String {
        format!("{OWN}{asked:x} {audit_id}")
    }

    /// The audit ID as a record states it. `None` if no record does.
    pub(super) fn stated(audit_id: &str) -> Option<&str> {
        match audit_id.strip_prefix(OWN) {
            Some(own) => own.split_once(' ').map(|(_, stated)| stated),
            None => Some(audit_id),
        }
    }

    fn next(&mut self) -> String {
        self.0 = self.0.saturating_add(1);
        format!("{OWN}{}", self.0)
    }
}

/// The last stage of a request in kube-apiserver's log. For a watch whose end is unknown, the stage that opened it.
///
/// The log has no user. The audit log of the same server has it, and the same audit ID.
pub(super) fn of_request_log(request: &RequestLog, own: &mut OwnIds) -> AuditEvent {
    let (stage, status) = match request.outcome {
        RequestOutcome::Answered(status) => (AuditStage::ResponseComplete, status),
        RequestOutcome::Hijacked => (AuditStage::ResponseComplete, 101),
        RequestOutcome::NotWritten => (AuditStage::ResponseComplete, 0),
        RequestOutcome::UnknownLife => (AuditStage::ResponseStarted, 200),
    };
    AuditEvent {
        audit_id: if request.audit_id.is_empty() { own.next() } else { request.audit_id.clone() },
        uri: request.uri.clone(),
        verb: request.verb.to_ascii_lowercase(),
        address: request.address.clone(),
        user_agent: request.user_agent.clone(),
        status,
        received: request.received(),
        reached: request.logged,
        ..AuditEvent::of_stage(stage)
    }
}

/// A request in a client's own log. Such a log has the head of a response only, so the end of a watch is unknown. `None` for a line about a
/// request without its response.
pub(super) fn of_client_request(request: &ClientRequest, own: &mut OwnIds) -> Option<AuditEvent> {
    let latency = request.latency?;
    let (reached, status) = (request.at?, request.status.unwrap_or(0));
    if request.method.is_empty() {
        return None;
    }
    let is_watch = request.uri.0.split_once('?').is_some_and(|(_, query)| ListOptions::parse(query).watch);
    let stage = if is_watch && (200..300).contains(&status) { AuditStage::ResponseStarted } else { AuditStage::ResponseComplete };
    let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
    Some(AuditEvent {
        audit_id: own.next(),
        uri: request.uri.clone(),
        verb: request.method.to_ascii_lowercase(),
        status,
        received: Some(Timestamp::from_nanos(reached.as_nanos().saturating_sub(nanos))),
        reached: Some(reached),
        ..AuditEvent::of_stage(stage)
    })
}
