//! Rows of the tables in which Azure Monitor keeps the audit events of AKS.

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

/// The columns of `AKSAudit` and `AKSAuditAdmin` that an audit event has, too (learn.microsoft.com, Azure Monitor, table reference). There is
/// none for the impersonated user.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Row<'l> {
    #[serde(borrow)]
    audit_id: &'l RawValue,
    #[serde(borrow)]
    stage: &'l RawValue,
    #[serde(borrow)]
    verb: &'l RawValue,
    #[serde(borrow)]
    request_uri: &'l RawValue,
    #[serde(borrow)]
    level: Option<&'l RawValue>,
    #[serde(borrow)]
    user_agent: Option<&'l RawValue>,
    #[serde(borrow)]
    request_received_time: Option<&'l RawValue>,
    #[serde(borrow)]
    stage_received_time: Option<&'l RawValue>,
    #[serde(borrow)]
    user: Option<&'l RawValue>,
    #[serde(borrow)]
    source_ips: Option<&'l RawValue>,
    #[serde(borrow)]
    object_ref: Option<&'l RawValue>,
    #[serde(borrow)]
    response_status: Option<&'l RawValue>,
    #[serde(borrow)]
    annotations: Option<&'l RawValue>,
}

/// The audit event in a row in JSON, under the names of its own fields. `None` for any other text. The event is about as long as the row.
///
/// A column of the type `dynamic` holds JSON, or a text with JSON, as the command line of Azure prints it.
pub(super) fn event(line: &[u8]) -> Option<String> {
    memmem::find(line, b"\"AuditId\"")?;
    let row: Row<'_> = serde_json::from_slice(line).ok()?;
    let plain = [
        ("auditID", Some(row.audit_id)),
        ("stage", Some(row.stage)),
        ("verb", Some(row.verb)),
        ("requestURI", Some(row.request_uri)),
        ("level", row.level),
        ("userAgent", row.user_agent),
        ("requestReceivedTimestamp", row.request_received_time),
        ("stageTimestamp", row.stage_received_time),
    ];
    let dynamic = [
        ("user", row.user),
        ("sourceIPs", row.source_ips),
        ("objectRef", row.object_ref),
        ("responseStatus", row.response_status),
        ("annotations", row.annotations),
    ];
    let mut event = String::from("{");
    for (name, value) in plain {
        push(&mut event, name, value.map_or("", RawValue::get));
    }
    for (name, value) in dynamic {
        let value = value.map_or("", RawValue::get);
        if value.starts_with('"') {
            let text: String = serde_json::from_str(value).ok()?;
            if !text.is_empty() {
                push(&mut event, name, serde_json::from_str::<&RawValue>(&text).ok()?.get());
            }
        } else {
            push(&mut event, name, value);
        }
    }
    event.push('}');
    Some(event)
}

/// Adds a field. An empty column is absent, null or an empty text; the field is then absent.
fn push(event: &mut String, name: &str, value: &str) {
    if matches!(value, "" | "null" | "\"\"") {
        return;
    }
    if event.len() > 1 {
        event.push(',');
    }
    event.push('"');
    event.push_str(name);
    event.push_str("\":");
    event.push_str(value);
}
