//! Invariants of log lines: each parsed value occurs in the line, and surrounding space changes nothing.

use observer_core::logs::{AuditEvent, EtcdRequest};
use serde_json::Value;

/// Parses each line as an audit event and as an etcd log entry.
pub fn check(input: &[u8]) {
    for line in input.split(|byte| *byte == b'\n') {
        let spaced = [b" ", line, b"\r\n"].concat();
        let (audit, etcd) = (AuditEvent::read(line), EtcdRequest::read(line));
        assert_eq!((&audit, &etcd), (&AuditEvent::read(&spaced), &EtcdRequest::read(&spaced)), "space changed what is read");
        // Skipped parts may be invalid UTF-8, which serde does not accept.
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        if let Some(audit) = &audit {
            assert_eq!(value["stage"], "ResponseComplete", "{audit:?}");
            assert_eq!(value["auditID"], audit.audit_id.as_str(), "{audit:?}");
            assert_eq!(value["verb"], audit.verb.as_str(), "{audit:?}");
        }
        if let Some(EtcdRequest::Range(read)) = &etcd {
            let content = value["request content"].as_str().unwrap_or_default();
            assert!(read.key.len() <= content.len() && read.range_end.len() <= content.len(), "{read:?} of {content:?}");
        }
    }
}
