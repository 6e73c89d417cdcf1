//! Requests and verdicts as plain data, for events and reports.

use serde::Serialize;

use crate::exchange::{
    Client, Exchange, Shape, StallRecord, WatchStream, ending, of_alternatives, of_identity, of_length, of_options, of_reads,
    of_reason, of_structure, of_texts, of_traceparent, of_watch,
};
use crate::http::{Identity, TraceParent};
use crate::k8s::{ListOptions, Resource, Verb};
use crate::observation::{BodyNotRead, ExchangeEnd, ExchangeId};
use crate::quantity::Amount;
use crate::routing::{Alternative, Certainty, EtcdRead, Otherwise, ProofId, ServedFrom, Verdict};
use crate::time::{Timestamp, microseconds};

/// A verdict, with its rule as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictRecord {
    /// The layer that answers.
    pub served_from: ServedFrom,
    /// The rule's identifier, for `watchtap explain RULE`.
    pub rule: &'static str,
    /// How certain the layer is. It stays `Predicted` unless the answer confirms or contradicts the prediction.
    pub certainty: Certainty,
    /// Identifier of the proof in the answer that confirmed or contradicted it, for `watchtap explain`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofId>,
    /// The prediction, if the answer contradicts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted: Option<ServedFrom>,
    /// The second outcome and its condition, when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Otherwise>,
    /// The reads from etcd that the answer causes, in order, without those of the second outcome.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub etcd_reads: Vec<EtcdRead>,
    /// The verdicts that remain possible when the layer is unknown, each with its condition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// Remarks on the verdict, one phrase each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<&'static str>,
}

impl From<&Verdict> for VerdictRecord {
    fn from(verdict: &Verdict) -> Self {
        Self {
            served_from: verdict.served_from.clone(),
            rule: verdict.rule.as_str(),
            certainty: verdict.certainty,
            proof: verdict.proof,
            predicted: verdict.predicted.as_deref().cloned(),
            otherwise: verdict.otherwise,
            etcd_reads: verdict.reads.clone(),
            alternatives: verdict.alternatives.clone(),
            notes: verdict.notes.clone(),
        }
    }
}

/// A request and its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestRecord {
    /// Connection and stream.
    #[serde(flatten)]
    pub id: ExchangeId,
    /// When the request was made.
    pub at: Timestamp,
    /// The client, as its request identifies it.
    pub client: Client,
    /// The verb; `None` when method or path is unknown.
    pub verb: Option<Verb>,
    /// Whether it is a HEAD. Its verb is that of a GET, as kube-apiserver has it.
    #[serde(skip_serializing_if = "is_default")]
    pub head_only: bool,
    /// Resource, objects and options of the request.
    #[serde(flatten)]
    pub shape: Shape,
    /// Group and version of the resource: `v1`, `apps/v1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// Name of the requested object; empty if the request names none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Options of a list or watch, as kube-apiserver reads them.
    #[serde(skip_serializing_if = "is_default")]
    pub list_options: ListOptions,
    /// HTTP status; `None` before the response.
    pub status: Option<u16>,
    /// The layer that answered; `None` if the request reads no objects, or its path is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictRecord>,
    /// Number of list items.
    pub items: Amount,
    /// The list's resource version, or the object's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Items after this page, if the server reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remaining_item_count: Option<i64>,
    /// Bytes of the response body, content coding included.
    pub bytes: Amount,
    /// Bytes of the request body.
    #[serde(skip_serializing_if = "is_default")]
    pub request_bytes: u64,
    /// Bytes among `bytes` that were not seen. If there are any, `items` is a lower bound.
    #[serde(skip_serializing_if = "is_default")]
    pub missed_bytes: u64,
    /// Time from the request's head to the response's head, in microseconds; `None` before the response.
    pub first_byte_us: Option<u64>,
    /// Time from the request's head to the end, in microseconds; `None` while the exchange is open.
    pub total_us: Option<u64>,
    /// How it ended; `None` while it is open.
    pub end: Option<ExchangeEnd>,
    /// Events of a watch; `None` for other requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<WatchStream>,
    /// How often and how long the response waited because the client did not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled: Option<StallRecord>,
    /// `reason` of the `Status`, if the answer is a `Status`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why the body was not understood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_read: Option<BodyNotRead>,
    /// `Content-Type` of the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Protocol after an upgrade, such as `websocket`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upgraded: Option<String>,
    /// Whether the server sent a warning, such as for a deprecated API version.
    #[serde(skip_serializing_if = "is_default")]
    pub warned: bool,
    /// The place of the request in a trace of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Box<TraceParent>>,
    /// `Audit-Id`: joins the record to the server's audit log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_id: Option<String>,
    /// The user, as the API server's log has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<Identity>,
    /// Time in the API server in microseconds, as its log has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_us: Option<u64>,
    /// UID of the FlowSchema that classified the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_schema_uid: Option<String>,
    /// UID of the priority level that the request was assigned to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_level_uid: Option<String>,
}

