//! Entries of Google Cloud's logging about a GKE cluster.

use std::borrow::Cow;

use serde::Deserialize;

use super::audit::{MAX_ID, MAX_TEXT};
use super::klog::{KlogRecord, Severity, Stamp, read_json, zoned};
use super::text::{Text, cut};
use crate::time::Timestamp;

/// A request in an audit log of GKE (falcosecurity/plugins `plugins/k8saudit-gke`; GoogleCloudPlatform/khi).
///
/// The query of the request is missing. So its resource version, limit and selectors, and with them its verdict, are unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GkeAuditEntry {
    /// The time of the entry.
    pub at: Option<Timestamp>,
    /// `list`, `watch`, `get` and so on.
    pub verb: String,
    /// Group, version and path without the query, as in `core/v1/namespaces/default/pods`.
    pub path: String,
    /// Plural name and group, as in `deployments.apps`; empty without a resource.
    pub resource: String,
    /// The account that sent the request, as Google Cloud or Kubernetes names it.
    pub user: String,
    /// The client's address.
    pub address: String,
    /// The client's `User-Agent`.
    pub user_agent: String,
    /// The status as a code of gRPC, not of HTTP: 0 is success.
    pub status: i64,
    /// The operation that joins several entries of one request; empty if there is none.
    pub operation: String,
    /// Whether the entry is the first of its operation.
    pub is_first: bool,
    /// Whether the entry is the last of its operation.
    pub is_last: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'l> {
    #[serde(borrow, default)]
    proto_payload: Option<Payload<'l>>,
    #[serde(borrow, default)]
    operation: Operation<'l>,
    #[serde(borrow, default)]
    timestamp: Text<'l>,
    #[serde(borrow, default)]
    resource: Resource<'l>,
    #[serde(borrow, default)]
    text_payload: Text<'l>,
    #[serde(borrow, default)]
    json_payload: JsonPayload<'l>,
    #[serde(borrow, default)]
    source_location: SourceLocation<'l>,
    #[serde(borrow, default)]
    severity: Text<'l>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'l> {
    #[serde(borrow)]
    method_name: Cow<'l, str>,
    #[serde(borrow, default)]
    resource_name: Text<'l>,
    #[serde(borrow, default)]
    authentication_info: Authentication<'l>,
    #[serde(borrow, default)]
    request_metadata: RequestMetadata<'l>,
    #[serde(default)]
    status: RpcStatus,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Authentication<'l> {
    #[serde(borrow)]
    principal_email: Text<'l>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RequestMetadata<'l> {
    #[serde(borrow)]
    caller_ip: Text<'l>,
    #[serde(borrow)]
    caller_supplied_user_agent: Text<'l>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RpcStatus {
    code: i64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Operation<'l> {
    #[serde(borrow)]
    id: Text<'l>,
    first: bool,
    last: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Resource<'l> {
    #[serde(borrow, rename = "type")]
    kind: Text<'l>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JsonPayload<'l> {
    #[serde(borrow)]
    message: Text<'l>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SourceLocation<'l> {
    #[serde(borrow)]
    file: Text<'l>,
}

/// An entry of either kind.
pub(super) enum GkeEntry {
    Audit(GkeAuditEntry),
    /// A line of a component of the control plane.
    Component(ComponentEntry),
}

/// A line of a component of the control plane (`k8s_control_plane_component`), with the facts beside it.
pub(super) struct ComponentEntry {
    at: Option<Timestamp>,
    severity: Severity,
    file: String,
    text: String,
}

impl GkeEntry {
    /// Reads an entry. `None` for other JSON, and for entries about Google Cloud itself, such as the creation of a cluster.
    pub(super) fn read(text: &str) -> Option<Self> {
        let entry: Entry<'_> = serde_json::from_str(text).ok()?;
        let at = entry.timestamp.get().and_then(zoned);
        if let Some(payload) = &entry.proto_payload {
            return payload.read(at, &entry.operation).map(Self::Audit);
        }
        if entry.resource.kind.get() != Some("k8s_control_plane_component") {
            return None;
        }
        let severity = match entry.severity.get() {
            Some("WARNING") => Severity::Warning,
            Some("ERROR" | "CRITICAL") => Severity::Error,
            Some("ALERT" | "EMERGENCY") => Severity::Fatal,
            _other => Severity::Info,
        };
        let text = entry.text_payload.get().or_else(|| entry.json_payload.message.get())?.to_owned();
        let file = cut(entry.source_location.file.get().unwrap_or_default(), MAX_TEXT);
        Some(Self::Component(ComponentEntry { at, severity, file, text }))
    }
}

impl Payload<'_> {
    /// The method is `io.k8s.GROUP.VERSION.RESOURCE.VERB`; a subresource stands before the verb.
    fn read(&self, at: Option<Timestamp>, operation: &Operation<'_>) -> Option<GkeAuditEntry> {
        let (_, verb) = self.method_name.strip_prefix("io.k8s.")?.rsplit_once('.')?;
        let text = |text: &Text<'_>| cut(text.get().unwrap_or_default(), MAX_TEXT);
        let name = self.resource_name.get().unwrap_or_default();
        let path = cut(name.split_once('?').map_or(name, |(path, _)| path), MAX_TEXT);
        Some(GkeAuditEntry {
            at,
            verb: cut(verb, MAX_TEXT),
            resource: resource(&path),
            path,
            user: text(&self.authentication_info.principal_email),
            address: text(&self.request_metadata.caller_ip),
            user_agent: text(&self.request_metadata.caller_supplied_user_agent),
            status: self.status.code,
            operation: cut(operation.id.get().unwrap_or_default(), MAX_ID),
            is_first: operation.first,
            is_last: operation.last,
        })
    }
}

/// The resource of `GROUP/VERSION[/namespaces/NAMESPACE]/RESOURCE[/NAME]`. The core group is `core`.
fn resource(path: &str) -> String {
    let segments: Vec<&str> = path.split('/').take(5).collect();
    let (group, resource) = match segments.as_slice() {
        [group, _version, "namespaces", _namespace, resource] => (group, resource),
        [group, _version, resource, ..] => (group, resource),
        _other => return String::new(),
    };
    if *group == "core" { (*resource).to_owned() } else { format!("{resource}.{group}") }
}

impl ComponentEntry {
    /// The record that the component wrote. Whether the entry holds its header is not documented, so both forms are read. The time is
    /// that of the entry.
    pub(super) fn record(&self) -> KlogRecord<'_> {
        let complete = if self.text.starts_with('{') { read_json(&self.text) } else { KlogRecord::read(&self.text) };
        let stamp = self.at.map(Stamp::Complete);
        match complete {
            Some(record) => KlogRecord { stamp: stamp.or(record.stamp), ..record },
            None => KlogRecord::of_body(self.severity, stamp, &self.file, &self.text),
        }
    }
}
