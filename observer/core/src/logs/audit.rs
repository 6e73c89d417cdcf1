//! Audit events of kube-apiserver.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::audit_id::AuditId;
use super::go_duration::go_duration;
use super::text::{FirstText, Text, cut};
use super::usual_event;
use crate::k8s::{Status, StatusCause};
use crate::redacted::Redacted;
use crate::routing::{RecordedRead, ServerVersion};
use crate::time::Timestamp;

/// Longest line that is read, in bytes. With bodies (level `RequestResponse`) an event can be as long as an object.
pub const MAX_LINE: usize = 16 * 1024 * 1024;
/// Longest text that is kept of a user name, a user agent or another short field, in bytes.
pub(super) const MAX_TEXT: usize = 1024;
/// Longest audit ID that is kept, in bytes. A client may choose it; all records of a request have this part of it (see [`super::AuditId`]).
pub(super) const MAX_ID: usize = AuditId::IN_ALL_RECORDS;
/// Longest URI that is kept, in bytes: more than the server accepts of a request line.
pub(super) const MAX_URI: usize = 64 << 10;

/// One stage of one request (kubernetes/apiserver `pkg/apis/audit/v1/types.go`). Bodies are not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// The same value as the response's `Audit-Id` header.
    pub audit_id: String,
    /// How much of the request is recorded.
    pub level: AuditLevel,
    /// The stage of the request.
    pub stage: AuditStage,
    /// Path and query as the client sent them, which may hold a secret.
    pub uri: Redacted<String>,
    /// `list`, `watch`, `get` and so on; for a path without a resource, the method in lower case.
    pub verb: String,
    /// Plural name and group, as in `deployments.apps`; empty without a resource.
    pub resource: String,
    /// The user for whom the server acted: the impersonated one, if there was one.
    pub user: String,
    /// The client's address, as far as proxies state it; empty if it is unknown.
    pub address: String,
    /// The client's `User-Agent`.
    pub user_agent: String,
    /// The HTTP status; 0 if the stage has none, or if the client left before the response. For a watch, that of the response head.
    pub status: u16,
    /// The `Status` of a refusal, if the stage has one. Of a write, it has no texts, which may quote data.
    pub refusal: Option<Box<Status>>,
    /// When the server received the request.
    pub received: Option<Timestamp>,
    /// When the request reached this stage.
    pub reached: Option<Timestamp>,
    /// Time in etcd, if the server recorded it: for a write, or at least one read of keys. The read of etcd's current revision, which
    /// precedes a consistent list from the watch cache, may be part of it. 1.37 does not time reads of ranges.
    pub etcd_latency: Option<Duration>,
    /// Time in total, if the server recorded it: for requests that took more than half a second.
    pub total_latency: Option<Duration>,
}

/// How much of a request an audit policy records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum AuditLevel {
    /// Neither body.
    Metadata,
    /// The body of the request.
    Request,
    /// Both bodies.
    RequestResponse,
    /// A level that this version does not know, or none.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The stage of a request when its event was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum AuditStage {
    /// The server has received the request.
    RequestReceived,
    /// The head of the response is sent: watches and other long responses only.
    ResponseStarted,
    /// The last byte of the response is sent.
    ResponseComplete,
    /// The server panicked.
    Panic,
}

/// The fields of an event that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'l> {
    #[serde(borrow, rename = "auditID")]
    pub(super) audit_id: Cow<'l, str>,
    pub(super) stage: AuditStage,
    #[serde(borrow)]
    pub(super) verb: Cow<'l, str>,
    #[serde(default)]
    pub(super) level: AuditLevel,
    #[serde(borrow, default, rename = "requestURI")]
    pub(super) uri: Cow<'l, str>,
    #[serde(borrow, default)]
    pub(super) user: User<'l>,
    #[serde(borrow)]
    pub(super) impersonated_user: Option<User<'l>>,
    #[serde(borrow, default, rename = "sourceIPs")]
    pub(super) addresses: FirstText<'l>,
    #[serde(borrow, default)]
    pub(super) user_agent: Cow<'l, str>,
    #[serde(borrow)]
    pub(super) object_ref: Option<ObjectRef<'l>>,
    #[serde(borrow)]
    pub(super) response_status: Option<ResponseStatus<'l>>,
    #[serde(borrow, default)]
    pub(super) request_received_timestamp: Text<'l>,
    #[serde(borrow, default)]
    pub(super) stage_timestamp: Text<'l>,
    #[serde(borrow, default)]
    pub(super) annotations: Annotations<'l>,
}

