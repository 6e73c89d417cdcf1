//! Finds a frame boundary if decoding begins in the middle of a connection.
//!
//! The evidence is a row of [`PROOF`] [plausible](FrameHeader::is_plausible) headers, each at the end of the frame before. The
//! first one is at the first byte of a `bytes` call: one read or write of the endpoint, which usually begins with a frame.
//!
//! A plausible header has a type that RFC 9113 defines, only flags that its type defines, and no reserved bit. Its stream and
//! length fit its type, and it is not a header block that continues in a CONTINUATION. About one in 2¹⁶ random headers is
//! plausible, and no text is, as text has no zero bytes.
//!
//! A header block of a stream that is known to be open, or about to be, needs no other header: one in 2³¹ random streams matches.
//!
//! Decoding begins with the last of these headers. The frames before it are skipped, which loses nothing more: the content of the
//! header table is unknown in either case.
//!
//! Memory: one header.

use super::super::Direction;
use super::frame::{FrameHeader, FrameType, PartialHeader};

/// Number of consecutive plausible headers that prove a boundary.
const PROOF: u32 = 3;

/// The search for a frame boundary in one direction.
#[derive(Debug)]
pub(super) struct Search {
    direction: Direction,
    candidate: Option<Candidate>,
    /// Streams for which a header block is expected.
    expected: Vec<u32>,
}

/// A proved frame boundary.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proved {
    pub(super) header: FrameHeader,
    /// Whether a header block that ends in the same `bytes` call passed before it.
    pub(super) has_passed_block: bool,
}

/// A possible frame boundary.
#[derive(Debug)]
struct Candidate {
    /// Plausible headers so far.
    plausible: u32,
    /// Bytes up to the next header.
    payload: u32,
    header: PartialHeader,
    has_passed_block: bool,
}

impl Search {
    pub(super) fn new(direction: Direction) -> Self {
        Self { direction, candidate: None, expected: Vec::new() }
    }

    /// Sets the streams for which a header block is expected, at the start of a `bytes` call.
    pub(super) fn expect(&mut self, streams: Vec<u32>) {
        self.expected = streams;
        if let Some(candidate) = &mut self.candidate {
            candidate.has_passed_block &= candidate.payload > 0;
        }
    }

    /// Examines the bytes of one call. Returns the header whose place is proved, and leaves the bytes after it in `bytes`;
    /// otherwise consumes all.
    pub(super) fn push(&mut self, bytes: &mut &[u8]) -> Option<Proved> {
        let candidate = self.candidate.get_or_insert_with(Candidate::new);
        loop {
            skip(&mut candidate.payload, bytes);
            let header = FrameHeader::take(&mut candidate.header, bytes)?;
            if !header.is_plausible(self.direction) {
                break;
            }
            candidate.plausible = candidate.plausible.saturating_add(1);
            let is_block = header.frame_type == FrameType::Headers;
            if candidate.plausible >= PROOF || (is_block && self.expected.contains(&header.stream)) {
                return Some(Proved { header, has_passed_block: candidate.has_passed_block });
            }
            candidate.has_passed_block |= is_block;
            candidate.payload = header.length;
        }
        self.restart();
        *bytes = &[];
        None
    }

    /// Drops the current candidate.
    pub(super) fn restart(&mut self) {
        self.candidate = None;
    }
}

impl Candidate {
    fn new() -> Self {
        Self { plausible: 0, payload: 0, header: PartialHeader::new(), has_passed_block: false }
    }
}

fn skip(payload: &mut u32, bytes: &mut &[u8]) {
    let length = bytes.len().min(usize::try_from(*payload).unwrap_or(usize::MAX));
    let Some((skipped, rest)) = bytes.split_at_checked(length) else { return };
    *bytes = rest;
    *payload = payload.saturating_sub(u32::try_from(skipped.len()).unwrap_or(u32::MAX));
}
