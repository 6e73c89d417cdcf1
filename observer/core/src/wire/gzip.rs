//! Inflates a gzip body (RFC 1952). Its memory and its output are bounded.

use flate2::{Decompress, FlushDecompress, Status};

use super::proportion::SoFar;

/// Maximum number of inflated bytes held at once. With more room, an inflater is faster.
const MOST_AT_ONCE: usize = 64 * 1024;

/// Minimum room for inflated bytes, used for short input: the text of Kubernetes objects seldom shrinks to less than a sixteenth.
const LEAST_AT_ONCE: usize = 4 * 1024;
const EXPECTED_RATIO: usize = 16;

/// The largest window of deflate, as a power of two.
const WINDOW_BITS: u8 = 15;

/// Inflates one body of one or several members, and verifies their checksums.
#[derive(Debug)]
pub(super) struct Inflater {
    /// The current member; `None` between members, so that an idle reader holds no memory.
    member: Option<Decompress>,
    so_far: SoFar,
    cap: u64,
}

impl Inflater {
    /// Maximum number of bytes that a body may inflate to, by default.
    pub(super) const DEFAULT_CAP: u64 = 4 << 30;

    /// An inflater that fails after `cap` bytes of output, or earlier if the output is out of proportion to the input.
    pub(super) fn new(cap: u64) -> Self {
        Self { member: None, so_far: SoFar::default(), cap }
    }

    /// Inflates `bytes` into `sink`, until `sink` wants no more. The error describes the invalid bytes.
    ///
    /// The output before an error goes to `sink` first.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8]) -> Wanted) -> Result<(), &'static str> {
        let mut buffer = vec![0; bytes.len().saturating_mul(EXPECTED_RATIO).clamp(LEAST_AT_ONCE, MOST_AT_ONCE)];
        let mut rest = bytes;
        while !rest.is_empty() {
            let (step, after) = rest.split_at_checked(self.so_far.next_step()).unwrap_or((rest, &[]));
            self.so_far.compressed = self.so_far.compressed.saturating_add(step.len() as u64);
            if self.inflate(step, &mut buffer, sink)? == Wanted::Nothing {
                return Ok(());
            }
            rest = after;
        }
        Ok(())
    }

    /// Notes the end of the body. Returns an error if the body ends within a member.
    pub(super) fn finish(&mut self) -> Result<(), &'static str> {
        if self.member.take().is_some() { Err("ends in the middle of a gzip member") } else { Ok(()) }
    }

    fn inflate(&mut self, bytes: &[u8], buffer: &mut [u8], sink: &mut dyn FnMut(&[u8]) -> Wanted) -> Result<Wanted, &'static str> {
        let mut rest = bytes;
        let mut pending_output = false;
        while !rest.is_empty() || pending_output {
            let mut member = self.member.take().unwrap_or_else(|| Decompress::new_gzip(WINDOW_BITS));
            let (read_before, written_before) = (member.total_in(), member.total_out());
            let outcome = member.decompress(rest, buffer, FlushDecompress::None);
            let read = usize::try_from(member.total_in() - read_before).unwrap_or(usize::MAX);
            let written = usize::try_from(member.total_out() - written_before).unwrap_or(usize::MAX);

            if self.deliver(buffer.get(..written).unwrap_or_default(), sink)? == Wanted::Nothing {
                return Ok(Wanted::Nothing);
            }
            rest = rest.get(read..).unwrap_or_default();
            pending_output = written == buffer.len();
            match outcome {
                Ok(Status::StreamEnd) => pending_output = false,
                Ok(Status::Ok | Status::BufError) => {
                    self.member = Some(member);
                    if read == 0 && written == 0 {
                        break;
                    }
                }
                Err(_) => return Err("not gzip, or damaged"),
            }
        }
        Ok(Wanted::More { facts: 0 })
    }

    fn deliver(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8]) -> Wanted) -> Result<Wanted, &'static str> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = usize::try_from(self.cap.saturating_sub(self.so_far.inflated)).unwrap_or(usize::MAX);
            if room == 0 {
                return Err("inflates to more than the cap");
            }
            let (block, after) = rest.split_at_checked(self.so_far.next_block().min(room)).unwrap_or((rest, &[]));
            self.so_far.inflated = self.so_far.inflated.saturating_add(block.len() as u64);
            match sink(block) {
                Wanted::Nothing => return Ok(Wanted::Nothing),
                Wanted::More { facts } => self.so_far.facts = self.so_far.facts.saturating_add(facts),
            }
            self.so_far.judge()?;
            rest = after;
        }
        Ok(Wanted::More { facts: 0 })
    }
}

/// Whether to continue inflating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Yes; the latest bytes contained this many facts.
    More {
        /// Number of facts in the latest bytes.
        facts: u64,
    },
    /// No: all further facts would be ignored.
    Nothing,
}
