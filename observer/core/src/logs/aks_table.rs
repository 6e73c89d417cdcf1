//! Rows of the tables in which Azure Monitor keeps the audit events of AKS.

use serde::Deserialize;
use serde_json::{Value, json};

use super::audit::AuditEvent;

/// The columns of `AKSAudit` and `AKSAuditAdmin` that an audit event has, too (learn.microsoft.com, Azure Monitor, table reference). The
/// name of each column is that of the field, in another case.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row {
    audit_id: Value,
    stage: Value,
    verb: Value,
    request_uri: Value,
    #[serde(default)]
    level: Value,
    #[serde(default)]
    user: Value,
    #[serde(default)]
    source_ips: Value,
    #[serde(default)]
    user_agent: Value,
    #[serde(default)]
    object_ref: Value,
    #[serde(default)]
    response_status: Value,
    #[serde(default)]
    request_received_time: Value,
    #[serde(default)]
    stage_received_time: Value,
    #[serde(default)]
    annotations: Value,
}

/// Reads a row in JSON. `None` for any other text.
///
/// A column of the type `dynamic` holds JSON, or a text with JSON, as the command line of Azure prints it.
pub(super) fn read(text: &str) -> Option<AuditEvent> {
    let row: Row = serde_json::from_str(text).ok()?;
    let event = json!({
        "auditID": row.audit_id,
        "stage": row.stage,
        "verb": row.verb,
        "requestURI": row.request_uri,
        "level": row.level,
        "user": dynamic(row.user),
        "sourceIPs": dynamic(row.source_ips),
        "userAgent": row.user_agent,
        "objectRef": dynamic(row.object_ref),
        "responseStatus": dynamic(row.response_status),
        "requestReceivedTimestamp": row.request_received_time,
        "stageTimestamp": row.stage_received_time,
        "annotations": dynamic(row.annotations),
    });
    // An empty column is null or an empty text, and a field that is absent has no value at all.
    let fields = event.as_object()?.iter().filter(|(_, value)| !value.is_null() && *value != "");
    let event: serde_json::Map<String, Value> = fields.map(|(name, value)| (name.clone(), value.clone())).collect();
    AuditEvent::read(Value::Object(event).to_string().as_bytes())
}

fn dynamic(value: Value) -> Value {
    value.as_str().map(|text| serde_json::from_str(text).unwrap_or_default()).unwrap_or(value)
}
