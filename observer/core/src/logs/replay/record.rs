//! The records that wait to be put in order.

use std::sync::Arc;

use super::etcd_range::EtcdRange;
use super::served::{ForcedClose, ResetCache};
use crate::http::{Identity, Target};
use crate::k8s::{ListOptions, RequestInfo};
use crate::logs::audit::{AuditEvent, AuditStage};
use crate::logs::trace::RequestTrace;
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
    /// Keys that etcd read for a list.
    EtcdRead(EtcdRange),
    /// A watch that the API server closed by force.
    ClosedByForce(ForcedClose),
    /// A watch cache that the API server reset.
    CacheReset(ResetCache),
}

impl Record {
    /// The number of its log, its stage and its event; `None` unless it is a stage of a request.
    pub(super) fn staged(&self) -> Option<(usize, AuditStage, &AuditEvent)> {
        match self {
            Self::Stage { stage, event, log, .. } => Some((*log, *stage, event)),
            Self::Traced(_) | Self::EtcdRead(_) | Self::ClosedByForce(_) | Self::CacheReset(_) => None,
        }
    }
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
        let read = trace.recorded_read()?;
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
    let method = event.method();
    let (path, query) = Target::path_and_query(&event.uri);
    let options = ListOptions::parse(query);
    RequestLine {
        method: Some(method.to_owned()),
        info: Some(RequestInfo::parse(method, path, &options, "")),
        options,
        user_agent: Some(&event.user_agent).filter(|agent| !agent.is_empty()).cloned(),
        identity: Some(&event.user).filter(|user| !user.is_empty()).map(|user| Identity::of_user(user)),
        ..RequestLine::default()
    }
}

/// Whether the API server sent the request to itself.
pub(super) fn is_own(event: &AuditEvent) -> bool {
    /// The user of an API server's own clients (kubernetes/apiserver `pkg/authentication/user/user.go`, `APIServerUser`, v0.16 to v0.36).
    const SERVER: &str = "system:apiserver";
    /// The program of the API server's own client. Its log has no users.
    const SERVER_AGENT: &str = "kube-apiserver/";
    event.user == SERVER || (event.user.is_empty() && event.user_agent.starts_with(SERVER_AGENT))
}
