//! Inflating a gzip body (RFC 1952), bounded in memory and in output.

use flate2::{Decompress, FlushDecompress, Status};

/// Most inflated bytes that are held at a time: an inflater is the faster the more there is room for.
const MOST_AT_ONCE: usize = 64 * 1024;

/// Room for what little comes in: the text of Kubernetes objects seldom shrinks to less than a sixteenth.
const LEAST_AT_ONCE: usize = 4 * 1024;
const EXPECTED_RATIO: usize = 16;

/// The largest window of deflate, as the power of two.
const WINDOW_BITS: u8 = 15;

/// Inflates one body of one or several members, checking their checksums.
#[derive(Debug)]
pub(super) struct Inflater {
    /// The member that is being read; `None` between members, so that an idle reader costs nothing.
    member: Option<Decompress>,
    inflated: u64,
    cap: u64,
}

impl Inflater {
    /// Most bytes that a body may inflate to, unless told otherwise. Deflate can reach 1:1032, so a few megabytes may claim more.
    pub(super) const DEFAULT_CAP: u64 = 4 << 30;

    /// An inflater that gives up after `cap` bytes of output.
    pub(super) const fn new(cap: u64) -> Self {
        Self { member: None, inflated: 0, cap }
    }

    /// Inflates `bytes` into `sink`, until it says that it wants no more; the error is what is wrong with them.
    ///
    /// What precedes an error goes to `sink` first.
    pub(super) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8]) -> Wanted) -> Result<(), &'static str> {
        let mut rest = bytes;
        let mut buffer = vec![0; bytes.len().saturating_mul(EXPECTED_RATIO).clamp(LEAST_AT_ONCE, MOST_AT_ONCE)];
        let mut pending_output = false;
        while !rest.is_empty() || pending_output {
            let mut member = self.member.take().unwrap_or_else(|| Decompress::new_gzip(WINDOW_BITS));
            let (read_before, written_before) = (member.total_in(), member.total_out());
            let outcome = member.decompress(rest, &mut buffer, FlushDecompress::None);
            let read = usize::try_from(member.total_in() - read_before).unwrap_or(usize::MAX);
            let written = usize::try_from(member.total_out() - written_before).unwrap_or(usize::MAX);

            if self.deliver(buffer.get(..written).unwrap_or_default(), sink)? == Wanted::Nothing {
                return Ok(());
            }
            rest = rest.get(read..).unwrap_or_default();
            pending_output = written == buffer.len();
            match outcome {
                Ok(Status::StreamEnd) => pending_output = false,
                Ok(Status::Ok | Status::BufError) => {
                    self.member = Some(member);
                    if read == 0 && written == 0 {
                        return Ok(());
                    }
                }
                Err(_) => return Err("not gzip, or damaged"),
            }
        }
        Ok(())
    }

    /// Notes the end of the body; the error is that it is in the middle of a member.
    pub(super) fn finish(&mut self) -> Result<(), &'static str> {
        if self.member.take().is_some() { Err("ends in the middle of a gzip member") } else { Ok(()) }
    }

    fn deliver(&mut self, bytes: &[u8], sink: &mut dyn FnMut(&[u8]) -> Wanted) -> Result<Wanted, &'static str> {
        let room = usize::try_from(self.cap - self.inflated).unwrap_or(usize::MAX);
        let within = bytes.get(..room).unwrap_or(bytes);
        self.inflated += within.len() as u64;
        let wanted = if within.is_empty() { Wanted::More } else { sink(within) };
        if within.len() < bytes.len() { Err("inflates to more than the cap") } else { Ok(wanted) }
    }
}

/// Whether inflating is worth going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// It is.
    More,
    /// Nobody reads on.
    Nothing,
}
