//! Bytes that violate RFC 9113, and bytes beyond the decoder's bounds.

use super::super::super::Direction::{self, Request, Response};
use super::super::super::Start;
use super::transcript::Tap;
use super::wire::{
    ACK, END_HEADERS, END_STREAM, PADDED, PRIORITY, SETTINGS, continuation, data, field, frame, get, headers, preface,
    server_preface, settings, settings_ack, window_update,
};

#[test]
fn connection_errors_stop_decoding_their_direction() {
    for (direction, bytes, what) in [
        (Response, data(0, 0, b"x"), "stream frame on stream 0"),
        (Response, headers(0, 0, b"\x88"), "stream frame on stream 0"),
        (Request, headers(0, 2, b"\x82"), "request on an even stream"),
        (Response, frame(3, 0, 0, b"\0\0\0\0"), "RST_STREAM on stream 0"),
        (Response, frame(3, 0, 1, b"\0\0\0"), "RST_STREAM that is not 4 bytes long"),
        (Request, frame(5, END_HEADERS, 1, b"\0\0\0\x02"), "PUSH_PROMISE from a client"),
        (Response, frame(5, END_HEADERS, 0, b"\0\0\0\x02"), "PUSH_PROMISE on stream 0"),
        (Response, frame(4, 0, 1, b""), "connection frame on a stream"),
        (Response, frame(4, ACK, 0, b"\0\0\0\0\0\0"), "SETTINGS acknowledgement with a payload"),
        (Response, frame(4, 0, 0, b"\0\0\0\0\0"), "SETTINGS whose length is not a multiple of 6 bytes"),
        (Response, settings(&[(4, 1 << 31)]), "SETTINGS_INITIAL_WINDOW_SIZE above 2^31-1"),
        (Response, frame(6, 0, 0, b"1234567"), "PING that is not 8 bytes long"),
        (Response, frame(7, 0, 0, b"1234567"), "GOAWAY shorter than 8 bytes"),
        (Response, frame(8, 0, 0, b"123"), "WINDOW_UPDATE that is not 4 bytes long"),
        (Response, data(PADDED, 1, b"\x04abc"), "padding longer than its frame"),
        (Response, data(PADDED, 1, b""), "frame too short for its fields"),
        (Request, headers(PRIORITY, 1, b"\0\0\0\0"), "frame too short for its fields"),
        (Response, continuation(0, 1, b""), "CONTINUATION without a header block"),
        (Request, [frame(1, 0, 1, b"\x82"), data(0, 1, b"")].concat(), "frame within a header block"),
        (Request, [frame(1, 0, 1, b"\x82"), continuation(0, 3, b"")].concat(), "frame within a header block"),
        (Request, headers(0, 1, b"\xbe"), "index without a table entry"),
        (Request, headers(0, 1, b"\x53"), "header block ends within a field"),
    ] {
        let (start, stopped) = stopped(direction, &bytes);
        assert!(start.contains(what), "{what}: {start}");
        assert_eq!(stopped, "stopped Malformed", "{what}");
    }
}

#[test]
fn malformed_frame_is_reported_at_its_start() {
    let mut tap = Tap::new(Start::Beginning);
    tap.bytes(Response, &[SETTINGS, &settings_ack(), &frame(6, 0, 0, b"1")].concat());
    assert_eq!(tap.text(), "< malformed at 18: PING that is not 8 bytes long\n< stopped Malformed\n");
}

#[test]
fn other_protocols_are_not_taken_for_http2() {
    let mut tap = Tap::new(Start::Beginning);
    tap.bytes(Request, b"GET / HTTP/1.1\r\n\r\n");
    tap.bytes(Response, b"HTTP/1.1 400 Bad Request\r\n\r\n");
    assert_eq!(
        tap.text(),
        "> malformed at 0: no HTTP/2 connection preface\n> stopped Malformed\n\
         < malformed at 0: first frame is not SETTINGS\n< stopped Malformed\n"
    );
}

#[test]
fn stopped_direction_is_silent_and_the_other_continues() {
    let mut tap = begun();
    tap.bytes(Request, &headers(0, 1, &get("/a")));
    tap.bytes(Request, &headers(0, 3, &get("/b")));
    tap.bytes(Request, &frame(6, 0, 0, b"1"));
    tap.bytes(Request, &headers(0, 5, &get("/c")));
    tap.gap(Request, None, 10);
    tap.end(Request);
    tap.bytes(Response, &headers(END_STREAM, 1, b"\x88"));
    tap.end(Response);
    assert_eq!(
        tap.text(),
        "> 1 request GET /a identity=-\n> 3 request GET /b identity=-\n\
         > malformed at 63: PING that is not 8 bytes long\n> stopped Malformed\n\
         < 1 response 200\n< 1 end\n< 3 cut\n"
    );
}

