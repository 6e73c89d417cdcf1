//! The error of a header block.

/// The reason why the header block, and any later one, cannot be decoded (`COMPRESSION_ERROR` of RFC 9113 §4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompressionError(pub &'static str);
