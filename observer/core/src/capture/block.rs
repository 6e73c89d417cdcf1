//! Deflates the lines of a block, and inflates them within a bound.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::layout::{BlockHead, BlockKind, MAX_PACKED, checksum};
use crate::redacted::Redacted;
use crate::time::Timestamp;

/// Lines of a block that is not yet written.
#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) kind: BlockKind,
    pub(super) lines: Redacted<Vec<u8>>,
    pub(super) count: u32,
    /// Ordinal of the first line's observation.
    pub(super) first: u64,
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

impl OpenBlock {
    pub(super) fn new(kind: BlockKind, first: u64, at: Timestamp) -> Self {
        Self { kind, lines: Redacted(Vec::new()), count: 0, first, from: at, until: at }
    }

    /// Appends the block: its head and its deflated lines.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let packed = deflated(&self.lines.0);
        BlockHead {
            kind: self.kind,
            packed: packed.len(),
            raw: self.lines.0.len(),
            first: self.first,
            count: self.count,
            from: self.from,
            until: self.until,
            checksum: checksum(&packed),
        }
        .write(out);
        out.extend(packed);
    }
}

fn deflated(lines: &[u8]) -> Vec<u8> {
    if lines.is_empty() {
        return Vec::new();
    }
    let mut deflate = Compress::new(Compression::fast(), false);
    let mut packed = Vec::with_capacity(lines.len() / 4 + 64);
    loop {
        let read = usize::try_from(deflate.total_in()).unwrap_or(usize::MAX);
        match deflate.compress_vec(lines.get(read..).unwrap_or_default(), &mut packed, FlushCompress::Finish) {
            Ok(Status::Ok | Status::BufError) if packed.len() < MAX_PACKED => packed.reserve(lines.len() / 4 + 64),
            // Only `StreamEnd` is possible here. If it were another result, a reader would detect the block as damaged.
            Ok(Status::StreamEnd | Status::Ok | Status::BufError) | Err(_) => return packed,
        }
    }
}

/// The lines of a block; `None` when its checksum, length or line count differs from the head.
pub(super) fn inflated(head: &BlockHead, packed: &[u8]) -> Option<Vec<u8>> {
    if checksum(packed) != head.checksum {
        return None;
    }
    // `decompress_vec` never exceeds this capacity, whatever the bytes hold.
    let mut lines = Vec::with_capacity(head.raw + 1);
    if head.raw > 0 {
        let outcome = Decompress::new(false).decompress_vec(packed, &mut lines, FlushDecompress::Finish);
        if !matches!(outcome, Ok(Status::StreamEnd)) {
            return None;
        }
    }
    let count = memchr::memchr_iter(b'\n', &lines).count();
    (lines.len() == head.raw && u32::try_from(count).is_ok_and(|count| count == head.count)).then_some(lines)
}
