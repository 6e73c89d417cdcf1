//! The records that wait to be put in order.

use std::sync::Arc;

use super::etcd_range::EtcdRange;
use crate::http::{Field, Identity, RequestHead, Target};
use crate::logs::audit::{AuditEvent, AuditStage};
use crate::logs::trace::{EtcdListSpan, LayerSpans, RequestTrace, TraceStep};
use crate::observation::{ExchangeId, ExchangeObservation, Observation, RequestLine, Subject};
use crate::routing::RecordedRead;
use crate::time::Timestamp;

/// A record with a time.
#[derive(Debug)]
pub(super) enum Record {
    /// A stage of a request: that of the event, or the receipt of its request.
    Stage {
        stage: AuditStage,
        event: Arc<AuditEvent>,
        /// The number of the log.
        log: usize,
        /// Whether it is of an audit log, which has each stage once.
        is_audit: bool,
    },
    /// A trace that names the layer.
    Traced(TracedRead),
    /// A read of etcd.
    EtcdRead(EtcdRange),
}

/// The layer that a trace shows for a request.
#[derive(Debug)]
pub(super) struct TracedRead {
    pub audit_id: String,
    pub read: RecordedRead,
}

impl TracedRead {
    /// The layer that a trace shows, and the time when it was written. `None` if it has no audit ID (before 1.25), or names no layer.
    pub(super) fn of(trace: &RequestTrace) -> Option<(Timestamp, Self)> {
        // The cache takes these steps only if it has the list. Otherwise etcd may have answered, and quick spans are left out.
        let has_listed = |step: &TraceStep| matches!(step.message.as_str(), "Listed items from cache" | "Filtered items");
        let from_cache = !trace.is_cut && trace.spans.iter().flat_map(|span| &span.steps).any(has_listed);
        let read = match trace.layers() {
            LayerSpans { etcd: Some(EtcdListSpan::Range), .. } => RecordedRead::EtcdList,
            LayerSpans { cache: true, .. } if from_cache => RecordedRead::CacheList,
            LayerSpans { .. } => return None,
        };
        let audit_id = Some(trace.audit_id.clone()).filter(|audit_id| !audit_id.is_empty())?;
        Some((trace.logged?, Self { audit_id, read }))
    }

    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.audit_id.len()
    }
}

pub(super) const fn observation(at: Timestamp, id: ExchangeId, observed: ExchangeObservation) -> Observation {
    Observation { at, subject: Subject::Exchange(id, observed) }
}

/// The head of the request that an event is about.
pub(super) fn head(event: &AuditEvent) -> RequestLine {
    let method = match event.verb.as_str() {
        "get" | "list" | "watch" => "GET",
        "create" | "post" => "POST",
        "update" | "put" => "PUT",
        "patch" => "PATCH",
        "delete" | "deletecollection" => "DELETE",
        "head" => "HEAD",
        "options" => "OPTIONS",
        _other => "OTHER",
    };
    let head = RequestHead {
        method: Field::Known(method.to_owned()),
        target: Field::Known(Target::parse(event.uri.as_bytes())),
        identity: if event.user.is_empty() { Field::Absent } else { Field::Known(Identity::of_user(&event.user)) },
        ..RequestHead::default()
    };
    RequestLine { user_agent: Some(event.user_agent.clone()).filter(|agent| !agent.is_empty()), ..RequestLine::of(&head, "") }
}
