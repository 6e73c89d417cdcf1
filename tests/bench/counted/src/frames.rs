//! Makes HTTP/2 frames (RFC 9113 §4), as clients and API servers send them.

use anyhow::{Context, Result};

/// Frame types and flags of RFC 9113 §6.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const WINDOW_UPDATE: u8 = 8;
/// The flag of the last frame of a stream.
pub const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// A window larger than the bytes of any bench.
const WINDOW: u32 = 0x7fff_0000;

/// The first bytes of a client and of a server, with large windows.
///
/// # Errors
///
/// None with these lengths.
pub fn settings() -> Result<(Vec<u8>, Vec<u8>)> {
    let windows = frame(SETTINGS, 0, 0, &[&[0, 4][..], &WINDOW.to_be_bytes()].concat())?;
    let room = frame(WINDOW_UPDATE, 0, 0, &WINDOW.to_be_bytes())?;
    let client = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &windows, &room].concat();
    Ok((client, [frame(SETTINGS, 0, 0, &[])?, frame(SETTINGS, 1, 0, &[])?].concat()))
}

/// A GET with literal fields only (RFC 7541 §6.2.2).
///
/// # Errors
///
/// If a field is longer than 126 bytes.
pub fn request(stream: u32, client: u64, path: &str) -> Result<Vec<u8>> {
    let agent = field("user-agent", &format!("controller-{client}/v1.0"))?;
    let block = [vec![0x82, 0x87], field(":path", path)?, agent].concat();
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
}

/// The head of a successful response in JSON.
///
/// # Errors
///
/// None with these lengths.
pub fn response(stream: u32) -> Result<Vec<u8>> {
    frame(HEADERS, END_HEADERS, stream, &[vec![0x88], field("content-type", "application/json")?].concat())
}

/// A DATA frame of a body.
///
/// # Errors
///
/// If the payload is too long for a frame.
pub fn data(flags: u8, stream: u32, payload: &[u8]) -> Result<Vec<u8>> {
    frame(DATA, flags, stream, payload)
}

fn field(name: &str, value: &str) -> Result<Vec<u8>> {
    let string = |text: &str| -> Result<Vec<u8>> {
        let length =
            u8::try_from(text.len()).ok().filter(|length| *length < 127).context("a longer length takes more than a byte")?;
        Ok([&[length], text.as_bytes()].concat())
    };
    Ok([vec![0], string(name)?, string(value)?].concat())
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Result<Vec<u8>> {
    let [_, length @ ..] = u32::try_from(payload.len())?.to_be_bytes();
    Ok([&length[..], &[kind, flags], &stream.to_be_bytes(), payload].concat())
}
