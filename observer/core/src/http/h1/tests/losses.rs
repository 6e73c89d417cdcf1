//! Gaps, ends, bounds and bytes that are not HTTP.

use expect_test::expect;

use super::script::{check, client, client_end, client_gap, run, server, server_end, server_gap};
use crate::http::Start;
use crate::http::h1::lines::MAX_HEAD;
use crate::http::h1::lines::MAX_LINE;
use crate::http::h1::pairing::MAX_UNANSWERED;

const GET: &str = "GET /a HTTP/1.1\r\n\r\n";
const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const TEN: &str = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn gap_in_a_body_of_known_length_is_reported_exactly() {
    check(
        &[client(GET), server(format!("{TEN}ab")), server_gap(5), server("xyz"), client(GET), server(EMPTY)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "ab"
        #1 < gap 5
        #1 < body "xyz"
        #1 < end
        #2 > GET /a
        #2 > end
        #2 < 200
        #2 < end
    "#]],
    );
    check(
        &[client(GET), server(TEN), server_gap(10), client(GET), server(EMPTY)],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < gap 10
        #1 < end
        #2 > GET /a
        #2 > end
        #2 < 200
        #2 < end
    "]],
    );
}

#[test]
fn gap_in_a_chunk_is_reported_exactly() {
    check(
        &[
            client(GET),
            server(format!("{CHUNKED}8\r\nab")),
            server_gap(3),
            server("xyz\r\n4\r\n"),
            server_gap(4),
            server("\r\n0\r\n\r\n"),
        ],
        &expect![[r#"
            #1 > GET /a
            #1 > end
            #1 < 200
            #1 < body "ab"
            #1 < gap 3
            #1 < body "xyz"
            #1 < gap 4
            #1 < end
        "#]],
    );
}

#[test]
fn gap_in_an_upload_is_reported_exactly() {
    check(
        &[client("PUT /a HTTP/1.1\r\nContent-Length: 10\r\n\r\nab"), client_gap(8), client(GET), server(EMPTY), server(EMPTY)],
        &expect![[r#"
            #1 > PUT /a
            #1 > body "ab"
            #1 > gap 8
            #1 > end
            #2 > GET /a
            #2 > end
            #1 < 200
            #1 < end
            #2 < 200
            #2 < end
        "#]],
    );
}

#[test]
fn gap_in_a_close_delimited_body_is_reported() {
    check(
        &[client(GET), server("HTTP/1.1 200 OK\r\n\r\nab"), server_gap(1 << 40), server("c"), server_end()],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "ab"
        #1 < gap 1099511627776
        #1 < body "c"
        #1 < end
    "#]],
    );
}

#[test]
fn gap_beyond_a_known_length_stops_decoding_responses_only() {
    check(
        &[client(GET), server(format!("{TEN}ab")), server_gap(9), server(EMPTY), client(GET), server(EMPTY)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "ab"
        #1 < gap 8
        #1 < end
        < stopped: Gap
        #2 > GET /a
        #2 > end
    "#]],
    );
}

#[test]
fn gap_in_framing_stops_decoding() {
    check(
        &[client(GET), server("HTTP/1.1 200"), server_gap(1), server_end()],
        &expect![[r"
        #1 > GET /a
        #1 > end
        < stopped: Gap
    "]],
    );
    check(
        &[client(GET), server(format!("{CHUNKED}1\r\na")), server_gap(1), server(EMPTY)],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "a"
        < stopped: Gap
    "#]],
    );
    check(
        &[client(GET), server(format!("{CHUNKED}1\r\n")), server_gap(2)],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < gap 1
        < stopped: Gap
    "]],
    );
}

#[test]
fn gap_between_requests_keeps_earlier_requests_answered() {
    check(
        &[client(GET), client_gap(20), server(EMPTY), server(EMPTY), client(GET)],
        &expect![[r"
        #1 > GET /a
        #1 > end
        > stopped: Gap
        #1 < 200
        #1 < end
        < stopped: Gap
    "]],
    );
}

#[test]
fn end_of_connection_cuts_incomplete_messages() {
    check(
        &[client("PUT /a HTTP/1.1\r\nContent-Length: 3\r\n\r\na"), client_end(), server(EMPTY), server_end()],
        &expect![[r#"
        #1 > PUT /a
        #1 > body "a"
        #1 > cut
        #1 < 200
        #1 < end
    "#]],
    );
    check(
        &[client(GET), server(format!("{TEN}abc")), server_end()],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "abc"
        #1 < cut
    "#]],
    );
    check(
        &[client(GET), server(format!("{CHUNKED}1\r\na\r\n")), server_end()],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "a"
        #1 < cut
    "#]],
    );
    check(
        &[client(format!("{GET}{GET}{GET}")), server(format!("{EMPTY}HTTP/1.1 2")), server_end()],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #2 > GET /a
        #2 > end
        #3 > GET /a
        #3 > end
        #1 < 200
        #1 < end
        #2 < cut
        #3 < cut
    "]],
    );
    check(&[client("GET /a HT"), client_end(), server_end()], &expect![[""]]);
}

#[test]
fn request_after_the_server_closed_is_cut_immediately() {
    check(
        &[client(GET), server(EMPTY), server_end(), client(GET)],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < end
        #2 > GET /a
        #2 < cut
        #2 > end
    "]],
    );
}

#[test]
fn response_without_a_request_is_malformed() {
    check(
        &[server("HTTP/1.1 408 Request Timeout\r\n\r\n"), server_end()],
        &expect![[r"
        < malformed at 0: response without a request
        < stopped: Malformed
    "]],
    );
    check(
        &[client(GET), server(format!("{EMPTY}{EMPTY}"))],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < end
        < malformed at 38: response without a request
        < stopped: Malformed
    "]],
    );
}

#[test]
fn non_http_bytes_are_malformed_at_their_line_start() {
    check(
        &[client("\x16\x03\x01\x02\n")],
        &expect![[r"
        > malformed at 0: request line without a target
        > stopped: Malformed
    "]],
    );
    check(
        &[client(format!("{GET}GET /a HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n"))],
        &expect![[r"
        #1 > GET /a
        #1 > end
        > malformed at 45: field line without a colon
        > stopped: Malformed
    "]],
    );
    check(
        &[client(GET), server("SSH-2.0-OpenSSH\r\n")],
        &expect![[r"
        #1 > GET /a
        #1 > end
        < malformed at 0: status line without a status
        < stopped: Malformed
    "]],
    );
    check(
        &[client(GET), server(format!("{CHUNKED}xyz\r\n"))],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 200
        < malformed at 47: chunk size is not a hexadecimal number
        < stopped: Malformed
    "]],
    );
    check(
        &[client(GET), server(format!("{CHUNKED}1\r\nabc"))],
        &expect![[r#"
        #1 > GET /a
        #1 > end
        #1 < 200
        #1 < body "a"
        < malformed at 51: chunk is longer than its size
        < stopped: Malformed
    "#]],
    );
    check(
        &[client(GET), server(format!("{CHUNKED}11111111111111111\r\n"))],
        &expect![[r"
        #1 > GET /a
        #1 > end
        #1 < 200
        < malformed at 47: chunk size is not a hexadecimal number
        < stopped: Malformed
    "]],
    );
}

#[test]
fn head_with_invalid_framing_is_reported_before_decoding_stops() {
    check(
        &[
            client("POST /a HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\nabc"),
            server("HTTP/1.1 501 Not Implemented\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        ],
        &expect![[r"
            #1 > POST /a
            > malformed at 0: chunked is not the last transfer coding of the request
            > stopped: Malformed
            #1 < 501
            < malformed at 0: content-length is not one number
            < stopped: Malformed
        "]],
    );
}

#[test]
fn head_is_read_up_to_its_limit_in_bounded_memory() {
    let field = format!("X-Long: {}\r\n", "x".repeat(MAX_LINE * 2));
    let fields = field.repeat(7);
    let head = run(Start::Beginning, &[client(format!("GET /a HTTP/1.1\r\n{fields}")), client("User-Agent: a\r\n\r\n")]);
    assert_eq!(head.text(), "#1 > GET /a user-agent=a\n#1 > end\n");

    let endless = vec![client("GET /a HTTP/1.1\r\nX: "); 1].into_iter().chain(vec![client(vec![b'x'; 10_000]); 106]);
    let endless = run(Start::Beginning, &endless.collect::<Vec<_>>());
    assert_eq!(endless.text(), "> stopped: Bound\n");
    assert_eq!(endless.most_held, MAX_LINE);

    let empty_lines = run(Start::Beginning, &[client(vec![b'\n'; usize::try_from(MAX_HEAD).unwrap() + 1])]);
    assert_eq!(empty_lines.text(), "> stopped: Bound\n");
}

#[test]
fn overlong_start_line_stops_decoding() {
    let long = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(MAX_LINE));
    assert_eq!(run(Start::Beginning, &[client(long)]).text(), "> stopped: Bound\n");
}

#[test]
fn endless_trailers_and_chunk_sizes_stop_decoding() {
    let trailers = format!("{CHUNKED}0\r\n{}", "X: y\r\n".repeat(200_000));
    let trailers = run(Start::Beginning, &[client(GET), server(trailers)]);
    assert!(trailers.text().ends_with("< stopped: Bound\n"), "{}", trailers.text());

    let size = vec![client(GET), server(CHUNKED)].into_iter().chain(vec![server(vec![b'0'; 1000]); 70]);
    let size = run(Start::Beginning, &size.collect::<Vec<_>>());
    let expected = format!("< malformed at {}: chunk size line is too long\n< stopped: Malformed\n", CHUNKED.len());
    assert!(size.text().ends_with(&expected), "{}", size.text());
    assert!(size.most_held <= MAX_LINE);
}

#[test]
fn too_many_unanswered_requests_stop_decoding() {
    let requests = run(Start::Beginning, &[client(GET.repeat(MAX_UNANSWERED + 1)), server(EMPTY.repeat(MAX_UNANSWERED + 1))]);
    assert_eq!(requests.most_unanswered, MAX_UNANSWERED);
    let text = requests.text();
    assert!(text.contains("#1024 > end\n> stopped: Bound\n#1 < 200\n"), "{text}");
    assert!(text.ends_with("#1024 < 200\n#1024 < end\n< stopped: Bound\n"), "{text}");
}