#[derive(Default, Deserialize)]
pub(super) struct User<'l> {
    #[serde(borrow, default)]
    pub(super) username: Cow<'l, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObjectRef<'l> {
    #[serde(borrow, default)]
    pub(super) resource: Cow<'l, str>,
    #[serde(borrow, default)]
    pub(super) api_group: Cow<'l, str>,
}

/// The bounded fields of a `Status` (kubernetes/apiserver `pkg/audit/request.go`, `LogResponseObject`).
#[derive(Deserialize)]
pub(super) struct ResponseStatus<'l> {
    #[serde(default)]
    pub(super) code: u16,
    #[serde(borrow, default)]
    pub(super) status: Text<'l>,
    #[serde(borrow, default)]
    pub(super) reason: Text<'l>,
    #[serde(borrow, default)]
    pub(super) message: Text<'l>,
    #[serde(borrow)]
    pub(super) details: Option<Details<'l>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Details<'l> {
    #[serde(borrow, default)]
    pub(super) causes: Vec<Cause<'l>>,
    #[serde(default)]
    pub(super) retry_after_seconds: Option<u32>,
}

#[derive(Deserialize)]
pub(super) struct Cause<'l> {
    #[serde(borrow, default)]
    reason: Text<'l>,
    #[serde(borrow, default)]
    message: Text<'l>,
    #[serde(borrow, default)]
    field: Text<'l>,
}

/// The time spent in etcd and in total, only for requests that took more than half a second in total (kubernetes/apiserver
/// `pkg/endpoints/request/webhook_duration.go`, v0.24 and later).
#[derive(Default, Deserialize)]
pub(super) struct Annotations<'l> {
    #[serde(borrow, default, rename = "apiserver.latency.k8s.io/etcd")]
    pub(super) etcd: Text<'l>,
    #[serde(borrow, default, rename = "apiserver.latency.k8s.io/total")]
    pub(super) total: Text<'l>,
}

impl ResponseStatus<'_> {
    /// Whether the client left before the response (kubernetes/apiserver `pkg/endpoints/filters/audit.go`, `WithAudit`).
    fn is_of_nothing(&self) -> bool {
        self.message.get() == Some("Connection closed early")
    }

    fn read(&self) -> Status {
        let text = |text: &Text<'_>| text.get().map_or_else(String::new, |text| cut(text, Status::MAX_TEXT));
        let of_cause = |cause: &Cause<'_>| StatusCause {
            reason: text(&cause.reason),
            message: text(&cause.message),
            field: text(&cause.field),
        };
        let causes = self.details.iter().flat_map(|details| &details.causes).take(Status::MAX_CAUSES).map(of_cause).collect();
        Status {
            status: text(&self.status),
            message: text(&self.message),
            reason: text(&self.reason),
            code: self.code,
            retry_after_seconds: self.details.as_ref().and_then(|details| details.retry_after_seconds),
            causes,
            continue_token: String::new(),
        }
    }
}

impl AuditEvent {
    /// Reads an event in its JSON form. `None` for text that is not an audit event of a known stage. Bodies are passed by their brackets, so
    /// an event with a malformed body may be read, too.
    pub fn read(line: &[u8]) -> Option<Self> {
        if line.len() > MAX_LINE {
            return None;
        }
        let line = line.trim_ascii();
        usual_event::read(line).or_else(|| serde_json::from_slice(line).ok()).map(Self::of)
    }

    /// An event of which nothing but its stage is known.
    pub(super) const fn of_stage(stage: AuditStage) -> Self {
        Self {
            audit_id: String::new(),
            level: AuditLevel::Unknown,
            stage,
            uri: Redacted(String::new()),
            verb: String::new(),
            resource: String::new(),
            user: String::new(),
            address: String::new(),
            user_agent: String::new(),
            status: 0,
            refusal: None,
            received: None,
            reached: None,
            etcd_latency: None,
            total_latency: None,
        }
    }

