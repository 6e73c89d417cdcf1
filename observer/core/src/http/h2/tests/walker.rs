//! The walk over frame headers.

use super::super::walker::{FrameWalker, Span};
use super::wire::{END_STREAM, PADDED, SETTINGS, data, frame, get, go_away, headers, ping, preface};
use crate::redacted::Redacted;

#[test]
fn only_data_frame_payload_is_reported_as_data() {
    let bytes = [preface(), headers(0, 1, &get("/a")), data(PADDED, 1, b"\x01ab\0"), ping(), data(END_STREAM, 3, b"c")].concat();
    assert_eq!(walk(FrameWalker::of_requests(), &[&bytes]), ["control 57", "1 [1, 97, 98, 0]", "control 26", "3 [99]"]);
}

#[test]
fn empty_data_frame_is_a_control_span() {
    let bytes = [SETTINGS, &data(END_STREAM, 1, b"")].concat();
    assert_eq!(walk(FrameWalker::of_responses(), &[&bytes]), ["control 18"]);
}

#[test]
fn spans_continue_over_any_chunking() {
    let bytes = [SETTINGS, &data(0, 1, b"abc"), &ping()].concat();
    let chunks: Vec<&[u8]> = bytes.chunks(1).collect();
    let spans = walk(FrameWalker::of_responses(), &chunks);
    assert_eq!(spans.iter().filter(|span| *span == "control 1").count(), 9 + 9 + 17);
    assert_eq!(spans.iter().filter(|span| !span.starts_with("control")).collect::<Vec<_>>(), ["1 [97]", "1 [98]", "1 [99]"]);
}

#[test]
fn bytes_that_are_not_http2_are_never_data() {
    let frames = [SETTINGS, &data(0, 1, b"abc")].concat();
    for (walker, bytes) in [
        (FrameWalker::of_requests(), [b"GET / HTTP/1.1\r\n\r\n", frames.as_slice()].concat()),
        (FrameWalker::of_requests(), frames.clone()),
        (FrameWalker::of_responses(), [b"HTTP/1.1 200 OK\r\n\r\n", frames.as_slice()].concat()),
        (FrameWalker::of_responses(), data(0, 1, b"abc")),
    ] {
        let length = bytes.len();
        let mut at_the_end = walker.clone();
        at_the_end.walk(&bytes, |_span| {});
        assert!(!at_the_end.in_sync());
        assert_eq!(walk(walker, &[&bytes]), [format!("control {length}")]);
    }
}

#[test]
fn goaway_is_seen_by_its_header() {
    let mut walker = FrameWalker::of_responses();
    walker.walk(SETTINGS, |_span| {});
    let bytes = go_away(1, 0, b"");
    walker.walk(&bytes[..8], |_span| {});
    assert!(!walker.saw_goaway());
    walker.walk(&bytes[8..9], |_span| {});
    assert!(walker.saw_goaway());
    assert!(walker.in_sync());
}

#[test]
fn frames_of_any_length_are_followed() {
    let long = data(0, 1, &vec![0; (1 << 24) - 1]);
    let bytes = [SETTINGS, &long, &frame(0xc, 0, 0, &vec![0; 70_000]), &data(0, 1, b"!")].concat();
    let spans = walk(FrameWalker::of_responses(), &[&bytes]);
    assert_eq!(spans.len(), 4);
    assert_eq!(spans[2..], [format!("control {}", 9 + 70_000 + 9), "1 [33]".to_owned()]);
}

#[track_caller]
fn walk(mut walker: FrameWalker, chunks: &[&[u8]]) -> Vec<String> {
    let mut spans = Vec::new();
    for chunk in chunks {
        let mut length = 0;
        walker.walk(chunk, |span| match span {
            Span::Control(Redacted(bytes)) => {
                assert!(!bytes.is_empty());
                length += bytes.len();
                spans.push(format!("control {}", bytes.len()));
            }
            Span::Data { stream, bytes: Redacted(bytes) } => {
                assert!(!bytes.is_empty());
                length += bytes.len();
                spans.push(format!("{stream} {:?}", &bytes[..bytes.len().min(8)]));
            }
        });
        assert_eq!(length, chunk.len());
    }
    spans
}