#[test]
fn stream_errors_cut_only_their_message() {
    let interim_end = headers(END_STREAM, 1, &field(":status", "100"));
    let twice = [headers(0, 1, b"\x88"), headers(0, 1, b"\x88")].concat();
    let trailers = [headers(0, 1, b"\x88"), headers(0, 1, &field("a", "b"))].concat();
    for (bytes, what) in [
        (data(0, 1, b"x"), "DATA before the head of the response"),
        (headers(0, 1, &field("a", "b")), "response without :status"),
        (headers(0, 1, &field(":status", "101")), "101 on HTTP/2"),
        (interim_end, "interim response with END_STREAM"),
        (twice, "second final response"),
        (trailers, "trailers without END_STREAM"),
    ] {
        let mut tap = begun();
        tap.bytes(Request, &headers(END_STREAM, 1, &get("/a")));
        tap.bytes(Request, &headers(END_STREAM, 3, &get("/b")));
        tap.bytes(Response, &bytes);
        tap.bytes(Response, &data(END_STREAM, 1, b"more"));
        tap.bytes(Response, &headers(END_STREAM, 3, b"\x88"));
        let text = tap.text();
        assert!(text.contains(&format!(": {what}\n< 1 cut\n< 3 response 200\n< 3 end\n")), "{what}: {text}");
    }
}

#[test]
fn table_size_is_limited_by_the_settings_of_the_other_side() {
    let update = |size_minus_31: &[u8]| headers(0, 1, &[b"\x3f", size_minus_31, b"\x88"].concat());
    let (of_8192, of_4096) = (update(b"\xe1\x3f"), update(b"\xe1\x1f"));
    // More than the default, without a setting.
    assert!(stopped(Response, &of_8192).0.contains("above SETTINGS_HEADER_TABLE_SIZE"));

    let mut tap = begun();
    tap.bytes(Request, &settings(&[(1, 8192)]));
    tap.bytes(Response, &[settings_ack(), of_8192].concat());
    tap.bytes(Request, &settings(&[(1, 100)]));
    tap.bytes(Response, &of_4096);
    tap.bytes(Response, &settings_ack());
    tap.bytes(Response, &of_4096);
    assert_eq!(
        tap.text(),
        "< malformed at 62: table size above SETTINGS_HEADER_TABLE_SIZE\n< stopped Malformed\n",
        "4096 is right until the setting of 100 is acknowledged"
    );
}

#[test]
fn continuation_flood_stops_decoding() {
    let mut tap = begun();
    tap.bytes(Request, &frame(1, 0, 1, &get("/a")));
    for _ in 0..200_000 {
        tap.bytes(Request, &continuation(0, 1, b""));
    }
    assert_eq!(tap.text(), "> stopped Bound\n");
}

#[test]
fn overlong_header_block_stops_decoding() {
    let mut tap = begun();
    tap.bytes(Request, &headers(0, 1, &vec![0x82; (1 << 20) - 9]));
    tap.bytes(Request, &headers(0, 3, &vec![0x82; 1 << 20]));
    assert_eq!(tap.text(), "> 1 request GET - identity=-\n> stopped Bound\n");
}

#[test]
fn too_many_open_streams_stop_decoding() {
    let mut tap = begun();
    for stream in (1..=20_001).step_by(2) {
        tap.bytes(Request, &headers(0, stream, b"\x82"));
    }
    let text = tap.text();
    assert_eq!(text.lines().filter(|line| line.contains("request")).count(), 10_000);
    assert!(text.ends_with("> stopped Bound\n"));
}

#[test]
fn streams_awaiting_only_a_stopped_direction_are_not_counted() {
    let mut tap = begun();
    for stream in (1..20_001).step_by(2) {
        tap.bytes(Request, &headers(END_STREAM, stream, b"\x82"));
    }
    tap.bytes(Response, &frame(6, 0, 0, b"1"));
    tap.bytes(Request, &headers(END_STREAM, 20_001, b"\x82"));
    assert!(tap.text().ends_with("< stopped Malformed\n> 20001 request GET - identity=-\n> 20001 end\n"));
}

#[test]
fn many_unacknowledged_settings_are_tolerated() {
    let mut tap = begun();
    for _ in 0..100_000 {
        tap.bytes(Request, &settings(&[(1, 64)]));
        tap.bytes(Request, &window_update(0, 1));
    }
    tap.bytes(Response, &headers(0, 1, b"\x3f\xe1\x1f\x88"));
    assert_eq!(tap.text(), "< malformed at 18: table size above SETTINGS_HEADER_TABLE_SIZE\n< stopped Malformed\n");
}

fn begun() -> Tap {
    let mut tap = Tap::new(Start::Beginning);
    tap.bytes(Request, &preface());
    tap.bytes(Response, &server_preface());
    tap
}

/// The last two lines; the second one without its arrow.
#[track_caller]
fn stopped(direction: Direction, bytes: &[u8]) -> (String, String) {
    let mut tap = begun();
    tap.bytes(direction, bytes);
    let text = tap.text();
    let mut lines = text.lines().rev();
    let (stopped, malformed) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    (malformed.to_owned(), stopped.get(2..).unwrap_or_default().to_owned())
}
