//! Forwarded bytes that the decoder did not receive.

/// Missing bytes in one direction of a connection, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The HTTP/2 stream whose DATA payload is missing (padding included); `None` if only the length is known, as on HTTP/1.1.
    pub stream: Option<u32>,
    /// Missing bytes.
    pub length: u64,
}
