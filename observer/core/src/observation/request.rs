//! The two heads of an exchange, in Kubernetes' words.

use serde::{Deserialize, Serialize};

use crate::http::{Field, HeaderName, Headers, Identity, RequestHead, ResponseHead};
use crate::k8s::{ListOptions, RequestInfo, Resource};

/// What a request asks, and who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestLine {
    /// The method; `None` when it cannot be known.
    pub method: Option<String>,
    /// Verb, resource and name; `None` when method or path cannot be known.
    pub info: Option<RequestInfo>,
    /// List options; of other requests as far as they were sent.
    pub options: ListOptions,
    /// `User-Agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// `Accept`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<String>,
    /// Who the credential says the client is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// `Kubectl-Command`, such as `kubectl get`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubectl_command: Option<String>,
    /// Whether the connection is to end with the response: `Connection: close`, or HTTP/1.0 without `keep-alive`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closes: bool,
}

impl RequestLine {
    /// The resource that it is about; nothing of one about something else, or whose path is not known.
    pub fn resource(&self) -> Option<&Resource> {
        self.info.as_ref()?.resource.as_ref()
    }

    /// Reads a request's head. `prefix` is a path in front of the API server's own, or empty.
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
            closes: head.closes,
        }
    }
}

/// What a response's head says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResponseLine {
    /// The status code; `None` when it cannot be known.
    pub status: Option<u16>,
    /// `Content-Type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// `Content-Encoding`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_encoding: Option<String>,
    /// `Audit-Id`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit_id: Option<String>,
    /// `X-Kubernetes-PF-FlowSchema-UID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow_schema_uid: Option<String>,
    /// `X-Kubernetes-PF-PriorityLevel-UID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_level_uid: Option<String>,
    /// `Retry-After`, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
    /// Whether the server warns of something (`Warning`). What of is not kept: a webhook may put anything into it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub warned: bool,
}

impl ResponseLine {
    /// Whether the status is known and 2xx (RFC 9110 §15.3).
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the status says that the request is granted: 2xx, or 101 where it asked for an upgrade.
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
