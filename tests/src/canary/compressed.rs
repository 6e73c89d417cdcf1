//! Finds compressed data within bytes: gzip members, zlib streams, and raw DEFLATE as in the blocks of a capture.

use flate2::{Decompress, FlushDecompress, Status};

/// Maximum inflated size from one offset, in bytes.
const MOST: usize = 8 << 20;
/// Minimum inflated size in bytes. Every offset of a file is tried, so shorter results can be coincidences.
const LEAST: usize = 16;

/// Inflates from every offset in `bytes` and returns all results. Text is skipped.
pub(super) fn inflated(bytes: &[u8]) -> Vec<Vec<u8>> {
    if str::from_utf8(bytes).is_ok() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        // A gzip member and a zlib stream are DEFLATE after a header, and the offset after the header is tried like all others.
        match inflate(&bytes[at..]) {
            Some((text, read)) => {
                found.push(text);
                at += read;
            }
            None => at += 1,
        }
    }
    found
}

/// A complete stream that starts here, with its length, or a truncated one that fills the rest.
fn inflate(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    // The reserved block type cannot start a stream (RFC 1951 §3.2.3); an empty stored block holds nothing to search.
    if bytes[0] & 0b110 == 0b110 {
        return None;
    }
    let mut inflater = Decompress::new(false);
    let mut text = Vec::with_capacity(64 << 10);
    loop {
        let read = usize::try_from(inflater.total_in()).unwrap_or(bytes.len());
        let status = inflater.decompress_vec(&bytes[read..], &mut text, FlushDecompress::Finish);
        let read = usize::try_from(inflater.total_in()).unwrap_or(bytes.len());
        match status {
            Ok(Status::StreamEnd) => return (text.len() >= LEAST).then_some((text, read)),
            Ok(Status::Ok | Status::BufError) if read < bytes.len() && text.len() < MOST => text.reserve(text.capacity()),
            Ok(Status::Ok | Status::BufError) => return (text.len() >= LEAST).then_some((text, read.max(1))),
            Err(_) => return None,
        }
    }
}
