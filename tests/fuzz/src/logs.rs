//! Invariants of log lines: each parsed value occurs in the line, surrounding space changes nothing, and the requests of a log begin once and
//! end at most once.

use std::collections::BTreeSet;

use observer_core::logs::{AuditEvent, EtcdRequest, LogClock, LogRecord, LogRecords, LogReplay};
use observer_core::observation::{ExchangeObservation, Observation, Subject};
use serde_json::Value;

/// Parses each line as an audit event and as an etcd log entry, and replays all lines as one log.
pub fn check(input: &[u8]) {
    check_replay(input);
    check_records(input);
    for line in input.split(|byte| *byte == b'\n') {
        let spaced = [b" ", line, b"\r\n"].concat();
        let (audit, etcd) = (AuditEvent::read(line), EtcdRequest::read(line));
        assert_eq!((&audit, &etcd), (&AuditEvent::read(&spaced), &EtcdRequest::read(&spaced)), "space changed what is read");
        // Skipped parts may be invalid UTF-8, which serde does not accept.
        let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
        if let Some(audit) = &audit {
            assert_eq!(value["stage"], format!("{:?}", audit.stage), "{audit:?}");
            assert!(value["auditID"].as_str().unwrap_or_default().starts_with(&audit.audit_id), "{audit:?}");
            assert!(value["verb"].as_str().unwrap_or_default().starts_with(&audit.verb), "{audit:?}");
        }
        if let Some(EtcdRequest::Range(read)) = &etcd {
            let content = value["request content"].as_str().unwrap_or_default();
            assert!(read.key.len() <= content.len() && read.range_end.len() <= content.len(), "{read:?} of {content:?}");
        }
    }
}

/// Passes on the record of each line.
fn check_records(input: &[u8]) {
    let mut records = LogRecords::of(LogClock::of_year(2024, 0));
    let mut take = |found: observer_core::logs::FoundRecord| {
        assert!(!found.origin.written_by.is_empty() && !found.origin.upstream.is_empty(), "{found:?}");
        if let LogRecord::Trace(trace) = &found.record {
            assert!(!trace.spans.is_empty(), "{trace:?}");
        }
    };
    let (mut others, mut lines) = (0, 0);
    for line in input.split(|byte| *byte == b'\n') {
        lines += 1;
        others += records.line(line, &mut take);
    }
    others += records.finish(&mut take);
    assert!(others <= lines, "{others} of {lines} lines are not understood");
}

fn check_replay(input: &[u8]) {
    let (mut replay, mut open, mut requests) = (LogReplay::default(), BTreeSet::new(), 0);
    let mut take = |Observation { subject, .. }| {
        let Subject::Exchange(id, observed) = subject else { return };
        match &observed {
            ExchangeObservation::Requested { .. } => {
                requests += 1;
                assert!(open.insert(id), "{id:?} begins twice");
            }
            ExchangeObservation::Ended { .. } => assert!(open.remove(&id), "{id:?} ends without a begin"),
            ExchangeObservation::InterimResponse { .. }
            | ExchangeObservation::Responded { .. }
            | ExchangeObservation::BodyBytes { .. }
            | ExchangeObservation::BodyRead { .. }
            | ExchangeObservation::BodyNotRead { .. }
            | ExchangeObservation::BodyGap { .. }
            | ExchangeObservation::Recorded { .. }
            | ExchangeObservation::ClosedByForce { .. }
            | ExchangeObservation::CacheReset
            | ExchangeObservation::Logged { .. }
            | ExchangeObservation::Upgraded { .. } => assert!(open.contains(&id), "{id:?} is not open: {observed:?}"),
        }
    };
    for line in input.split(|byte| *byte == b'\n') {
        replay.line(0, line, &mut take);
    }
    replay.finish(&mut take);
    assert_eq!(replay.extent().requests, requests);
}
