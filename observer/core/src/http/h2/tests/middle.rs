//! Decoding that begins in the middle of a connection.

use expect_test::{Expect, expect};

use super::super::super::Direction::{self, Request, Response};
use super::super::super::Start;
use super::transcript::Tap;
use super::wire::{END_STREAM, data, field, get, headers, ping, rst_stream, window_update};

#[test]
fn three_plausible_headers_prove_a_boundary() {
    check(
        &[
            (Request, b"rest of a frame".to_vec()),
            (Request, [ping(), window_update(0, 1), headers(END_STREAM, 7, &get("/a"))].concat()),
            (Request, headers(END_STREAM, 9, &get("/b"))),
        ],
        &expect![[r"
            > 7 request GET /a identity=-
            > 7 end
            > 9 request GET /b identity=-
            > 9 end
        "]],
    );
}

#[test]
fn failed_boundary_candidate_is_replaced_at_the_next_call() {
    let begins_in_a_body = [data(0, 1, b"").as_slice(), b"no header at all"].concat();
    check(
        &[(Request, begins_in_a_body), (Request, [ping(), ping(), ping()].concat()), (Request, headers(END_STREAM, 9, &get("/b")))],
        &expect![[r"
            > 9 request GET /b identity=-
            > 9 end
        "]],
    );
}

#[test]
fn gap_before_the_proof_restarts_it() {
    let mut tap = Tap::new(Start::Middle);
    tap.bytes(Request, &[ping(), ping()].concat());
    tap.gap(Request, None, 1);
    tap.bytes(Request, &[ping(), headers(END_STREAM, 7, &get("/a"))].concat());
    tap.bytes(Request, &headers(END_STREAM, 9, &get("/b")));
    assert_eq!(tap.text(), "> 9 request GET /b identity=-\n> 9 end\n");
}

#[test]
fn fields_from_unseen_table_entries_are_unknown() {
    check(
        &[
            (Request, proof()),
            (Response, proof()),
            // Method and path come from table entries that were never seen.
            (Request, headers(END_STREAM, 7, b"\xbe\xbf\x87\xc0")),
            (Response, headers(END_STREAM, 7, b"\x88\xbe")),
            (Request, headers(END_STREAM, 9, &[get("/b"), field("accept", "a/b")].concat())),
        ],
        &expect![[r"
            > 7 request ? ? identity=? accept=? audit-id=? content-type=? user-agent=?
            > 7 end
            < 7 response 200 accept=? audit-id=? content-type=? user-agent=?
            < 7 end
            > 9 request GET /b identity=- accept=a/b
            > 9 end
        "]],
    );
}

#[test]
fn response_to_an_unseen_request_is_reported_without_it() {
    check(
        &[
            (Request, proof()),
            (Response, proof()),
            (Response, headers(0, 5, b"\x88")),
            (Response, data(END_STREAM, 5, b"x")),
            (Request, data(0, 7, b"upload")),
            // These are trailers, as there is no pseudo-header field.
            (Request, headers(END_STREAM, 7, &field("a", "b"))),
            (Response, rst_stream(7, 0)),
            // Frames that are still under way after a reset are not reported.
            (Response, data(0, 7, b"x")),
            (Response, data(0, 3, b"event")),
            (Request, headers(END_STREAM, 9, &get("/b"))),
            (Response, data(END_STREAM, 3, b"")),
            (Response, rst_stream(3, 0)),
        ],
        &expect![[r#"
            > 5 request ? ? identity=? accept=? audit-id=? content-type=? user-agent=?
            < 5 response 200
            < 5 body "x"
            < 5 end
            > 3 request ? ? identity=? accept=? audit-id=? content-type=? user-agent=?
            < 3 response ? accept=? audit-id=? content-type=? user-agent=?
            < 3 body "event"
            > 9 request GET /b identity=-
            > 9 end
            < 3 end
        "#]],
    );
}

#[test]
fn new_stream_starts_with_a_request_even_without_known_fields() {
    check(
        &[
            (Request, proof()),
            (Response, proof()),
            (Request, headers(END_STREAM, 7, &get("/a"))),
            (Request, headers(END_STREAM, 9, b"\xbe\xbf")),
            (Response, headers(END_STREAM, 9, b"\x88")),
        ],
        &expect![[r"
            > 7 request GET /a identity=-
            > 7 end
            > 9 request ? ? identity=? accept=? audit-id=? content-type=? user-agent=?
            > 9 end
            < 9 response 200
            < 9 end
        "]],
    );
}

#[test]
fn response_with_a_possibly_unseen_head_has_no_head() {
    check(
        &[
            (Request, proof()),
            (Request, headers(END_STREAM, 7, &get("/missed"))),
            (Request, headers(END_STREAM, 9, &get("/trailers"))),
            (Request, headers(END_STREAM, 11, &get("/seen"))),
            (Response, proof()),
            (Response, data(0, 7, b"x")),
            (Response, headers(END_STREAM, 9, &field("a", "b"))),
            (Response, headers(0, 11, b"\x88")),
            (Response, data(END_STREAM, 7, b"x")),
        ],
        &expect![[r"
            > 7 request GET /missed identity=-
            > 7 end
            > 9 request GET /trailers identity=-
            > 9 end
            > 11 request GET /seen identity=-
            > 11 end
            < 9 end
            < 11 response 200
            < 7 end
        "]],
    );
}

#[test]
fn possibly_unseen_response_is_not_reported_as_cut() {
    let mut tap = Tap::new(Start::Middle);
    tap.bytes(Request, &[proof(), headers(END_STREAM, 7, &get("/a"))].concat());
    tap.bytes(Response, &proof());
    tap.bytes(Request, &headers(END_STREAM, 9, &get("/b")));
    tap.end(Response);
    assert_eq!(tap.text(), "> 7 request GET /a identity=-\n> 7 end\n> 9 request GET /b identity=-\n> 9 end\n< 9 cut\n");
}

#[test]
fn later_frames_show_that_an_unknown_status_is_final() {
    let unknown_status = b"\xbe";
    check(
        &[
            (Request, proof()),
            (Response, proof()),
            (Request, headers(END_STREAM, 7, &get("/data"))),
            (Response, headers(0, 7, unknown_status)),
            (Request, headers(END_STREAM, 9, &get("/interim"))),
            (Response, headers(0, 9, unknown_status)),
            (Response, data(END_STREAM, 7, b"x")),
            (Response, headers(END_STREAM, 9, b"\x88")),
            (Request, headers(END_STREAM, 11, &get("/end"))),
            (Response, headers(END_STREAM, 11, unknown_status)),
            (Request, headers(END_STREAM, 13, &get("/trailers"))),
            (Response, headers(0, 13, unknown_status)),
            (Response, headers(END_STREAM, 13, &field("a", "b"))),
        ],
        &expect![[r#"
            > 7 request GET /data identity=-
            > 7 end
            > 9 request GET /interim identity=-
            > 9 end
            < 7 response ? accept=? audit-id=? content-type=? user-agent=?
            < 7 body "x"
            < 7 end
            < 9 response 200
            < 9 end
            > 11 request GET /end identity=-
            > 11 end
            < 11 response ? accept=? audit-id=? content-type=? user-agent=?
            < 11 end
            > 13 request GET /trailers identity=-
            > 13 end
            < 13 response ? accept=? audit-id=? content-type=? user-agent=?
            < 13 end
        "#]],
    );
}

#[test]
fn windows_are_unknown_after_a_start_in_the_middle() {
    let mut tap = Tap::new(Start::Middle);
    tap.bytes(Request, &proof());
    tap.bytes(Request, &headers(END_STREAM, 9, &get("/b")));
    assert_eq!(tap.decoder.send_window(Response, None), None);
    assert_eq!(tap.decoder.send_window(Response, Some(9)), None);
}

fn proof() -> Vec<u8> {
    [ping(), ping(), ping()].concat()
}

#[track_caller]
fn check(frames: &[(Direction, Vec<u8>)], expected: &Expect) {
    let mut tap = Tap::new(Start::Middle);
    for (direction, bytes) in frames {
        tap.bytes(*direction, bytes);
    }
    expected.assert_eq(&tap.text());
}
