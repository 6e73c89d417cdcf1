//! Traffic that violates the standards, with canaries where an error message could quote them.

use super::bodies::{secrets_json, secrets_protobuf};
use super::http2::{DATA, END_HEADERS, END_STREAM, HEADERS, frame, indexed, plain, preface, settings};
use super::secrets::secret;
use crate::dialogue::{Dialogue, client, server};

pub(super) fn of_http1() -> Vec<(&'static str, Dialogue)> {
    let get = |number: u8| client(format!("GET /api/v1/namespaces/default/secrets?limit={number} HTTP/1.1\r\nHost: x\r\n\r\n"));
    let answer = |media_type: &str, body: &[u8]| {
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n");
        server([head.as_bytes(), body].concat())
    };
    let [line, status, field, size, noise] =
        ["bad request line", "bad status line", "header without a colon", "chunk size", "no http at all"].map(secret);
    let broken = secrets_json("bad json").replace(r#""data":"#, &format!(r#""data" {} :"#, secret("bad json")));
    let text = secret("bad protobuf");
    let wrong = [&secrets_protobuf("bad protobuf")[..40], &b"\xff\xff\xff\xff\xff\xff\xff\xff"[..], text.as_bytes()];
    let chunk = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{size}\r\n");
    vec![
        ("a method that is none", vec![client(format!("{line} /api/v1/pods HTTP/1.1\r\n\r\n")), server("HTTP/1.1 400 x\r\n\r\n")]),
        ("a version that is none", vec![client(format!("GET /api/v1/pods {line}\r\n\r\n")), server("HTTP/1.1 400 x\r\n\r\n")]),
        ("a status that is none", vec![get(1), server(format!("HTTP/1.1 {status}\r\n\r\n"))]),
        ("a field that is none", vec![client(format!("GET / HTTP/1.1\r\n{field}\r\n\r\n"))]),
        ("a chunk size that is none", vec![get(2), server(chunk)]),
        ("no HTTP", vec![client(format!("\0\x01{noise}\r\n\r\n")), server(format!("\0\x01{noise}\r\n\r\n"))]),
        ("JSON that is none", vec![get(3), answer("application/json", broken.as_bytes())]),
        ("protobuf that is none", vec![get(4), answer("application/vnd.kubernetes.protobuf", &wrong.concat())]),
        ("a media type that is another", vec![get(5), answer("application/cbor", secrets_json("bad json").as_bytes())]),
    ]
}

pub(super) fn of_http2() -> Vec<(&'static str, Dialogue)> {
    let get = |number: u8| {
        let path = plain(":path", &format!("/api/v1/secrets?limit={number}"));
        let fields = [indexed(2), indexed(7), path].concat();
        client([preface(), frame(HEADERS, END_STREAM | END_HEADERS, 1, &fields)].concat())
    };
    let hpack = [&b"\xff\x00"[..], secret("bad hpack").as_bytes()].concat();
    let json = secrets_json("bad json");
    vec![
        ("a header block that is none", vec![get(1), server([settings(), frame(HEADERS, END_HEADERS, 1, &hpack)].concat())]),
        ("text instead of frames", vec![get(2), server(secret("bad frames"))]),
        ("a body that nobody asked for", vec![get(3), server([settings(), frame(DATA, 0, 9, json.as_bytes())].concat())]),
    ]
}
