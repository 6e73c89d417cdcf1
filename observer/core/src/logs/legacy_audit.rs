//! The text form of audit events, `--audit-log-format=legacy`.

use super::audit::{AuditEvent, AuditStage, MAX_ID, MAX_TEXT, MAX_URI};
use super::go_text::unquote;
use super::klog::zoned;
use super::text::cut;
use crate::k8s::{ListOptions, RequestInfo};
use crate::redacted::Redacted;

/// Reads `TIME AUDIT: id="…" stage="…" ip="…" method="…" user="…" groups="…" as="…" asgroups="…" user-agent="…" namespace="…"
/// uri="…" response="…"` (kubernetes/apiserver `pkg/audit/format.go`, v0.36.0). `None` for other text.
///
/// The line has the time of receipt only, and no level. Its resource is that of the path.
pub(super) fn read(text: &str) -> Option<AuditEvent> {
    let (time, mut rest) = text.split_once(" AUDIT: ")?;
    let mut event = AuditEvent { received: Some(zoned(time)?), ..AuditEvent::of_stage(AuditStage::Panic) };
    let mut stage = None;
    while let Some((key, quoted)) = rest.split_once('=') {
        let value = unquote(quoted)?;
        rest = value.rest.trim_ascii_start();
        let text = if value.text.starts_with('<') && value.text.ends_with('>') { "" } else { &*value.text };
        match key {
            "id" => event.audit_id = cut(text, MAX_ID),
            "stage" => stage = stage_of(text),
            "ip" => event.address = cut(text, MAX_TEXT),
            "method" => event.verb = cut(text, MAX_TEXT),
            "user" => event.user = cut(text, MAX_TEXT),
            "as" if !text.is_empty() => event.user = cut(text, MAX_TEXT),
            "user-agent" => event.user_agent = cut(text, MAX_TEXT),
            "uri" => event.uri = Redacted(cut(text, MAX_URI)),
            "response" => event.status = text.parse().unwrap_or(0),
            _other => {}
        }
    }
    event.stage = stage?;
    event.resource = resource(event.uri.split('?').next().unwrap_or_default());
    (!event.audit_id.is_empty()).then_some(event)
}

fn stage_of(text: &str) -> Option<AuditStage> {
    match text {
        "RequestReceived" => Some(AuditStage::RequestReceived),
        "ResponseStarted" => Some(AuditStage::ResponseStarted),
        "ResponseComplete" => Some(AuditStage::ResponseComplete),
        "Panic" => Some(AuditStage::Panic),
        _other => None,
    }
}

/// Plural name and group of the resource of a path; empty if it has none.
fn resource(path: &str) -> String {
    let resource = RequestInfo::parse("GET", path, &ListOptions::default(), "").resource;
    resource.map_or_else(String::new, |resource| match resource.group.as_str() {
        "" => cut(&resource.resource, MAX_TEXT),
        group => format!("{}.{}", cut(&resource.resource, MAX_TEXT), cut(group, MAX_TEXT)),
    })
}
