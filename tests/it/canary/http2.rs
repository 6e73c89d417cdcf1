//! HTTP/2 traffic of clients and API servers: fields in HPACK's table, bodies in DATA frames, text in control frames.

use observer_tests::canary::huffman;

use super::bodies::{secrets_json, secrets_protobuf};
use super::secrets::{basic, jwt, secret};
use crate::dialogue::{Dialogue, client, server};

const SECRETS: &str = "/api/v1/namespaces/default/secrets?limit=500";

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;

pub(super) fn conversations() -> Vec<(&'static str, Dialogue)> {
    vec![("requests that use the table", requests())]
}

fn requests() -> Dialogue {
    // The newest entry is 62 (RFC 7541 §2.3.3); the fields of the first request are still in the table.
    let again = [indexed(2), indexed(7), indexed(67), indexed(66), indexed(65), indexed(64), indexed(63), indexed(62)];
    let create = [indexed(3), indexed(7), plain(":path", SECRETS), coded("authorization", &format!("Basic {}", basic()))];
    let jwt = [indexed(2), indexed(7), plain(":path", SECRETS), plain("authorization", &format!("Bearer {}", jwt()))];
    vec![
        client([preface(), frame(HEADERS, END_STREAM | END_HEADERS, 1, &request_fields())].concat()),
        server([settings(), response(1, "application/json", secrets_json("secret data json").as_bytes())].concat()),
        client(frame(HEADERS, END_STREAM | END_HEADERS, 3, &again.concat())),
        server(response(3, "application/vnd.kubernetes.protobuf", &secrets_protobuf("secret data protobuf"))),
        client(
            [
                frame(HEADERS, END_HEADERS, 5, &create.concat()),
                frame(DATA, END_STREAM, 5, secrets_json("request body create").as_bytes()),
                frame(HEADERS, END_STREAM | END_HEADERS, 7, &jwt.concat()),
            ]
            .concat(),
        ),
        server(response(5, "application/json", secrets_json("request body create").as_bytes())),
        server(
            [
                response(7, "application/json", b"{}"),
                frame(PING, 0, 0, &secret("ping payload").as_bytes()[7..15]),
                frame(GO_AWAY, 0, 0, &[&[0, 0, 0, 7, 0, 0, 0, 0], secret("go away debug data").as_bytes()].concat()),
            ]
            .concat(),
        ),
    ]
}

/// The head of a first request; six of its fields enter the dynamic table.
pub(super) fn request_fields() -> Vec<u8> {
    let [
        _method,
        (path, target),
        (authorization, bearer),
        (cookie, session),
        (extra, other),
        (user_agent, canary),
        (trace, parent),
    ] = plain_request_fields();
    [
        indexed(2), // :method GET
        indexed(7), // :scheme https
        plain(path, &target),
        coded(authorization, &bearer),
        coded(cookie, &session),
        plain(extra, &other),
        plain(user_agent, &canary),
        coded(trace, &parent),
    ]
    .concat()
}

/// The same fields as plain text in a process, without the scheme.
pub(super) fn plain_request_fields() -> [(&'static str, String); 7] {
    [
        (":method", "GET".to_owned()),
        (":path", format!("{SECRETS}&token={}", secret("query token"))),
        ("authorization", format!("Bearer {}", secret("authorization bearer"))),
        ("cookie", format!("session={}", secret("cookie"))),
        ("x-remote-extra", secret("header off the list")),
        ("user-agent", "canary/2.0".to_owned()),
        ("traceparent", secret("traceparent")),
    ]
}

/// Head, body and trailers.
fn response(stream: u8, media_type: &str, body: &[u8]) -> Vec<u8> {
    let head = [indexed(8), plain("content-type", media_type), coded("set-cookie", &secret("set-cookie"))];
    let trailers = plain("x-checksum", &secret("trailer"));
    [
        frame(HEADERS, END_HEADERS, stream, &head.concat()),
        frame(DATA, 0, stream, body),
        frame(HEADERS, END_STREAM | END_HEADERS, stream, &trailers),
    ]
    .concat()
}

pub(super) fn preface() -> Vec<u8> {
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), settings()].concat()
}

pub(super) fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

/// RFC 9113 §4.1.
pub(super) fn frame(frame_type: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let [_, high, middle, low] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&[high, middle, low, frame_type, flags, 0, 0, 0, stream], payload].concat()
}

/// A reference to the static or the dynamic table (RFC 7541 §6.1).
pub(super) fn indexed(index: u8) -> Vec<u8> {
    vec![0x80 | index]
}

/// A field that enters the dynamic table, without Huffman coding (RFC 7541 §6.2.1).
pub(super) fn plain(name: &str, value: &str) -> Vec<u8> {
    [vec![0x40], string(0, name.as_bytes()), string(0, value.as_bytes())].concat()
}

/// The same with a Huffman-coded value.
fn coded(name: &str, value: &str) -> Vec<u8> {
    [vec![0x40], string(0, name.as_bytes()), string(0x80, &huffman(value.as_bytes()))].concat()
}

/// A string literal (RFC 7541 §5.2), with a length of seven bits and more (§5.1).
fn string(huffman: u8, octets: &[u8]) -> Vec<u8> {
    const FULL: usize = 0x7f;
    let Some(mut rest) = octets.len().checked_sub(FULL) else {
        return [&[huffman | u8::try_from(octets.len()).unwrap()], octets].concat();
    };
    let mut bytes = vec![huffman | 0x7f];
    while rest >= 0x80 {
        bytes.push(u8::try_from(rest & FULL).unwrap() | 0x80);
        rest >>= 7;
    }
    bytes.push(u8::try_from(rest).unwrap());
    [&bytes, octets].concat()
}