    pub(super) fn of(line: Line<'_>) -> Self {
        let resource = line.object_ref.map_or_else(String::new, |object| match &*object.api_group {
            "" => cut(&object.resource, MAX_TEXT),
            group => format!("{}.{}", cut(&object.resource, MAX_TEXT), cut(group, MAX_TEXT)),
        });
        let user = line.impersonated_user.unwrap_or(line.user);
        let is_read = matches!(&*line.verb, "get" | "list" | "watch");
        let refusal = line.response_status.as_ref().filter(|status| status.code >= 400).map(ResponseStatus::read);
        let refusal = refusal.map(|status| Box::new(if is_read { status } else { status.without_words() }));
        let time = |text: &Text<'_>| text.get().and_then(Timestamp::from_rfc3339);
        Self {
            audit_id: cut(&line.audit_id, MAX_ID),
            level: line.level,
            stage: line.stage,
            uri: Redacted(cut(&line.uri, MAX_URI)),
            verb: cut(&line.verb, MAX_TEXT),
            resource,
            user: cut(&user.username, MAX_TEXT),
            address: line.addresses.get().map_or_else(String::new, |address| cut(address, MAX_TEXT)),
            user_agent: cut(&line.user_agent, MAX_TEXT),
            status: line.response_status.filter(|status| !status.is_of_nothing()).map_or(0, |status| status.code),
            refusal,
            received: time(&line.request_received_timestamp),
            reached: time(&line.stage_timestamp),
            etcd_latency: line.annotations.etcd.get().and_then(go_duration),
            total_latency: line.annotations.total.get().and_then(go_duration),
        }
    }

    /// The layer of a read, as far as the annotations about latency show it. They are recorded for requests of more than half a second, from
    /// 1.24 on.
    pub fn recorded_read(&self) -> Option<RecordedRead> {
        // The time of watches in etcd is not recorded.
        let is_read = matches!(self.verb.as_str(), "get" | "list");
        let _slow = self.total_latency.filter(|_| is_read && self.stage == AuditStage::ResponseComplete)?;
        Some(if self.etcd_latency.is_some() { RecordedRead::EtcdTime } else { RecordedRead::NoEtcdTime })
    }

    /// Whether API servers of this version time each read in etcd: the audit event of a slow list has the time then, or etcd was not read.
    /// They do from 1.24 on; 1.37 does not time reads of ranges (kubernetes/apiserver `pkg/storage/etcd3/latency_tracker.go`).
    pub fn times_every_read(version: &ServerVersion) -> bool {
        (24..37).contains(&version.minor())
    }

    /// The HTTP method of its verb; `OTHER` for verbs of other requests.
    pub fn method(&self) -> &'static str {
        Self::method_of(&self.verb)
    }

    /// The HTTP method of a verb in lower case, or of a method.
    pub(super) fn method_of(verb: &str) -> &'static str {
        match verb {
            "get" | "list" | "watch" => "GET",
            "create" | "post" => "POST",
            "update" | "put" => "PUT",
            // In the log of kube-apiserver, a server-side apply (kubernetes/apiserver `pkg/endpoints/metrics/metrics.go`, `CleanVerb`).
            "patch" | "apply" => "PATCH",
            "delete" | "deletecollection" => "DELETE",
            "head" => "HEAD",
            "options" => "OPTIONS",
            _other => "OTHER",
        }
    }

    /// Estimated memory in bytes.
    pub(super) fn memory(&self) -> usize {
        let Self { audit_id, uri, verb, resource, user, address, user_agent, .. } = self;
        let texts = [audit_id, &uri.0, verb, resource, user, address, user_agent];
        let refusal = self.refusal.as_ref().map_or(0, |refusal| refusal.memory());
        size_of::<Self>() + texts.iter().map(|text| text.len()).sum::<usize>() + refusal
    }

    /// Whether it is the last stage of a request for a resource.
    pub fn is_complete_for_resource(&self) -> bool {
        self.stage == AuditStage::ResponseComplete && !self.resource.is_empty()
    }
}
