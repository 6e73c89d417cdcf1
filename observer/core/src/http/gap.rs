//! Bytes that were forwarded but not offered to the decoder.

/// A hole of known length in one direction of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The HTTP/2 stream whose DATA payload is missing (padding included); `None` when nothing but the length is known, as on
    /// HTTP/1.1.
    pub stream: Option<u32>,
    /// Missing bytes.
    pub length: u64,
}
