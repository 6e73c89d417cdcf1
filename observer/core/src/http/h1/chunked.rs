//! The chunked transfer coding (RFC 9112 §7.1).

use super::body_step::BodyStep;
use super::fault::Fault;
use super::input::Input;
use super::lines::{Line, Lines, MAX_HEAD};
use crate::redacted::Redacted;

/// A chunked body.
#[derive(Debug, Default)]
pub(super) struct Chunked {
    next: Next,
    lines: Lines,
}

/// The next part of the body.
///
/// ```text
///   ┌──────────────────────────────────┐
///   ▼            n > 0                 │
/// Size ───────────────────► Data ──► DataEnd
///   │ 0
///   ▼
/// Trailers ──► (end)
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    /// A line with a chunk size; extensions are ignored.
    #[default]
    Size,
    /// This many bytes of the chunk.
    Data(u64),
    /// The CRLF or LF after a chunk.
    DataEnd,
    /// The LF after a chunk; the CR has been read.
    DataEndLf,
    /// Trailer lines up to an empty one; the number counts their bytes so far. They are not kept.
    Trailers(u64),
}

impl Chunked {
    /// Reads the next part.
    pub(super) fn step<'a>(&mut self, input: &mut Input<'a>) -> BodyStep<'a> {
        while !input.is_empty() {
            let step = match self.next {
                Next::Size => self.size(input),
                Next::Data(left) => return self.data(left, input),
                Next::DataEnd | Next::DataEndLf => self.data_end(input),
                Next::Trailers(passed) => self.trailer(passed, input),
            };
            if let Some(step) = step {
                return step;
            }
        }
        BodyStep::Wait
    }

    /// Skips the first of `missing` unseen bytes, as far as they lie in the current chunk, and returns how many it skipped.
    pub(super) fn skip(&mut self, missing: u64) -> u64 {
        match self.next {
            Next::Data(left) => {
                let covered = missing.min(left);
                self.consume(left, covered);
                covered
            }
            Next::Size | Next::DataEnd | Next::DataEndLf | Next::Trailers(_) => 0,
        }
    }

    /// Bytes held of an incomplete line.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.lines.held()
    }

    fn size<'a>(&mut self, input: &mut Input<'a>) -> Option<BodyStep<'a>> {
        match self.lines.read(input, |line| chunk_size(line).map_err(|what| (line.at, what))) {
            Some(Ok(0)) => self.next = Next::Trailers(0),
            Some(Ok(size)) => self.next = Next::Data(size),
            Some(Err((at, what))) => return Some(malformed(at, what)),
            None if self.lines.is_too_long() => return Some(malformed(self.lines.start(input), TOO_LONG)),
            None => {}
        }
        None
    }

    fn data<'a>(&mut self, left: u64, input: &mut Input<'a>) -> BodyStep<'a> {
        let bytes = input.take(left);
        self.consume(left, bytes.len() as u64);
        BodyStep::Data(Redacted(bytes))
    }

    fn data_end<'a>(&mut self, input: &mut Input<'a>) -> Option<BodyStep<'a>> {
        let at = input.offset();
        self.next = match (self.next, input.take(1)) {
            (Next::DataEnd, b"\r") => Next::DataEndLf,
            (_, b"\n") => Next::Size,
            _ => return Some(malformed(at, "chunk is longer than its size")),
        };
        None
    }

    fn trailer<'a>(&mut self, passed: u64, input: &mut Input<'a>) -> Option<BodyStep<'a>> {
        let before = input.offset();
        let line = self.lines.read(input, |line| line.text.is_empty());
        let passed = passed.saturating_add(input.offset().saturating_sub(before));
        self.next = Next::Trailers(passed);
        match line {
            _ if passed > MAX_HEAD => Some(BodyStep::Fault(Fault::Bound)),
            Some(true) => Some(BodyStep::Done),
            Some(false) | None => None,
        }
    }

    fn consume(&mut self, left: u64, consumed: u64) {
        self.next = match left.saturating_sub(consumed) {
            0 => Next::DataEnd,
            left => Next::Data(left),
        };
    }
}

const TOO_LONG: &str = "chunk size line is too long";

fn chunk_size(line: &Line<'_>) -> Result<u64, &'static str> {
    if line.cut {
        return Err(TOO_LONG);
    }
    let size = line.text.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
    // from_str_radix alone would accept a sign.
    let digits = str::from_utf8(size).ok().filter(|size| size.bytes().all(|byte| byte.is_ascii_hexdigit()));
    digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).ok_or("chunk size is not a hexadecimal number")
}

fn malformed<'a>(at: u64, what: &'static str) -> BodyStep<'a> {
    BodyStep::Fault(Fault::Malformed { at, what })
}
