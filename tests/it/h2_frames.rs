//! HTTP/2 frames as bytes.

// Frame types, flags and an error code of RFC 9113 §6 and §7.
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const PRIORITY: u8 = 2;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;
pub(crate) const ACK: u8 = 0x1;
pub(crate) const END_STREAM: u8 = 0x1;
pub(crate) const END_HEADERS: u8 = 0x4;
pub(crate) const PADDED: u8 = 0x8;
pub(crate) const WITH_PRIORITY: u8 = 0x20;
pub(crate) const COMPRESSION_ERROR: u8 = 9;

/// The connection preface of a client, with empty settings.
pub(crate) fn preface() -> Vec<u8> {
    preface_with(&settings())
}

/// The connection preface of a client, with these settings.
pub(crate) fn preface_with(settings: &[u8]) -> Vec<u8> {
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", settings].concat()
}

/// Empty settings.
pub(crate) fn settings() -> Vec<u8> {
    frame(SETTINGS, 0, 0, &[])
}

/// `:method: GET`, `:scheme: https`, `:path: /api/v1/pods`, without Huffman coding.
pub(crate) fn list_pods_on_stream_1() -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, &get("/api/v1/pods"))
}

/// The header block of a GET: `:method`, `:scheme`, `:path`.
pub(crate) fn get(path: &str) -> Vec<u8> {
    [&[0x82, 0x87, 0x04], &string(path)[..]].concat()
}

/// A literal field without indexing, new name, no Huffman coding (RFC 7541 §6.2.2).
pub(crate) fn field(name: &str, value: &str) -> Vec<u8> {
    [vec![0], string(name), string(value)].concat()
}

fn string(text: &str) -> Vec<u8> {
    const LONGER: u8 = 127;
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < LONGER, "a longer length takes more than a byte");
    [&[length], text.as_bytes()].concat()
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}
