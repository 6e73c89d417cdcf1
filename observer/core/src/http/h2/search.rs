//! Where frames begin, when decoding begins in the middle of a connection.
//!
//! The evidence: the first byte of a `bytes` call (one read or write of the endpoint, which mostly begins with a frame) is the first
//! of [`PROOF`] headers in a row that are [plausible](FrameHeader::is_plausible), each at the end of the frame before. A plausible
//! header has a type that RFC 9113 defines, only flags that its type defines, no reserved bit, a stream and a length that fit its
//! type, and is no header block that goes on in a CONTINUATION; about one in 2¹⁶ of random headers is, and text has none, as it has
//! no zero bytes. A header block of a stream that is known to be open, or about to be, needs no other header: one in 2³¹ of random
//! streams is. Decoding begins with the last of these headers; the frames before it are not looked at, which is no loss
//! of a kind that is not there anyway: the header table is of unknown content in either case.
//!
//! Memory: one header.

use super::super::Direction;
use super::frame::{FrameHeader, FrameType, PartialHeader};

/// How many plausible headers prove a boundary.
const PROOF: u32 = 3;

/// The search for a frame boundary in one direction.
#[derive(Debug)]
pub(super) struct Search {
    direction: Direction,
    candidate: Option<Candidate>,
    /// Streams that a header block is expected of.
    expected: Vec<u32>,
}

/// A boundary that is proved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proved {
    pub(super) header: FrameHeader,
    /// Whether a header block that ends in the same bytes passed before it.
    pub(super) has_passed_block: bool,
}

/// A place that may be a boundary.
#[derive(Debug)]
struct Candidate {
    /// Plausible headers so far.
    plausible: u32,
    /// Bytes to the next header.
    payload: u32,
    header: PartialHeader,
    has_passed_block: bool,
}

impl Search {
    pub(super) fn new(direction: Direction) -> Self {
        Self { direction, candidate: None, expected: Vec::new() }
    }

    /// Says which streams a header block is expected of.
    pub(super) fn expect(&mut self, streams: Vec<u32>) {
        self.expected = streams;
        if let Some(candidate) = &mut self.candidate {
            candidate.has_passed_block &= candidate.payload > 0;
        }
    }

    /// Looks at the next bytes, which are those of one call. The header whose place is proved, with `bytes` behind it; otherwise no
    /// bytes are left.
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

    /// Gives the present candidate up: bytes are missing.
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
