//! What lies compressed within bytes: gzip members, zlib streams, and bare DEFLATE, as the blocks of a capture hold it.

use flate2::{Decompress, FlushDecompress, Status};

/// Most that is inflated of one place.
const MOST: usize = 8 << 20;
/// What inflates to less is an accident: every place of a file is tried.
const LEAST: usize = 16;

/// All that can be inflated from any place in `bytes`. Text is not tried.
pub(super) fn inflated(bytes: &[u8]) -> Vec<Vec<u8>> {
    if str::from_utf8(bytes).is_ok() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        // A gzip member and a zlib stream are DEFLATE behind a head, and the places behind the head are tried like all others.
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

/// A stream that begins here and is whole, and its length; or a torn one that fills the rest.
fn inflate(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    // The reserved block type says at once that this is none (RFC 1951 §3.2.3); an empty stored block is nothing to look for.
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
