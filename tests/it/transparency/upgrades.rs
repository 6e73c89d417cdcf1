//! Connections that stop being HTTP: exec, attach and port-forward, over SPDY and over WebSocket.

use serde_json::json;

use crate::dialogue::{client, forwarded_unchanged, server};

/// Part of the bytes that both sides send after the upgrade.
const CANARY: &str = "c4n4ry-of-a-session";

const SPDY: &str = "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n";
const WEBSOCKET: &str =
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

#[test]
fn exec_over_spdy() {
    let subprotocols = "X-Stream-Protocol-Version: v5.channel.k8s.io\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n";
    check("POST", "exec?command=sh&stdin=true&stdout=true&tty=true", "spdy/3.1", &format!("{SPDY}{subprotocols}"));
}

#[test]
fn exec_over_websocket() {
    let subprotocol = "Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n";
    check("GET", "exec?command=sh&stdin=true&stdout=true&tty=true", "websocket", &format!("{WEBSOCKET}{subprotocol}"));
}

#[test]
fn attach_over_spdy() {
    check("POST", "attach?stdout=true", "spdy/3.1", &format!("{SPDY}X-Stream-Protocol-Version: v4.channel.k8s.io\r\n"));
}

#[test]
fn attach_over_websocket() {
    check("GET", "attach?stdout=true", "websocket", &format!("{WEBSOCKET}Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"));
}

#[test]
fn port_forward_over_spdy() {
    check("POST", "portforward", "spdy/3.1", &format!("{SPDY}X-Stream-Protocol-Version: portforward.k8s.io\r\n"));
}

/// SPDY within WebSocket, as kubectl uses it since 1.31.
#[test]
fn port_forward_over_websocket() {
    check("GET", "portforward", "websocket", &format!("{WEBSOCKET}Sec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"));
}

/// Both sides send valid and invalid bytes of the protocol: watchtap does not inspect them.
#[track_caller]
fn check(method: &str, subresource: &str, protocol: &str, fields: &str) {
    let request = format!("{method} /api/v1/namespaces/a/pods/b/{subresource} HTTP/1.1\r\nHost: kubernetes\r\n{fields}\r\n");
    let answer = format!("HTTP/1.1 101 Switching Protocols\r\n{fields}\r\n");
    let [typed, shown] = [upgraded_connection_bytes(1), upgraded_connection_bytes(3)];
    let answered = typed.len() + shown.len();
    let report = forwarded_unchanged(
        "http/1.1",
        vec![client(request), server(answer), client(typed.clone()), server(shown), client(typed.clone()), server(typed)],
    );
    let requests = report["requests"].as_array().unwrap();
    let [request] = &requests[..] else { panic!("{requests:#?}") };
    assert_eq!((&request["status"], &request["upgraded"]), (&json!(101), &json!(protocol)), "{request:#}");
    assert_eq!(request["bytes"], answered, "{request:#}");
    assert_eq!((&request["items"], &request["watch"]), (&json!(0), &json!(null)), "{request:#}");
    assert_eq!((&report["missed"]["malformed"], &report["missed"]["bytes"]), (&json!(0), &json!(0)));
    assert!(!report.to_string().contains(CANARY), "{report:#}");
}

/// A SPDY/3 control frame (`SYN_STREAM`), a WebSocket frame, bytes that look like HTTP, and every byte value.
fn upgraded_connection_bytes(stream: u8) -> Vec<u8> {
    let spdy = [0x80, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00, 0x0a, 0, 0, 0, stream, 0, 0, 0, 0, 0, 0];
    let websocket = [&[0x82, 0x14, stream][..], CANARY.as_bytes()].concat();
    let http = format!(
        "GET /api/v1/secrets HTTP/1.1\r\nAuthorization: Bearer {CANARY}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
    );
    let all: Vec<u8> = (0..=255).collect();
    [&spdy[..], &websocket, http.as_bytes(), &all.repeat(300)].concat()
}
