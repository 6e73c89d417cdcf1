//! Requests and responses.

use expect_test::{Expect, expect};

use super::super::super::Direction::{self, Request, Response};
use super::super::super::Start;
use super::transcript::Tap;
use super::wire::{
    END_HEADERS, END_STREAM, PADDED, PRIORITY, SETTINGS, continuation, data, field, frame, get, go_away, headers, indexed_field,
    ping, preface, rst_stream, settings_ack,
};

#[test]
fn list_is_a_request_a_response_and_a_body() {
    let block = [get("/api/v1/pods?limit=500&token=s3cret"), field("accept", "application/json")].concat();
    check(
        &[
            (Request, headers(END_STREAM, 1, &block)),
            (Response, headers(0, 1, &[b"\x88".as_slice(), &field("content-type", "application/json")].concat())),
            (Response, data(0, 1, b"{\"items\":")),
            (Response, ping()),
            (Response, data(END_STREAM, 1, b"[]}")),
        ],
        &expect![[r#"
            > 1 request GET /api/v1/pods?limit=500 identity=- accept=application/json
            > 1 end
            < 1 response 200 content-type=application/json
            < 1 body "{\"items\":[]}"
            < 1 end
        "#]],
    );
}

#[test]
fn indexed_fields_come_from_the_table() {
    let first = [get("/version"), indexed_field("user-agent", "kubectl/v1.34"), indexed_field("x-secret", "s3cret")].concat();
    check(
        &[
            (Request, headers(END_STREAM, 1, &first)),
            (Request, headers(END_STREAM, 3, &[get("/api").as_slice(), b"\xbf\xbe"].concat())),
        ],
        &expect![[r"
            > 1 request GET /version identity=- user-agent=kubectl/v1.34
            > 1 end
            > 3 request GET /api identity=- user-agent=kubectl/v1.34
            > 3 end
        "]],
    );
}

#[test]
fn only_one_valid_traceparent_is_kept() {
    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let fields = |values: &[&str]| {
        let fields: Vec<_> = values.iter().map(|value| indexed_field("traceparent", value)).collect();
        [get("/a"), fields.concat()].concat()
    };
    check(
        &[
            (Request, headers(END_STREAM, 1, &fields(&[VALID]))),
            (Request, headers(END_STREAM, 3, &[get("/b").as_slice(), b"\xbe"].concat())),
            (Request, headers(END_STREAM, 5, &fields(&[VALID, VALID]))),
            (Request, headers(END_STREAM, 7, &fields(&["c4n4ry", VALID]))),
            (Request, headers(END_STREAM, 9, &fields(&[&format!("{VALID}-more")]))),
        ],
        &expect![[r"
            > 1 request GET /a identity=- traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
            > 1 end
            > 3 request GET /b identity=- traceparent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
            > 3 end
            > 5 request GET /a identity=-
            > 5 end
            > 7 request GET /a identity=-
            > 7 end
            > 9 request GET /a identity=-
            > 9 end
        "]],
    );
}

#[test]
fn padding_and_priority_are_stripped() {
    let head = [b"\x03\x80\0\0\0\x10".as_slice(), &get("/api"), b"\0\0\0"].concat();
    check(
        &[
            (Request, headers(PADDED | PRIORITY, 1, &head)),
            (Request, data(PADDED, 1, b"\x02body\0\0")),
            (Request, data(PADDED, 1, b"\x02\0\0")),
            (Request, data(PADDED | END_STREAM, 1, b"\0!")),
        ],
        &expect![[r#"
            > 1 request GET /api identity=-
            > 1 body "body!"
            > 1 end
        "#]],
    );
}

#[test]
fn header_block_may_continue_in_continuations() {
    let block = [get("/api"), field("accept", "a/b")].concat();
    let (first, rest) = block.split_at(3);
    let (second, third) = rest.split_at(5);
    check(
        &[
            (Request, frame(1, END_STREAM, 1, first)),
            (Request, continuation(0, 1, second)),
            (Request, continuation(0, 1, b"")),
            (Request, continuation(END_HEADERS, 1, third)),
        ],
        &expect![[r"
            > 1 request GET /api identity=- accept=a/b
            > 1 end
        "]],
    );
}

#[test]
fn interim_responses_come_before_the_final_one_and_trailers_end_it() {
    check(
        &[
            (Request, headers(0, 1, &get("/api"))),
            (Response, headers(0, 1, &field(":status", "100"))),
            (Response, headers(0, 1, &field(":status", "103"))),
            (Request, data(0, 1, b"x")),
            (Request, headers(END_STREAM, 1, &field("trailer", "t"))),
            (Response, headers(0, 1, b"\x88")),
            (Response, data(0, 1, b"y")),
            (Response, headers(END_STREAM, 1, &field("trailer", "t"))),
        ],
        &expect![[r#"
            > 1 request GET /api identity=-
            < 1 interim 100
            < 1 interim 103
            > 1 body "x"
            > 1 end
            < 1 response 200
            < 1 body "y"
            < 1 end
        "#]],
    );
}

#[test]
fn response_may_be_over_before_its_request() {
    check(
        &[
            (Request, headers(0, 1, &get("/api"))),
            (Response, headers(END_STREAM, 1, b"\x8c")),
            (Request, data(END_STREAM, 1, b"late")),
        ],
        &expect![[r#"
            > 1 request GET /api identity=-
            < 1 response 400
            < 1 end
            > 1 body "late"
            > 1 end
        "#]],
    );
}

#[test]
fn frames_after_a_reset_change_only_the_header_table() {
    check(
        &[
            (Request, headers(END_STREAM, 1, &get("/a"))),
            (Request, headers(END_STREAM, 3, &get("/b"))),
            (Request, rst_stream(1, 8)),
            (Response, headers(0, 1, &[b"\x88".as_slice(), &indexed_field("audit-id", "a1")].concat())),
            (Response, data(END_STREAM, 1, b"late")),
            (Response, rst_stream(1, 5)),
            (Response, headers(END_STREAM, 3, b"\x88\xbe")),
        ],
        &expect![[r"
            > 1 request GET /a identity=-
            > 1 end
            > 3 request GET /b identity=-
            > 3 end
            > 1 reset 8
            < 3 response 200 audit-id=a1
            < 3 end
        "]],
    );
}

#[test]
fn goaway_is_reported_and_irrelevant_frames_are_ignored() {
    check(
        &[
            (Request, headers(END_STREAM, 1, &get("/a"))),
            (Request, settings_ack()),
            (Response, frame(2, 0, 1, b"\0\0\0\0\x10")),
            (Response, frame(0xc, 0xff, 0, b"origin")),
            (Response, go_away(1, 2, b"bye")),
            (Response, headers(END_STREAM, 1, b"\x88")),
        ],
        &expect![[r"
            > 1 request GET /a identity=-
            > 1 end
            < goaway last=1 code=2
            < 1 response 200
            < 1 end
        "]],
    );
}

#[test]
fn pushed_stream_is_not_reported_but_changes_the_header_table() {
    let promise = [b"\0\0\0\x02".as_slice(), &get("/pushed"), &indexed_field("audit-id", "a1")].concat();
    check(
        &[
            (Request, headers(END_STREAM, 1, &get("/a"))),
            (Response, frame(5, END_HEADERS, 1, &promise)),
            (Response, headers(0, 2, b"\x88")),
            (Response, data(END_STREAM, 2, b"pushed")),
            (Response, headers(END_STREAM, 1, b"\x88\xbe")),
        ],
        &expect![[r"
            > 1 request GET /a identity=-
            > 1 end
            < 1 response 200 audit-id=a1
            < 1 end
        "]],
    );
}

#[test]
fn successful_connect_counts_tunnel_bytes() {
    let connect = [field(":method", "CONNECT"), field(":protocol", "websocket"), get("/exec")].concat();
    let post = field(":method", "CONNECT");
    check(
        &[
            (Request, headers(0, 1, &connect)),
            (Response, headers(0, 1, b"\x88")),
            (Request, data(0, 1, b"s3cret")),
            (Response, data(END_STREAM, 1, b"s3cret too")),
            (Request, data(END_STREAM, 1, b"")),
            (Request, headers(0, 3, &post)),
            (Response, headers(0, 3, b"\x8d")),
            (Response, data(END_STREAM, 3, b"not found")),
        ],
        &expect![[r#"
            > 1 request CONNECT /exec identity=-
            < 1 response 200
            < 1 upgraded ""
            > 1 opaque 6
            < 1 opaque 10
            < 1 end
            > 1 end
            > 3 request CONNECT - identity=-
            < 3 response 404
            < 3 body "not found"
            < 3 end
        "#]],
    );
}

#[test]
fn end_cuts_open_messages_in_stream_order() {
    let mut tap = begun();
    for stream in [1, 3, 5] {
        tap.bytes(Request, &headers(0, stream, &get("/a")));
    }
    tap.bytes(Response, &headers(0, 3, b"\x88"));
    tap.bytes(Response, &headers(END_STREAM, 5, b"\x88"));
    tap.end(Response);
    tap.end(Response);
    tap.bytes(Response, &headers(0, 1, b"\x88"));
    tap.end(Request);
    expect![[r"
        > 1 request GET /a identity=-
        > 3 request GET /a identity=-
        > 5 request GET /a identity=-
        < 3 response 200
        < 5 response 200
        < 5 end
        < 1 cut
        < 3 cut
        > 1 cut
        > 3 cut
        > 5 cut
    "]]
    .assert_eq(&tap.text());
}

fn begun() -> Tap {
    let mut tap = Tap::new(Start::Beginning);
    tap.bytes(Request, &preface());
    tap.bytes(Response, SETTINGS);
    tap
}

#[track_caller]
fn check(frames: &[(Direction, Vec<u8>)], expected: &Expect) {
    let mut tap = begun();
    for (direction, bytes) in frames {
        tap.bytes(*direction, bytes);
    }
    expected.assert_eq(&tap.text());
}
