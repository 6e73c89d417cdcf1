//! Where frames begin, when decoding begins in the middle of a connection.
//!
//! The evidence: the first byte of a `bytes` call (one read or write of the endpoint, which mostly begins with a frame) is the first
//! of [`PROOF`] headers in a row that are [plausible](FrameHeader::is_plausible), each at the end of the frame before. A plausible
//! header has a type that RFC 9113 defines, only flags that its type defines, no reserved bit, a stream and a length that fit its
//! type, and is no header block that goes on in a CONTINUATION; about one in 2¹⁶ of random headers is, and text has none, as it has
//! no zero bytes. Decoding begins with the last of these headers; the frames before it are not looked at, which is no loss
//! of a kind that is not there anyway: the header table is of unknown content in either case.
//!
//! Memory: one header.

use super::super::Direction;
use super::frame::{FrameHeader, PartialHeader};

/// How many plausible headers prove a boundary.
const PROOF: u32 = 3;

/// The search for a frame boundary in one direction.
#[derive(Debug)]
pub(super) struct Search {
    direction: Direction,
    candidate: Option<Candidate>,
}

/// A place that may be a boundary.
#[derive(Debug)]
struct Candidate {
    /// Plausible headers so far.
    plausible: u32,
    /// Bytes to the next header.
    payload: u32,
    header: PartialHeader,
}

impl Search {
    pub(super) fn new(direction: Direction) -> Self {
        Self { direction, candidate: None }
    }

    /// Looks at the next bytes, which are those of one call. The header whose place is proved, with `bytes` behind it; otherwise no
    /// bytes are left.
    pub(super) fn push(&mut self, bytes: &mut &[u8]) -> Option<FrameHeader> {
        let candidate = self.candidate.get_or_insert_with(Candidate::new);
        loop {
            skip(&mut candidate.payload, bytes);
            let header = FrameHeader::take(&mut candidate.header, bytes)?;
            if !header.is_plausible(self.direction) {
                break;
            }
            candidate.plausible = candidate.plausible.saturating_add(1);
            if candidate.plausible >= PROOF {
                return Some(header);
            }
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
        Self { plausible: 0, payload: 0, header: PartialHeader::new() }
    }
}

fn skip(payload: &mut u32, bytes: &mut &[u8]) {
    let length = bytes.len().min(usize::try_from(*payload).unwrap_or(usize::MAX));
    let Some((skipped, rest)) = bytes.split_at_checked(length) else { return };
    *bytes = rest;
    *payload = payload.saturating_sub(u32::try_from(skipped.len()).unwrap_or(u32::MAX));
}
