//! Invariants of envelopes: a text that any of them holds is found again, and none makes a text longer than a line may be.

use observer_core::logs::{Envelope, MAX_LINE, Unwrapper};
use serde_json::json;

/// A time as container runtimes and `CloudWatch` write it.
const TIME: &str = "2026-11-27T10:00:00.123456789Z";

/// Unwraps each line as it is, and then its text in each envelope.
pub fn check(input: &[u8]) {
    let mut unwrapper = Unwrapper::default();
    for line in input.split(|byte| *byte == b'\n') {
        let mut outermost = true;
        unwrapper.unwrap(line, &mut |envelope, text| {
            assert_eq!(envelope.is_none(), outermost, "the line itself comes first");
            assert!(text.len() <= line.len().max(MAX_LINE), "{} bytes of {}", text.len(), line.len());
            outermost = false;
            false
        });
        assert!(!outermost, "each line is passed on");
        // A text in JSON is UTF-8.
        let Ok(text) = std::str::from_utf8(line) else { continue };
        check_wrapped(text.trim_ascii());
    }
    assert!(unwrapper.finish() <= 2, "a log has two streams");
}

fn check_wrapped(text: &str) {
    if text.is_empty() {
        return;
    }
    for (wrapped, envelope) in [
        (json!({"log": format!("{text}\n"), "stream": "stderr"}), Envelope::Docker),
        (json!({"log_s": text}), Envelope::Azure),
        (json!({"properties": {"log": text}}), Envelope::Azure),
        (json!({"records": [{"properties": {"log": "other"}}, {"properties": {"log": text}}]}), Envelope::Azure),
        (json!({"logEvents": [{"message": text}]}), Envelope::CloudWatch),
        (json!({"message": text, "ingestionTime": 1}), Envelope::CloudWatch),
        (json!({"message": text}), Envelope::Message),
        (json!({"MESSAGE": text}), Envelope::Journal),
    ] {
        assert!(holds(&[wrapped.to_string().as_bytes()], envelope, text), "{wrapped}");
    }
    assert!(holds(&[format!("{TIME} stderr F {text}").as_bytes()], Envelope::Cri, text), "{text:?}");
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    let part = |tag: &str, part: &[u8]| [format!("{TIME} stdout {tag} ").as_bytes(), part].concat();
    // The carriage return at the end of a line is no part of it.
    if !first.ends_with(b"\r") {
        assert!(holds(&[&part("P", first), &part("F", second)], Envelope::Cri, text), "{text:?} in two parts");
    }
}

/// Whether the lines have the text in this envelope, and nothing else is understood.
fn holds(lines: &[&[u8]], envelope: Envelope, text: &str) -> bool {
    let mut unwrapper = Unwrapper::default();
    let found = |line: &&[u8]| unwrapper.unwrap(line, &mut |found, inside| found == Some(envelope) && inside == text.as_bytes());
    lines.iter().map(found).last() == Some(true)
}
