//! Invariants of envelopes: a text is found again in each envelope that is put around it, and in the parts of a container runtime.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use observer_core::logs::{Envelope, Unwrapper};
use serde_json::json;

/// A time as container runtimes and `CloudWatch` write it.
const TIME: &str = "2026-11-27T10:00:00.123456789Z";

/// Unwraps each line as it is, and then its text in each envelope.
pub fn check(input: &[u8]) {
    let mut unwrapper = Unwrapper::default();
    for line in input.split(|byte| *byte == b'\n') {
        let mut is_outermost = true;
        unwrapper.unwrap(line, &mut |wrapping, _text| {
            assert_eq!(wrapping.is_none(), is_outermost, "the line itself comes first");
            is_outermost = false;
            false
        });
        assert!(!is_outermost, "each line is passed on");
        // A text in JSON is UTF-8.
        let Ok(text) = std::str::from_utf8(line) else { continue };
        check_wrapped(text.trim_ascii());
    }
    unwrapper.finish();
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
        (json!({"events": [{"message": text, "ingestionTime": 1}]}), Envelope::CloudWatch),
        (json!({"message": text, "ingestionTime": 1}), Envelope::CloudWatch),
        (json!({"@message": text}), Envelope::Message),
        (json!({"message": text}), Envelope::Message),
        (json!({"MESSAGE": text}), Envelope::Journal),
    ] {
        assert!(holds(&[wrapped.to_string().as_bytes()], envelope, text), "{wrapped}");
    }
    let lines = [
        (format!("{TIME} stderr F {text}"), Envelope::Cri),
        (format!("Nov 27 10:00:00 node kube-apiserver[1]: {text}"), Envelope::Journal),
        (subscription(text), Envelope::CloudWatch),
    ];
    // Of an export to a bucket and of `aws logs tail`, only objects and records of klog are read.
    let of_objects = [format!("{TIME} {text}"), format!("{TIME} stream {text}")].map(|line| (line, Envelope::CloudWatch));
    let of_objects = of_objects.into_iter().filter(|_| text.starts_with('{'));
    for (line, envelope) in lines.into_iter().chain(of_objects) {
        assert!(holds(&[line.as_bytes()], envelope, text), "{line:?}");
    }
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    let part = |tag: &str, part: &[u8]| [format!("{TIME} stdout {tag} ").as_bytes(), part].concat();
    // The carriage return at the end of a line is no part of it.
    if !first.ends_with(b"\r") {
        assert!(holds(&[&part("P", first), &part("F", second)], Envelope::Cri, text), "{text:?} in two parts");
    }
}

/// A record of a subscription.
fn subscription(text: &str) -> String {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(json!({"logEvents": [{"message": text}]}).to_string().as_bytes()).unwrap();
    STANDARD.encode(packed.finish().unwrap())
}

/// Whether the lines have the text in this envelope, and nothing else is understood.
fn holds(lines: &[&[u8]], envelope: Envelope, text: &str) -> bool {
    let mut unwrapper = Unwrapper::default();
    let found = |line: &&[u8]| {
        unwrapper.unwrap(line, &mut |found, inside| {
            found.map(|wrapping| wrapping.envelope) == Some(envelope) && inside == text.as_bytes()
        })
    };
    lines.iter().map(found).last().is_some_and(|unwrapped| unwrapped.is_understood)
}
