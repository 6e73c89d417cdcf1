//! The reader of usual events reads the same as `serde_json`, except that it passes bodies by their brackets.

use proptest::prelude::*;

use crate::logs::AuditEvent;
use crate::logs::usual_event;

/// Events with all members that are read, and with members of each kind that are not.
const EVENTS: [&str; 7] = [
    r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"0a-1","stage":"ResponseComplete","requestURI":"/api/v1/pods?a=1\u0026limit=5","verb":"list","user":{"username":"é","groups":["a","b"],"extra":{"x":["y"]}},"sourceIPs":["10.0.0.1","::1"],"userAgent":"a/1 (b)","objectRef":{"resource":"pods","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":200},"requestReceivedTimestamp":"2026-11-22T02:00:00.100000Z","stageTimestamp":"2026-11-22T02:00:01.8Z","annotations":{"a":"allow \"b\"","apiserver.latency.k8s.io/etcd":"1.6s","apiserver.latency.k8s.io/total":"1.7s"}}"#,
    r#" { "auditID" : "a" , "stage" : "Panic" , "verb" : "get" , "level" : "More" , "impersonatedUser" : { "username" : "u" } , "sourceIPs" : [ ] } "#,
    r#"{"auditID":"a","stage":"ResponseStarted","verb":"update","objectRef":{"resource":"a","apiGroup":"b"},"responseStatus":{"status":"Failure","reason":"NotFound","message":"x \"y\" \ud83d\ude00","details":{"name":"x","retryAfterSeconds":3},"code":404},"extra":{"a":[1,-2.5e+3,0.1,true,false,null,{},[],{"b":[[{}]]}]}}"#,
    r#"{"auditID":"a","stage":"ResponseComplete","verb":"get","responseStatus":{"details":{"causes":[{"reason":"r","message":"m","field":"f"}]},"code":504}}"#,
    r#"{"auditID":"a","stage":"ResponseComplete","verb":"get","user":["u"],"objectRef":null,"annotations":{},"level":"Request"}"#,
    r#"{"stage":"ResponseComplete","verb":"get","level":"RequestResponse"}"#,
    r#"{"auditID":"a","stage":"ResponseComplete","verb":"update","requestObject":{"metadata":{"annotations":{"a":"say \"}]\" \\","b":"é"}},"spec":{"c":[1,{},[],null]}},"responseObject":{"kind":"Pod","metadata":{"resourceVersion":"7","managedFields":[{"f:x":{}}]}},"user":{"username":"u"},"responseStatus":{"code":200}}"#,
];

/// Parts that make a difference where they stand.
const PARTS: [&str; 27] = [
    "\"",
    "\\",
    "\\u00",
    "\\ud800",
    "\\\"",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\n",
    "\u{1}",
    "é",
    "0",
    "-",
    "1e9",
    "65536",
    "01",
    "null",
    "true",
    "\"auditID\":\"b\",",
    "\"stage\":\"Panic\",",
    "\"user\":{\"username\":\"v\"},",
    "\"a\":\"b\",",
    "\"level\":7,",
];

#[track_caller]
fn check(line: &[u8]) -> bool {
    let usual = usual_event::read(line).map(AuditEvent::of);
    if let Some(usual) = &usual {
        let general: Result<_, serde_json::Error> = serde_json::from_slice(line).map(AuditEvent::of);
        match general {
            Ok(general) => assert_eq!(usual, &general, "{}", String::from_utf8_lossy(line)),
            // A body is passed by its brackets, so the line may be no JSON.
            Err(error) => assert!(has_body(line), "{error}: {}", String::from_utf8_lossy(line)),
        }
    }
    usual.is_some()
}

fn has_body(line: &[u8]) -> bool {
    ["requestObject", "responseObject"].iter().any(|body| line.windows(body.len()).any(|part| part == body.as_bytes()))
}

#[test]
fn usual_events_need_no_general_parser() {
    let are_usual = EVENTS.map(|event| check(event.as_bytes()));
    assert_eq!(are_usual, [true, true, true, false, false, false, true]);
}

#[test]
fn event_with_one_byte_less_or_another_one_is_read_alike() {
    for event in EVENTS.map(str::as_bytes) {
        for at in 0..event.len() {
            check(&event[..at]);
            let mut changed = event.to_vec();
            changed.remove(at);
            check(&changed);
            for byte in *b"\"\\ {}[]:,0-.e\xff\x1f\xc3" {
                event.clone_into(&mut changed);
                changed[at] = byte;
                check(&changed);
            }
        }
    }
}

#[test]
fn bodies_are_passed_by_their_brackets() {
    let line =
        |body: &str| format!(r#"{{"auditID":"a","stage":"Panic","responseObject":{body},"requestObject":{body},"verb":"get"}}"#);
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    for body in [r#"{"a":["}\"",{}]}"#, "null", r#""b""#, "[]", "{}", "7", &deep, "{1}", "[}", r#"{"a" "b"}"#] {
        assert!(check(line(body).as_bytes()), "{body}");
    }
    for body in ["{", r#"{"a":"}"#, "[[]", "nul", ""] {
        let line = format!(r#"{{"auditID":"a","stage":"Panic","verb":"get","responseObject":{body}}}"#);
        assert!(!check(line.as_bytes()), "{body}");
    }
}

#[test]
fn values_that_are_nested_deeply_are_left_to_the_general_parser() {
    for depth in [1, 60, 64, 65, 300] {
        let line = format!(
            r#"{{"auditID":"a","stage":"Panic","verb":"get","x":{}{}}}"#,
            "[{\"a\":".repeat(depth / 2),
            "[]".to_owned() + &"}]".repeat(depth / 2)
        );
        assert_eq!(check(line.as_bytes()), depth <= 65, "{depth}");
    }
}

proptest! {
    #[test]
    fn event_with_other_parts_is_read_alike(
        event in 0..EVENTS.len(),
        parts in prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, 0..PARTS.len()), 1..4),
    ) {
        let mut line = EVENTS[event].as_bytes().to_vec();
        for (at, removed, part) in parts {
            let at = at.index(line.len());
            let end = line.len().min(at + removed);
            line.splice(at..end, PARTS[part].bytes());
        }
        check(&line);
    }
}
