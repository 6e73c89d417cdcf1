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
fn the_rest_of_a_response_is_passed_over_until_the_client_speaks() {
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
fn the_rest_of_an_upload_is_passed_over_until_the_server_has_answered() {
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
fn half_a_head_proves_nothing() {
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
fn bytes_of_an_earlier_response_leave_the_request_without_an_answer() {
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
fn half_a_line_of_an_earlier_response_is_noticed_when_the_client_speaks() {
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
fn which_of_two_requests_is_answered_is_not_guessed() {
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
fn an_upgrade_whose_answer_is_not_known_has_to_be_proved_again() {
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
fn once_proved_a_loss_is_reported() {
    check_middle(
        &[client(GET), server("HTTP/1.1 100 Continue\r\n\r\nx"), server("y\r\n")],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 100
        < malformed at 25: status line without a status
        < dark: Malformed
    "]],
    );
    check_middle(
        &[client(GET), client_gap(1), server(OK)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        > dark: Gap
        #1 < 200
        #1 < body "ok"
        #1 < end
    "#]],
    );
}

#[test]
fn ends_before_any_proof_are_silent_and_cut_what_is_proved() {
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
