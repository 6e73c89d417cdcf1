//! Bytes that were forwarded but not passed to the decoder.

use expect_test::{Expect, expect};

use super::super::super::Direction::{Request, Response};
use super::super::super::{Event, Gap, Start};
use super::super::Decoder;
use super::transcript::Tap;
use super::wire::{
    END_HEADERS, END_STREAM, PADDED, SETTINGS, continuation, data, field, frame, get, headers, indexed_field, ping, preface,
};

/// Bytes of the server, seen or missing.
enum Offered {
    Bytes(Vec<u8>),
    Hole(Option<u32>, usize),
}

use Offered::{Bytes, Hole};

#[test]
fn gap_in_a_body_leaves_the_framing_intact() {
    check(
        vec![
            Bytes(headers(0, 1, b"\x88")),
            Bytes(data(END_STREAM, 1, b"0123456789")[..11].to_vec()),
            Hole(Some(1), 3),
            Hole(Some(1), 2),
            Bytes(b"7".to_vec()),
            Hole(None, 2),
            Bytes(headers(END_STREAM, 3, b"\x88")),
        ],
        &expect![[r#"
            < 1 response 200
            < 1 body "01"
            < 1 missing 5
            < 1 body "7"
            < 1 missing 2
            < 1 end
            < 3 response 200
            < 3 end
        "#]],
    );
}

#[test]
fn known_padding_in_a_gap_is_not_reported_missing() {
    let padded = data(PADDED, 1, b"\x02abcd\0\0");
    check(
        vec![
            Bytes(headers(0, 1, b"\x88")),
            Bytes(padded[..11].to_vec()),
            Hole(Some(1), 4),
            Bytes(padded[15..].to_vec()),
            Bytes(padded[..9].to_vec()),
            Hole(Some(1), 1),
            Bytes(padded[10..].to_vec()),
            Bytes(padded[..9].to_vec()),
            Hole(Some(1), 7),
            Bytes(data(END_STREAM, 1, b"!")),
        ],
        &expect![[r#"
            < 1 response 200
            < 1 body "a"
            < 1 missing 15
            < 1 body "!"
            < 1 end
        "#]],
    );
}

#[test]
fn possible_padding_in_a_gap_is_reported_missing_immediately() {
    let mut decoder = Decoder::new(Start::Beginning);
    let mut sink = |_event: Event<'_>| {};
    decoder.bytes(Request, &[preface(), headers(END_STREAM, 1, &get("/a"))].concat(), &mut sink);
    let padded = data(PADDED, 1, b"\x02abcd\0\0");
    decoder.bytes(Response, &[SETTINGS, &headers(0, 1, b"\x88"), &padded[..9]].concat(), &mut sink);
    let mut missing = Vec::new();
    let mut sink = |event: Event<'_>| missing.push(format!("{event:?}"));
    decoder.gap(Response, Gap { stream: Some(1), length: 3 }, &mut sink);
    decoder.bytes(Response, &padded[12..14], &mut sink);
    decoder.gap(Response, Gap { stream: Some(1), length: 1 }, &mut sink);
    decoder.bytes(Response, &padded[15..], &mut sink);
    assert_eq!(missing, ["BodyGap { stream: StreamId(1), direction: Response, length: 6 }"]);
}

#[test]
fn gap_in_a_header_block_makes_only_fields_unknown() {
    let block = [b"\x88".as_slice(), &indexed_field("audit-id", "a1")].concat();
    check(
        vec![
            Bytes(headers(0, 1, &block)[..9].to_vec()),
            Hole(None, 5),
            Bytes(block[5..].to_vec()),
            Bytes(data(END_STREAM, 1, b"x")),
            Bytes(headers(0, 3, b"\x88\xbe")),
            Bytes(headers(END_STREAM, 3, &field("a", "b"))),
        ],
        &expect![[r#"
            < 1 response ? accept=? audit-id=? content-type=? user-agent=?
            < 1 body "x"
            < 1 end
            < 3 response 200 accept=? audit-id=? content-type=? user-agent=?
            < 3 end
        "#]],
    );
}

#[test]
fn gap_in_a_continuation_makes_later_fields_unknown() {
    check(
        vec![
            Bytes(frame(1, END_STREAM, 1, b"\x88\x53")),
            Bytes(continuation(0, 1, b"\x01")),
            Bytes(continuation(0, 1, b"x")[..9].to_vec()),
            Hole(None, 1),
            Bytes(continuation(END_HEADERS, 1, b"\x54\x01y")),
            Bytes(headers(END_STREAM, 3, b"\x88\xbe")),
        ],
        &expect![[r"
            < 1 response 200 accept=? audit-id=? content-type=? user-agent=?
            < 1 end
            < 3 response 200 accept=? audit-id=? content-type=? user-agent=?
            < 3 end
        "]],
    );
}

#[test]
fn gap_in_an_ignored_frame_loses_nothing() {
    check(
        vec![Bytes(ping()[..9].to_vec()), Hole(None, 8), Bytes(headers(END_STREAM, 1, b"\x88"))],
        &expect![[r"
            < 1 response 200
            < 1 end
        "]],
    );
}

#[test]
fn gap_outside_one_payload_stops_decoding() {
    let in_body = || Bytes(data(0, 1, b"0123456789")[..11].to_vec());
    let stopped = expect![[r"
        < 1 response 200
        < stopped Gap
    "]];
    let stopped_in_body = expect![[r#"
        < 1 response 200
        < 1 body "01"
        < stopped Gap
    "#]];
    let head = || Bytes(headers(0, 1, b"\x88"));
    check(vec![head(), in_body(), Hole(Some(3), 1), in_body()], &stopped_in_body);
    check(vec![head(), in_body(), Hole(Some(1), 9), in_body()], &stopped_in_body);
    check(vec![head(), in_body(), Hole(None, 9), in_body()], &stopped_in_body);
    check(vec![head(), Hole(Some(1), 1), in_body()], &stopped);
    check(vec![head(), Hole(None, 1), in_body()], &stopped);
    check(vec![head(), Bytes(ping()[..4].to_vec()), Hole(None, 1)], &stopped);
    check(vec![head(), Bytes(ping()[..9].to_vec()), Hole(Some(1), 1)], &stopped);
    check(vec![head(), Bytes(frame(3, 0, 1, b"1234")[..9].to_vec()), Hole(None, 1)], &stopped);
}

/// Checks the events for `offered` in the direction of responses, with two requests open.
#[track_caller]
fn check(offered: Vec<Offered>, expected: &Expect) {
    let mut tap = Tap::new(Start::Beginning);
    let requests = [preface(), headers(END_STREAM, 1, &get("/a")), headers(END_STREAM, 3, &get("/b"))].concat();
    tap.bytes(Request, &requests);
    tap.bytes(Response, SETTINGS);
    for part in offered {
        match part {
            Bytes(bytes) => tap.bytes(Response, &bytes),
            Hole(stream, length) => tap.gap(Response, stream, length),
        }
    }
    let text = tap.text();
    let responses: String = text.lines().filter(|line| line.starts_with('<')).map(|line| line.to_owned() + "\n").collect();
    expected.assert_eq(&responses);
}
