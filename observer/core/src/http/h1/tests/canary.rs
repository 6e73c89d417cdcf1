//! No part of a credential leaves the line that carried it.

use super::script::{client, run, server, split};
use crate::http::Start;

const CANARIES: [&str; 7] =
    ["c4n4ry-token", "c4n4ry-cookie", "c4n4ry-unknown", "c4n4ry-query", "c4n4ry-set", "c4n4ry-trailer", "c4n4ry-early"];

#[test]
fn credentials_reach_neither_events_nor_the_decoder() {
    let calls = [
        client(
            "GET /api/v1/pods?watch=1&access_token=c4n4ry-query HTTP/1.1\r\nAuthorization: Bearer c4n4ry-token\r\n\
             Cookie: session=c4n4ry-cookie\r\nX-Remote-Extra-Key: c4n4ry-unknown\r\n c4n4ry-unknown\r\n\
             Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.c4n4ry-token\r\nUpgrade: websocket\r\n\r\n",
        ),
        client("GET /early HTTP/1.1\r\nAuthorization: Basic c4n4ry-early\r\n\r\n"),
        server(
            "HTTP/1.1 403 Forbidden\r\nSet-Cookie: c4n4ry-set\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: c4n4ry-trailer\r\n\r\n",
        ),
        server("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!"),
    ];
    for start in [Start::Beginning, Start::Middle] {
        for calls in [calls.to_vec(), split(&calls, &[7])] {
            let log = run(start, &calls);
            assert!(log.text().contains("/early"), "the script is decoded: {}", log.text());
            for canary in CANARIES {
                // A buffer that derives `Debug` would print numbers.
                let numbers = format!("{:?}", canary.as_bytes());
                let numbers = numbers.trim_matches(['[', ']']);
                assert!(!log.debug.contains(canary) && !log.debug.contains(numbers), "{canary} is in: {}", log.debug);
            }
        }
    }
}
