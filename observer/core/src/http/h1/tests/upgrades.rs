//! Exec, attach, port-forward and tunnels: the bytes after the upgrade are only counted.

use expect_test::expect;

use super::script::{check, client, client_end, client_gap, run, server, server_end, server_gap};
use crate::http::Start;
use crate::http::h1::undecided::MAX_UNDECIDED;

const EXEC: &str = "GET /api/v1/namespaces/a/pods/b/exec?command=sh HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const SWITCHED: &str = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n";
const FORBIDDEN: &str = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno";
const GET: &str = "GET /next HTTP/1.1\r\n\r\n";

#[test]
fn upgraded_exec_bytes_are_counted() {
    check(
        &[
            client(EXEC),
            server(format!("{SWITCHED}\x01\x02")),
            client("GET / HTTP/1.1\r\n\r\n"),
            server_gap(7),
            server("x"),
            client_end(),
            server_end(),
        ],
        &expect![[r#"
            #1 > GET /api/v1/namespaces/a/pods/b/exec
            #1 > end
            #1 < 101
            #1 upgraded "websocket"
            #1 < opaque 2
            #1 > opaque 18
            #1 < opaque gap 7
            #1 < opaque 1
            #1 < end
        "#]],
    );
}

#[test]
fn bytes_sent_before_the_grant_are_counted_too() {
    check(
        &[client(format!("{EXEC}early")), client_gap(3), client("more"), server(SWITCHED)],
        &expect![[r#"
            #1 > GET /api/v1/namespaces/a/pods/b/exec
            #1 > end
            #1 < 101
            #1 upgraded "websocket"
            #1 > opaque 5
            #1 > opaque gap 7
        "#]],
    );
}

#[test]
fn refused_exec_is_followed_by_http() {
    check(
        &[client(EXEC), server(FORBIDDEN), client(GET), server("HTTP/1.1 204 No Content\r\n\r\n")],
        &expect![[r#"
        #1 > GET /api/v1/namespaces/a/pods/b/exec
        #1 > end
        #1 < 403
        #1 < body "no"
        #1 < end
        #2 > GET /next
        #2 > end
        #2 < 204
        #2 < end
    "#]],
    );
}

#[test]
fn requests_pipelined_after_exec_are_decoded_at_its_refusal() {
    check(
        &[
            client(format!("{EXEC}{GET}{EXEC}{GET}bad")),
            client_end(),
            server(FORBIDDEN),
            server(FORBIDDEN),
            server(FORBIDDEN),
            server(FORBIDDEN),
        ],
        &expect![[r#"
            #1 > GET /api/v1/namespaces/a/pods/b/exec
            #1 > end
            #1 < 403
            #2 > GET /next
            #2 > end
            #3 > GET /api/v1/namespaces/a/pods/b/exec
            #3 > end
            #1 < body "no"
            #1 < end
            #2 < 403
            #2 < body "no"
            #2 < end
            #3 < 403
            #4 > GET /next
            #4 > end
            #3 < body "no"
            #3 < end
            #4 < 403
            #4 < body "no"
            #4 < end
        "#]],
    );
}

#[test]
fn bytes_held_after_a_refused_exec_keep_their_offset() {
    check(
        &[client(format!("{EXEC}{GET}not http\r\n")), server(FORBIDDEN)],
        &expect![[r#"
            #1 > GET /api/v1/namespaces/a/pods/b/exec
            #1 > end
            #1 < 403
            #2 > GET /next
            #2 > end
            > malformed at 123: request line without a version
            > stopped: Malformed
            #1 < body "no"
            #1 < end
        "#]],
    );
}

#[test]
fn gap_after_an_exec_stops_decoding_only_after_refusal() {
    check(
        &[client(format!("{EXEC}{GET}")), client_gap(1), client(GET), server(FORBIDDEN)],
        &expect![[r#"
        #1 > GET /api/v1/namespaces/a/pods/b/exec
        #1 > end
        #1 < 403
        #2 > GET /next
        #2 > end
        > stopped: Gap
        #1 < body "no"
        #1 < end
    "#]],
    );
}

#[test]
fn server_close_without_an_answer_counts_as_refusal() {
    check(
        &[client(format!("{EXEC}{GET}")), server_end(), client(GET)],
        &expect![[r"
        #1 > GET /api/v1/namespaces/a/pods/b/exec
        #1 > end
        #1 < cut
        #2 > GET /next
        #2 < cut
        #2 > end
        #3 > GET /next
        #3 < cut
        #3 > end
    "]],
    );
}

#[test]
fn upload_that_asks_for_an_upgrade_is_read_to_its_end_first() {
    check(
        &[client("POST /a HTTP/1.1\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\na"), server(SWITCHED), client("bcPRI")],
        &expect![[r#"
            #1 > POST /a
            #1 > body "a"
            #1 < 101
            #1 upgraded "websocket"
            #1 > body "bc"
            #1 > end
            #1 > opaque 3
        "#]],
    );
}

#[test]
fn connect_starts_a_tunnel_when_it_succeeds() {
    check(
        &[
            client("CONNECT api:443 HTTP/1.1\r\n\r\n"),
            server("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"),
            client("\x16\x03"),
        ],
        &expect![[r#"
            #1 > CONNECT api:443
            #1 > end
            #1 < 200
            #1 upgraded ""
            #1 < opaque 3
            #1 > opaque 2
        "#]],
    );
    check(
        &[client("CONNECT api:443 HTTP/1.1\r\n\r\n"), server("HTTP/1.1 407 No\r\nContent-Length: 1\r\n\r\nx"), client(GET)],
        &expect![[r#"
            #1 > CONNECT api:443
            #1 > end
            #1 < 407
            #1 < body "x"
            #1 < end
            #2 > GET /next
            #2 > end
        "#]],
    );
}

#[test]
fn unrequested_101_is_malformed() {
    check(
        &[client(GET), server(SWITCHED)],
        &expect![[r"
        #1 > GET /next
        #1 > end
        < malformed at 0: 101 to a request without upgrade
        < stopped: Malformed
    "]],
    );
}

#[test]
fn undecided_bytes_are_held_up_to_a_bound_and_counted_beyond() {
    let flood = vec![b'x'; 3 * MAX_UNDECIDED];
    let granted = run(Start::Beginning, &[client(EXEC), client(flood.clone()), client(flood.clone()), server(SWITCHED)]);
    let beyond = 2 * flood.len() - MAX_UNDECIDED;
    let counted = format!("#1 > opaque {MAX_UNDECIDED}\n#1 > opaque gap {beyond}\n");
    assert!(granted.text().ends_with(&counted), "{}", granted.text());
    assert_eq!(granted.most_held, MAX_UNDECIDED);

    let long_get = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(MAX_UNDECIDED));
    let refused = run(Start::Beginning, &[client(EXEC), client(long_get), server(FORBIDDEN)]);
    assert!(refused.text().contains("> stopped: Bound\n"), "{}", refused.text());
}