impl RequestRecord {
    /// The record of an exchange of this shape.
    pub(super) fn of(exchange: &Exchange, shape: Shape) -> Self {
        let request = &exchange.request;
        let response = exchange.response.as_ref().map(|(_, response)| response);
        let resource = request.resource();
        let list_version = exchange.list.as_ref().map(|list| list.resource_version.clone());
        let object_version = exchange.object.as_ref().map(|object| object.resource_version.clone());
        Self {
            id: exchange.id,
            at: exchange.started,
            client: Client::of(exchange),
            verb: exchange.verb(),
            head_only: request.method.as_deref() == Some("HEAD"),
            shape,
            api_version: resource.map(Resource::api_version).unwrap_or_default(),
            name: request.info.as_ref().map(|info| info.name.clone()).unwrap_or_default(),
            list_options: request.options.clone(),
            status: exchange.status_code(),
            verdict: exchange.verdict.as_ref().map(VerdictRecord::from),
            items: exchange.amount(exchange.items),
            resource_version: list_version.or(object_version).unwrap_or_default(),
            remaining_item_count: exchange.list.as_ref().and_then(|list| list.remaining_item_count),
            bytes: exchange.amount(exchange.response_bytes),
            request_bytes: exchange.request_bytes,
            missed_bytes: exchange.missed_bytes,
            first_byte_us: exchange.first_byte().map(microseconds),
            total_us: exchange.total().map(microseconds),
            end: exchange.ended.map(|(_, end)| end),
            // A log has no events.
            watch: exchange.watch.clone().filter(|_| !exchange.is_logged),
            stalled: exchange.stall.record(),
            reason: exchange.status.as_ref().map(|status| status.reason.clone()).unwrap_or_default(),
            not_read: exchange.not_read.clone(),
            content_type: response.and_then(|response| response.content_type.clone()),
            upgraded: exchange.upgraded.clone(),
            warned: response.is_some_and(|response| response.warned),
            traceparent: request.traceparent.clone(),
            audit_id: response.and_then(|response| response.audit_id.clone()),
            user: exchange.user.clone(),
            server_us: exchange.server_us,
            flow_schema_uid: response.and_then(|response| response.flow_schema_uid.clone()),
            priority_level_uid: response.and_then(|response| response.priority_level_uid.clone()),
        }
    }

    /// Estimated memory of the record of an exchange of this shape, in bytes.
    pub(super) fn memory(exchange: &Exchange, shape: &Shape) -> usize {
        let Exchange { request, verdict, list, object, status, watch, not_read, upgraded, .. } = exchange;
        let response = exchange.response.as_ref().map(|(_, response)| response);
        let api_version = request.resource().map_or(0, |Resource { group, version, .. }| match group.as_str() {
            "" => version.len(),
            group => group.len() + 1 + version.len(),
        });
        let list_version = list.as_ref().map(|list| &list.resource_version);
        let texts = [
            request.info.as_ref().map(|info| &info.name),
            list_version.or(object.as_ref().map(|object| &object.resource_version)),
            status.as_ref().map(|status| &status.reason),
            upgraded.as_ref(),
            response.and_then(|response| response.content_type.as_ref()),
            response.and_then(|response| response.audit_id.as_ref()),
            response.and_then(|response| response.flow_schema_uid.as_ref()),
            response.and_then(|response| response.priority_level_uid.as_ref()),
        ];
        of_structure::<Self>()
            + Client::memory_of(exchange)
            + shape.memory()
            + of_length(api_version)
            + of_texts(texts.into_iter().flatten().map(String::as_str))
            + of_options(&request.options)
            + verdict.as_ref().map_or(0, |verdict| of_reads(&verdict.reads) + of_alternatives(&verdict.alternatives))
            + watch.as_ref().map_or(0, of_watch)
            + not_read.as_ref().map_or(0, of_reason)
            + of_traceparent(request.traceparent.as_deref())
            + of_identity(exchange.user.as_ref())
    }

    /// How it ended, in words: `410 Expired`, `cancelled by the client`; `None` while it is open.
    pub fn ending(&self) -> Option<String> {
        self.end.map(|end| ending::in_words(self.watch.as_ref(), self.status, end))
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
