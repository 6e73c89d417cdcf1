//! The heads of a request and of its response, in Kubernetes terms.

use serde::{Deserialize, Serialize};

use crate::http::{Field, HeaderName, Headers, Identity, RequestHead, ResponseHead, TraceParent};
use crate::k8s::{ListOptions, RequestInfo, Resource};

/// The head of a request, with the identity of its client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestLine {
    /// The method; `None` when it is unknown.
    pub method: Option<String>,
    /// Verb, resource and name; `None` when method or path is unknown.
    pub info: Option<RequestInfo>,
    /// List options; for other verbs, those that the query has.
    pub options: ListOptions,
    /// `User-Agent` header; `None` when it is absent or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// `Accept` header; `None` when it is absent or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// Identity that the credential carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// `Kubectl-Command` header, such as `kubectl get`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubectl_command: Option<String>,
    /// The place in a trace of the client; `None` if it has none, or if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traceparent: Option<Box<TraceParent>>,
    /// Whether the connection closes after the response: `Connection: close`, or HTTP/1.0 without `keep-alive`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closes: bool,
}

/// The first product of a `User-Agent`.
pub(crate) fn first_product(agent: &str) -> Option<&str> {
    match agent.bytes().position(|byte| !byte.is_ascii_graphic()) {
        None if !agent.is_empty() => Some(agent),
        Some(end) if end > 0 && agent.as_bytes().get(end) == Some(&b' ') => agent.get(..end),
        Some(_) | None => agent.split_whitespace().next(),
    }
}

impl RequestLine {
    /// The resource of the request; `None` for a non-resource request, or when the path is unknown.
    pub fn resource(&self) -> Option<&Resource> {
        self.info.as_ref()?.resource.as_ref()
    }

    /// Whether its answer may last as long as the client wants, as far as its path is known.
    pub fn is_long_running(&self) -> bool {
        self.info.as_ref().is_some_and(RequestInfo::is_long_running)
    }

    /// Name and version of the client program: the first product of `User-Agent`.
    pub fn product(&self) -> Option<&str> {
        first_product(self.user_agent.as_deref()?)
    }

    /// Reads a request's head. `prefix` is the path in front of the API server's paths; empty if there is none.
    pub fn of(head: &RequestHead, prefix: &str) -> Self {
        let method = head.method.clone().known();
        let target = head.target.as_ref().known();
        let options = target.map(|target| ListOptions::parse(&target.query)).unwrap_or_default();
        let info = method.as_deref().zip(target).map(|(method, target)| RequestInfo::parse(method, &target.path, &options, prefix));
        Self {
            method,
            info,
            options,
            user_agent: text(&head.headers, HeaderName::UserAgent),
            accept: text(&head.headers, HeaderName::Accept),
            identity: head.identity.clone().known(),
            kubectl_command: text(&head.headers, HeaderName::KubectlCommand),
            traceparent: head.traceparent.clone(),
            closes: head.closes,
        }
    }
}

/// The head of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseLine {
    /// The status code; `None` when it is unknown.
    pub status: Option<u16>,
    /// `Content-Type` header; `None` when it is absent or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// `Content-Encoding` header; `None` when it is absent or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    /// `Audit-Id` header; `None` when it is absent or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_id: Option<String>,
    /// `X-Kubernetes-PF-FlowSchema-UID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_schema_uid: Option<String>,
    /// `X-Kubernetes-PF-PriorityLevel-UID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_level_uid: Option<String>,
    /// `Retry-After` header in seconds; `None` when it is absent or not a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
    /// Whether the response has a `Warning` header. Its text is not kept: a webhook may put anything into it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warned: bool,
}

impl ResponseLine {
    /// Whether the status is known and 2xx (RFC 9110 §15.3).
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the status grants the request: 2xx, or 101 for an upgrade.
    pub fn is_granted(&self) -> bool {
        self.is_success() || self.status == Some(101)
    }

    /// Reads a response's head.
    pub fn of(head: &ResponseHead) -> Self {
        let field = |name| text(&head.headers, name);
        Self {
            status: head.status.known(),
            content_type: field(HeaderName::ContentType),
            content_encoding: field(HeaderName::ContentEncoding),
            audit_id: field(HeaderName::AuditId),
            flow_schema_uid: field(HeaderName::FlowSchemaUid),
            priority_level_uid: field(HeaderName::PriorityLevelUid),
            retry_after_seconds: field(HeaderName::RetryAfter).and_then(|seconds| seconds.parse().ok()),
            warned: field(HeaderName::Warning).is_some(),
        }
    }
}

fn text(headers: &Headers, name: HeaderName) -> Option<String> {
    match headers.get(name) {
        Field::Known(value) => Some(value.to_owned()),
        Field::Absent | Field::Unknown => None,
    }
}
