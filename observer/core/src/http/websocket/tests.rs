//! Frames in, messages out. The frames of RFC 6455 §5.7 are among them.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{Part, WebSocket};
use crate::redacted::Redacted;

const FINAL: u8 = 0x80;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

#[test]
fn examples_of_rfc_6455_are_read() {
    let unmasked = b"\x81\x05\x48\x65\x6c\x6c\x6f";
    let masked = b"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";
    let fragmented = b"\x01\x03\x48\x65\x6c\x80\x02\x6c\x6f";
    for bytes in [unmasked.as_slice(), masked, fragmented] {
        assert_eq!(read(bytes), "\"Hello\"\nend\n");
    }
    assert_eq!(read(b"\x89\x05\x48\x65\x6c\x6c\x6f"), "", "a ping");
    assert_eq!(read(b"\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "", "a masked pong");
}

#[test]
fn lengths_of_seven_sixteen_and_sixty_four_bits_are_read() {
    for length in [0, 1, 125, 126, 65_535, 65_536, 100_000] {
        let payload = vec![b'x'; length];
        let bytes = [frame(FINAL | BINARY, &payload, None), frame(FINAL | BINARY, b"next", Some(KEY))].concat();
        let first = if length == 0 { String::new() } else { format!("{:?}\n", "x".repeat(length)) };
        assert_eq!(read(&bytes), format!("{first}end\n\"next\"\nend\n"));
    }
}

#[test]
fn control_frames_may_come_between_the_frames_of_a_message() {
    let bytes = [
        frame(TEXT, b"one ", None),
        frame(FINAL | PING, b"are you there", None),
        frame(0, b"", None),
        frame(FINAL, b"message", None),
    ];
    check(
        &bytes.concat(),
        &expect![[r#"
            "one message"
            end
        "#]],
    );
}

#[test]
fn nothing_is_reported_after_a_close_frame() {
    for (payload, code) in [(b"\x03\xe8bye".as_slice(), "Some(1000)"), (b"", "None"), (b"\x03", "None")] {
        for key in [None, Some(KEY)] {
            let bytes = [frame(FINAL | CLOSE, payload, key), frame(FINAL | TEXT, b"more", None)].concat();
            assert_eq!(read(&bytes), format!("close {code}\n"));
        }
    }
}

#[test]
fn invalid_frames_are_malformed_at_their_position() {
    let ok = frame(FINAL | TEXT, b"ok", None);
    for (wrong, what) in [
        (vec![0xc1, 0x00], "WebSocket frame of an extension"),
        (vec![0x83, 0x00], "WebSocket frame of an unknown type"),
        (frame(FINAL, b"x", None), "WebSocket message without a beginning"),
        (frame(PING, b"", None), "fragmented WebSocket control frame"),
        (frame(FINAL | PING, &[0; 126], None), "WebSocket control frame that is too long"),
        (b"\x82\x7f\xff\0\0\0\0\0\0\0".to_vec(), "WebSocket frame with an impossible length"),
        ([frame(TEXT, b"", None), frame(FINAL | TEXT, b"", None)].concat(), "WebSocket message within another"),
    ] {
        let emitted = read(&[ok.as_slice(), &wrong, &ok].concat());
        let (before, after) = emitted.split_once("malformed at ").unwrap_or_else(|| panic!("{what}: {emitted}"));
        assert_eq!(before, "\"ok\"\nend\n");
        let (at, words) = after.split_once(": ").unwrap();
        assert_eq!(words, format!("{what}\n"));
        let at: usize = at.parse().unwrap();
        assert!((ok.len()..ok.len() + wrong.len()).contains(&at), "{what} at {at}");
    }
}

#[test]
fn gap_in_a_payload_loses_only_its_bytes() {
    let mut emitted = String::new();
    let mut socket = WebSocket::default();
    let mut note = |part: Part<'_>| emitted.push_str(&describe(part));
    let first = frame(FINAL | TEXT, b"one two three", Some(KEY));
    socket.push(&first[..6 + 4], &mut note);
    socket.gap(4, &mut note);
    socket.push(&first[6 + 8..], &mut note);
    socket.push(&frame(FINAL | TEXT, b"whole", None), &mut note);
    assert_eq!(emitted, "\"one \"\ngap 4\n\"three\"\nend\n\"whole\"\nend\n");
}

#[test]
fn gap_at_the_end_of_a_payload_ends_its_message() {
    let mut emitted = String::new();
    let mut socket = WebSocket::default();
    let mut note = |part: Part<'_>| emitted.push_str(&describe(part));
    socket.push(&frame(FINAL | TEXT, b"lost", None)[..2], &mut note);
    socket.gap(4, &mut note);
    socket.push(&frame(FINAL | TEXT, b"whole", None), &mut note);
    assert_eq!(emitted, "gap 4\nend\n\"whole\"\nend\n");
}

#[test]
fn gap_beyond_a_payload_stops_reading() {
    for before in [0, 1, 3] {
        let mut emitted = String::new();
        let mut socket = WebSocket::default();
        let mut note = |part: Part<'_>| emitted.push_str(&describe(part));
        socket.push(&frame(FINAL | TEXT, b"lost", None)[..before], &mut note);
        socket.gap(20, &mut note);
        socket.push(&frame(FINAL | TEXT, b"whole", None), &mut note);
        assert!(socket.is_over() && !emitted.contains("whole"), "{emitted}");
    }
}

#[test]
fn gap_in_a_close_frame_hides_only_its_code() {
    let mut emitted = String::new();
    let mut socket = WebSocket::default();
    let mut note = |part: Part<'_>| emitted.push_str(&describe(part));
    socket.push(&frame(FINAL | CLOSE, b"\x03\xe8bye", None)[..3], &mut note);
    socket.gap(4, &mut note);
    assert_eq!(emitted, "close None\n");
}

proptest! {
    #[test]
    fn chunking_does_not_change_parsed_parts(
        frames in prop::collection::vec(any_frame(), 0..12),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        sizes in prop::collection::vec(1..40_usize, 1..12),
    ) {
        let mut bytes = frames.concat();
        if let Some((place, byte)) = damage.filter(|_| !bytes.is_empty()) {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        prop_assert_eq!(read_in(&bytes, &sizes), read_in(&bytes, &[usize::MAX]));
    }

    #[test]
    fn messages_round_trip_through_the_parser(
        messages in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..300), 1..80_usize, any::<Option<[u8; 4]>>()), 0..8),
        sizes in prop::collection::vec(1..40_usize, 1..12),
    ) {
        let mut bytes = Vec::new();
        for (message, fragment, key) in &messages {
            let mut pieces = message.chunks(*fragment).peekable();
            let mut opcode = BINARY;
            if pieces.peek().is_none() {
                bytes.extend(frame(FINAL | BINARY, b"", *key));
            }
            while let Some(piece) = pieces.next() {
                let is_final = if pieces.peek().is_none() { FINAL } else { 0 };
                bytes.extend(frame(is_final | std::mem::take(&mut opcode), piece, *key));
                bytes.extend(frame(FINAL | PING, b"beat", *key));
            }
        }
        let mut read = vec![Vec::new()];
        let mut socket = WebSocket::default();
        for chunk in chunks(&bytes, &sizes) {
            socket.push(chunk, &mut |part| match part {
                Part::Message(piece) => read.last_mut().unwrap().extend_from_slice(&piece),
                Part::MessageEnd => read.push(Vec::new()),
                other @ (Part::MessageGap(_) | Part::Close(_) | Part::Malformed { .. }) => panic!("{other:?}"),
            });
        }
        prop_assert_eq!(read.pop(), Some(Vec::new()));
        prop_assert_eq!(read, messages.into_iter().map(|(message, _, _)| message).collect::<Vec<_>>());
    }
}

/// One frame, masked if there is a `key`.
fn frame(first: u8, payload: &[u8], key: Option<[u8; 4]>) -> Vec<u8> {
    let mask = if key.is_some() { 0x80 } else { 0 };
    let mut bytes = vec![first];
    match payload.len() {
        length @ 0..126 => bytes.push(mask | u8::try_from(length).unwrap()),
        length @ 126..65_536 => {
            bytes.push(mask | 0x7e);
            bytes.extend(u16::try_from(length).unwrap().to_be_bytes());
        }
        length => {
            bytes.push(mask | 0x7f);
            bytes.extend(u64::try_from(length).unwrap().to_be_bytes());
        }
    }
    bytes.extend(key.iter().flatten());
    let keys = key.unwrap_or_default();
    bytes.extend(payload.iter().zip(keys.iter().cycle()).map(|(byte, key)| byte ^ key));
    bytes
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let first = prop::sample::select([FINAL | TEXT, FINAL | BINARY, BINARY, 0, FINAL, FINAL | PING, FINAL | CLOSE].as_slice());
    (first, prop::collection::vec(any::<u8>(), 0..200), any::<Option<[u8; 4]>>())
        .prop_map(|(first, payload, key)| frame(first, &payload, key))
}

#[track_caller]
fn check(bytes: &[u8], expected: &Expect) {
    expected.assert_eq(&read(bytes));
}

/// One line per part; all bytes at once and byte by byte must give the same.
#[track_caller]
fn read(bytes: &[u8]) -> String {
    let whole = read_in(bytes, &[usize::MAX]);
    assert_eq!(read_in(bytes, &[1]), whole, "byte by byte");
    whole
}

fn read_in(bytes: &[u8], sizes: &[usize]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut message = Vec::new();
    let mut socket = WebSocket::default();
    for chunk in chunks(bytes, sizes) {
        socket.push(chunk, &mut |part| match part {
            Part::Message(piece) => {
                assert!(!piece.is_empty(), "an empty slice");
                message.extend_from_slice(&piece);
            }
            other @ (Part::MessageGap(_) | Part::MessageEnd | Part::Close(_) | Part::Malformed { .. }) => {
                if !message.is_empty() {
                    lines.push(describe(Part::Message(Redacted(&std::mem::take(&mut message)))));
                }
                lines.push(describe(other));
            }
        });
    }
    if !message.is_empty() {
        lines.push(describe(Part::Message(Redacted(&message))));
    }
    lines.concat()
}

fn chunks<'b>(bytes: &'b [u8], sizes: &[usize]) -> Vec<&'b [u8]> {
    let mut sizes = sizes.iter().copied().cycle();
    let mut rest = bytes;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(sizes.next().unwrap_or(1).min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}

fn describe(part: Part<'_>) -> String {
    match part {
        Part::Message(bytes) => format!("{:?}\n", String::from_utf8_lossy(&bytes)),
        Part::MessageGap(length) => format!("gap {length}\n"),
        Part::MessageEnd => "end\n".to_owned(),
        Part::Close(code) => format!("close {code:?}\n"),
        Part::Malformed { at, what } => format!("malformed at {at}: {what}\n"),
    }
}
