//! Decoding that begins in the middle of a connection.

use expect_test::{Expect, expect};

use super::script::{Call, check_from, client, client_end, client_gap, server, server_end};
use crate::http::Start;

const GET: &str = "GET /a HTTP/1.1\r\n\r\n";
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn an_exchange_that_begins_at_the_first_bytes_is_decoded() {
    check_middle(
        &[client(GET), server(OK), client(GET), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "ok"
        #1 < end
        #2 > GET /a
        #2 > end
        #2 < 200
        #2 < body "ok"
        #2 < end
    "#]],
    );
}

#[test]
fn rest_of_a_response_is_skipped_until_the_next_request() {
    check_middle(
        &[server("tail of a body\r\nHTTP/1.1 200 OK\r\n\r\n"), client(GET), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "ok"
        #1 < end
    "#]],
    );
}

#[test]
fn rest_of_an_upload_is_skipped_until_the_response() {
    check_middle(
        &[client(format!("tail of a body\r\n\r\n{GET}")), server(OK), client(GET), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "ok"
        #1 < end
    "#]],
    );
}

#[test]
fn interrupted_or_invalid_head_does_not_prove_a_boundary() {
    check_middle(
        &[client("GET /a HTTP/1.1\r\nHost"), server("x"), client(": a\r\n\r\n"), server(OK), client(GET)],
        &expect![[r"
            #1 > GET /a
            #1 > end
        "]],
    );
    check_middle(&[client("GET /a HTTP/1.1\r\nTransfer-Encoding: x\r\n\r\n"), server(OK)], &expect![[""]]);
    check_middle(&[client("GET /a HTTP/1.1\r\n"), client_gap(1), client("\r\n"), server(OK)], &expect![[""]]);
}

#[test]
fn request_before_bytes_of_an_earlier_response_stays_unanswered() {
    check_middle(
        &[client(GET), server(format!("more of a body\r\n{OK}")), client(GET), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #2 > GET /a
        #2 > end
        #2 < 200
        #2 < body "ok"
        #2 < end
    "#]],
    );
}

#[test]
fn partial_line_of_an_earlier_response_is_dropped() {
    check_middle(
        &[client(GET), server("half a line"), client(GET), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #2 > GET /a
        #2 > end
        #2 < 200
        #2 < body "ok"
        #2 < end
    "#]],
    );
}

#[test]
fn response_after_two_pipelined_requests_is_not_guessed() {
    check_middle(
        &[client(GET.repeat(2)), server(OK), server(OK), client(GET), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #2 > GET /a
        #2 > end
        #3 > GET /a
        #3 > end
        #3 < 200
        #3 < body "ok"
        #3 < end
    "#]],
    );
}

#[test]
fn upgrade_without_a_known_answer_requires_a_new_proof() {
    let exec = "GET /exec HTTP/1.1\r\nUpgrade: websocket\r\n\r\n";
    check_middle(
        &[client(exec), server("frames"), client(GET), server(OK)],
        &expect![[r#"
        #1 > GET /exec
        #1 > end
        #2 > GET /a
        #2 > end
        #2 < 200
        #2 < body "ok"
        #2 < end
    "#]],
    );
    check_middle(
        &[client(exec), server("HTTP/1.1 101 X\r\n\r\nframes"), client(GET)],
        &expect![[r#"
            #1 > GET /exec
            #1 > end
            #1 < 101
            #1 upgraded ""
            #1 < opaque 6
            #1 > opaque 19
        "#]],
    );
}

#[test]
fn losses_are_reported_after_the_boundary_is_proved() {
    check_middle(
        &[client(GET), server("HTTP/1.1 100 Continue\r\n\r\nx"), server("y\r\n")],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 100
        < malformed at 25: status line without a status
        < stopped: Malformed
    "]],
    );
    check_middle(
        &[client(GET), client_gap(1), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        > stopped: Gap
        #1 < 200
        #1 < body "ok"
        #1 < end
    "#]],
    );
}

#[test]
fn end_cuts_proved_messages_and_is_silent_before_proof() {
    check_middle(&[server("x"), server_end(), client_end()], &expect![[""]]);
    check_middle(
        &[client(GET), server_end()],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < cut
    "]],
    );
}

#[track_caller]
fn check_middle(calls: &[Call], expected: &Expect) {
    check_from(Start::Middle, calls, expected);
}
