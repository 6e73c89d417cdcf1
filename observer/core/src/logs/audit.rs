//! Audit events of kube-apiserver.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

/// Longest line that is read, in bytes. With bodies (level `RequestResponse`) an event can be as long as an object.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// The annotation with the time spent in etcd; only for requests that took more than half a second in total (kubernetes/apiserver
/// `pkg/endpoints/request/webhook_duration.go`, v0.24 and later).
const ETCD_LATENCY: &str = "apiserver.latency.k8s.io/etcd";

/// The last stage of one request (kubernetes/apiserver pkg/apis/audit/v1/types.go). Users, addresses and bodies are not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEvent {
    /// The same value as the response's `Audit-Id` header.
    pub audit_id: String,
    /// `list`, `watch`, `get` and so on.
    pub verb: String,
    /// Plural name and group, as in `deployments.apps`.
    pub resource: String,
    /// The client's `User-Agent`.
    pub user_agent: String,
    /// The HTTP status; for a watch, that of the response head.
    pub status: u16,
    /// Time in etcd, if the server recorded it: for a write, or at least one read of a single key. It never covers the read of
    /// etcd's current revision that precedes a consistent list from the watch cache.
    pub etcd_latency: Option<Duration>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    #[serde(rename = "auditID")]
    audit_id: String,
    stage: String,
    verb: String,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectRef {
    #[serde(default)]
    resource: String,
    #[serde(default)]
    api_group: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

impl AuditEvent {
    /// Reads a line of the log in its JSON form. `None` for stages other than the last, for requests without a resource, and for
    /// lines that are not audit events.
    pub fn read(line: &[u8]) -> Option<Self> {
        if line.len() > MAX_LINE {
            return None;
        }
        let line: Line = serde_json::from_slice(line).ok()?;
        let object = line.object_ref.filter(|object| !object.resource.is_empty())?;
        if line.stage != "ResponseComplete" {
            return None;
        }
        let resource =
            if object.api_group.is_empty() { object.resource } else { format!("{}.{}", object.resource, object.api_group) };
        Some(Self {
            audit_id: line.audit_id,
            verb: line.verb,
            resource,
            user_agent: line.user_agent,
            status: line.response_status.map_or(0, |status| status.code),
            etcd_latency: line.annotations.get(ETCD_LATENCY).and_then(|text| go_duration(text)),
        })
    }
}

/// A duration as Go prints it: `1.5s`, `612.3ms`, `1m2.5s`, `850µs`.
fn go_duration(text: &str) -> Option<Duration> {
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (number, behind) = rest.split_at(digits);
        let unit = behind.find(|character: char| character.is_ascii_digit()).unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let seconds = match unit {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "µs" | "us" => 1e-6,
            "ns" => 1e-9,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?)?;
        rest = behind;
    }
    Some(total)
}
