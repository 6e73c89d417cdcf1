//! HTTP/1.1 traffic of clients and API servers, including watches and upgrades.

use super::bodies::{
    config_map_json, refusal_json, secrets_cbor, secrets_gzip, secrets_json, secrets_protobuf, table_json, watch_json,
};
use super::secrets::{basic, jwt, secret};
use crate::dialogue::{Dialogue, client, server};

pub(super) fn conversations() -> Vec<(&'static str, Dialogue)> {
    vec![
        ("reads", reads()),
        ("writes", writes()),
        ("a watch", watch()),
        ("a watch over WebSocket", watch_over_websocket()),
        ("exec over WebSocket", exec_over_websocket()),
        ("exec over SPDY", exec_over_spdy()),
    ]
}

fn reads() -> Dialogue {
    let secrets = "/api/v1/namespaces/default/secrets";
    let json = secrets_json("secret data json");
    vec![
        client(get(&format!("{secrets}?token={}&limit=500&access_token={}", secret("query token"), secret("query access_token")))),
        server(answer(200, "application/json", &format!("Set-Cookie: session={}\r\n", secret("set-cookie")), json.as_bytes())),
        client(request(&format!("GET {secrets}"), &format!("Authorization: Basic {}\r\n", basic()), "")),
        server(chunked("application/json", &json)),
        client(request(&format!("GET {secrets}/a"), &format!("Authorization: Bearer {}\r\n", jwt()), "")),
        server(answer(200, "application/vnd.kubernetes.protobuf", "", &secrets_protobuf("secret data protobuf"))),
        client(request(&format!("GET {secrets}/b"), &format!("Cookie: session={}\r\n", secret("cookie")), "")),
        server(answer(200, "application/cbor", "", &secrets_cbor())),
        client(request(
            &format!("GET {secrets}/c"),
            &format!("Authorization: Bearer x\r\n {}\r\n", secret("authorization continued on a line of its own")),
            "",
        )),
        server(answer(200, "application/json", "Content-Encoding: gzip\r\n", &secrets_gzip())),
        client(get("/api/v1/namespaces/default/configmaps")),
        server(answer(200, "application/json;as=Table;v=v1;g=meta.k8s.io", "", table_json().as_bytes())),
        client(get("/api/v1/namespaces/default/pods/p/log?follow=true")),
        server(answer(200, "text/plain", "", secret("log stream").as_bytes())),
        client(get("/version")),
        server(answer(
            200,
            "application/json",
            "",
            format!(r#"{{"gitVersion":"v1.34.4","x":"{}"}}"#, secret("plain text body")).as_bytes(),
        )),
        // {"v":"meta.k8s.io/v1","rv":5,"start":"x\u0000"}
        client(get("/api/v1/nodes?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJ4XHUwMDAwIn0")),
        server(answer(429, "text/plain", "", secret("plain text body").as_bytes())),
    ]
}

fn writes() -> Dialogue {
    let apply = "PATCH /api/v1/namespaces/default/configmaps/x?fieldManager=test";
    let review = format!(r#"{{"kind":"TokenReview","spec":{{"token":"{}"}}}}"#, secret("request body token review"));
    let issued =
        format!(r#"{{"kind":"TokenRequest","metadata":{{}},"status":{{"token":"{}"}}}}"#, secret("response token request"));
    let token = format!("Authorization: Bearer {}\r\n", secret("authorization bearer"));
    vec![
        client(request("POST /api/v1/namespaces/default/secrets", &token, &secrets_json("request body create"))),
        server(answer(201, "application/json", "", secrets_json("request body create").as_bytes())),
        client(request(apply, "Content-Type: application/apply-patch+yaml\r\n", &config_map_json("request body patch"))),
        server(answer(422, "application/json", "", refusal_json().as_bytes())),
        client(request("POST /apis/authentication.k8s.io/v1/tokenreviews", &token, &review)),
        server(answer(201, "application/json", "", review.as_bytes())),
        client(request("POST /api/v1/namespaces/default/serviceaccounts/robot/token", &token, "{}")),
        server(answer(201, "application/json", "", issued.as_bytes())),
        client(request("PUT /api/v1/namespaces/default/configmaps/x", &token, &config_map_json("config map data"))),
        server(answer(200, "application/json", "", config_map_json("config map data").as_bytes())),
    ]
}

fn watch() -> Dialogue {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let watch = get("/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=5");
    vec![client(watch), server(head), server(watch_json("watch event"))]
}

fn watch_over_websocket() -> Dialogue {
    let event = format!(r#"{{"type":"ADDED","object":{}}}"#, config_map_json("watch event websocket"));
    let upgrade = upgrade("GET", "/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=4", "websocket");
    let not_json = secret("watch event websocket");
    vec![
        client(upgrade),
        server(switching("websocket")),
        server(frame(0x81, event.as_bytes(), None)),
        client(frame(0x81, not_json.as_bytes(), Some(*b"\x0f\x1e\x2d\x3c"))),
        server(frame(0x81, not_json.as_bytes(), None)),
        server(frame(0x89, not_json.as_bytes(), None)),
    ]
}

fn exec_over_websocket() -> Dialogue {
    let upgrade = upgrade("GET", &exec_path("ws"), "websocket");
    let stdin = [b"\0".to_vec(), secret("exec stdin websocket").into_bytes()].concat();
    let stdout = [b"\x01".to_vec(), secret("exec stdout websocket").into_bytes()].concat();
    vec![
        client(upgrade),
        server(switching("websocket")),
        client(frame(0x82, &stdin, Some(*b"\0\0\0\0"))),
        client(frame(0x82, &stdin, Some(*b"mask"))),
        server(frame(0x82, &stdout, None)),
    ]
}

fn exec_over_spdy() -> Dialogue {
    let stream = secret("exec stream spdy");
    let upgrade = upgrade("POST", &exec_path("spdy"), "SPDY/3.1");
    vec![client(upgrade), server(switching("SPDY/3.1")), client(stream.clone()), server(stream)]
}

fn exec_path(pod: &str) -> String {
    format!("/api/v1/namespaces/default/pods/{pod}/exec?command={}&stdin=true", secret("query command of exec"))
}

fn get(target: &str) -> Vec<u8> {
    let headers = format!(
        "Authorization: Bearer {}\r\nX-Remote-Extra: {}\r\nTraceparent: {}\r\n",
        secret("authorization bearer"),
        secret("header off the list"),
        secret("traceparent")
    );
    request(&format!("GET {target}"), &headers, "")
}

fn request(line: &str, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("{line} HTTP/1.1\r\nHost: x\r\nUser-Agent: canary/1.0\r\n{headers}Content-Length: {length}\r\n\r\n{body}").into_bytes()
}

fn answer(status: u16, media_type: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Said\r\nContent-Type: {media_type}\r\n{headers}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

fn chunked(media_type: &str, body: &str) -> Vec<u8> {
    let (size, extension, trailer) = (body.len(), secret("chunk extension"), secret("trailer"));
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nTransfer-Encoding: chunked\r\n\r\n\
         {size:x};x={extension}\r\n{body}\r\n0\r\nX-Checksum: {trailer}\r\n\r\n"
    )
    .into_bytes()
}

fn upgrade(method: &str, target: &str, protocol: &str) -> Vec<u8> {
    let subprotocol = secret("websocket subprotocol");
    format!(
        "{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n\
         Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.{subprotocol}, v5.channel.k8s.io\r\n\r\n"
    )
    .into_bytes()
}

fn switching(protocol: &str) -> Vec<u8> {
    format!("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n\r\n").into_bytes()
}

/// A WebSocket frame with less than 64 KiB of payload (RFC 6455 §5.2).
fn frame(first: u8, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    let length = u16::try_from(payload.len()).unwrap();
    let is_control = first & 0x08 != 0;
    let masked = if mask.is_some() { 0x80 } else { 0 };
    let mut bytes = vec![first];
    if is_control || length < 126 {
        bytes.push(masked | u8::try_from(length).unwrap());
    } else {
        bytes.push(masked | 0x7e);
        bytes.extend(length.to_be_bytes());
    }
    bytes.extend(mask.iter().flatten());
    let key = mask.unwrap_or_default();
    bytes.extend(payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key));
    bytes
}
