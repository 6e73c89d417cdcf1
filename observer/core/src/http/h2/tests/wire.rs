//! Bytes that the two ends send.

/// A SETTINGS frame without settings, with which a server begins.
pub(super) const SETTINGS: &[u8] = b"\0\0\0\x04\0\0\0\0\0";

/// The first bytes of a client.
pub(super) fn preface() -> Vec<u8> {
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", SETTINGS].concat()
}

/// The first bytes of a server, with the acknowledgement of the client's [`preface`].
pub(super) fn server_preface() -> Vec<u8> {
    [SETTINGS, &settings_ack()].concat()
}

pub(super) const END_STREAM: u8 = 0x1;
pub(super) const END_HEADERS: u8 = 0x4;
pub(super) const PADDED: u8 = 0x8;
pub(super) const PRIORITY: u8 = 0x20;
pub(super) const ACK: u8 = 0x1;

pub(super) fn frame(frame_type: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[frame_type, flags], &stream.to_be_bytes(), payload].concat()
}

pub(super) fn data(flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    frame(0, flags, stream, payload)
}

/// HEADERS with a complete block.
pub(super) fn headers(flags: u8, stream: u32, block: &[u8]) -> Vec<u8> {
    frame(1, flags | END_HEADERS, stream, block)
}

pub(super) fn rst_stream(stream: u32, code: u32) -> Vec<u8> {
    frame(3, 0, stream, &code.to_be_bytes())
}

pub(super) fn settings(settings: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> =
        settings.iter().flat_map(|(id, value)| [id.to_be_bytes().as_slice(), &value.to_be_bytes()].concat()).collect();
    frame(4, 0, 0, &payload)
}

pub(super) fn settings_ack() -> Vec<u8> {
    frame(4, ACK, 0, &[])
}

pub(super) fn ping() -> Vec<u8> {
    frame(6, 0, 0, b"heartbea")
}

pub(super) fn go_away(last_stream: u32, code: u32, debug: &[u8]) -> Vec<u8> {
    frame(7, 0, 0, &[&last_stream.to_be_bytes(), &code.to_be_bytes(), debug].concat())
}

pub(super) fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(8, 0, stream, &increment.to_be_bytes())
}

pub(super) fn continuation(flags: u8, stream: u32, fragment: &[u8]) -> Vec<u8> {
    frame(9, flags, stream, fragment)
}

/// `:method: GET`, `:scheme: https` and a `:path`.
pub(super) fn get(path: &str) -> Vec<u8> {
    [b"\x82\x87\x04".as_slice(), &[u8::try_from(path.len()).unwrap()], path.as_bytes()].concat()
}

/// A literal without indexing.
pub(super) fn field(name: &str, value: &str) -> Vec<u8> {
    literal(0x00, name, value)
}

/// A literal that goes into the dynamic table.
pub(super) fn indexed_field(name: &str, value: &str) -> Vec<u8> {
    literal(0x40, name, value)
}

fn literal(representation: u8, name: &str, value: &str) -> Vec<u8> {
    let (name_length, value_length) = (u8::try_from(name.len()).unwrap(), u8::try_from(value.len()).unwrap());
    assert!(name_length < 127 && value_length < 127, "too long for this");
    [&[representation, name_length], name.as_bytes(), &[value_length], value.as_bytes()].concat()
}
