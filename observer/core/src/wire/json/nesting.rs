//! Finds the end of a value that is skipped.

#![expect(
    clippy::inline_always,
    reason = "vector instructions are used only where the code is inlined into what was compiled for them"
)]

use fearless_simd::{Level, Simd, dispatch};
use memchr::memchr2;

use super::block::{BLOCK, Block, parity};

/// Finds the end of one or several nested values, across chunks.
///
/// Only strings and the number of open brackets matter: a `]` that closes a `{` is not detected. Depth costs nothing and has no
/// bound.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nesting {
    /// Number of open values.
    depth: u64,
    /// All ones inside a string, else zero.
    in_string: u64,
    /// One if the next byte is escaped by a backslash before it, else zero.
    escaped: u64,
    /// Whether the last block was part of one string, without quotes and backslashes. Many more such blocks may follow, as in a
    /// secret's data.
    in_long_string: bool,
}

impl Nesting {
    /// Outside any string, with `depth` values open.
    pub(super) const fn new(depth: u64) -> Self {
        Self { depth, in_string: 0, escaped: 0, in_long_string: false }
    }

    /// Continues reading. Returns the offset after the bracket that closes the outermost value, if `bytes` contains it.
    #[inline]
    pub(super) fn end_within(&mut self, bytes: &[u8]) -> Option<usize> {
        // A copy, so that it stays in registers.
        let so_far = *self;
        let (now, end) = dispatch!(Level::new(), simd => so_far.end_in_blocks(simd, bytes));
        *self = now;
        end
    }

    #[inline(always)]
    fn end_in_blocks<S: Simd>(mut self, simd: S, bytes: &[u8]) -> (Self, Option<usize>) {
        let (blocks, tail) = bytes.as_chunks::<BLOCK>();
        let mut index = 0;
        while let Some(block) = blocks.get(index) {
            if let Some(end) = self.end_in_block(Block::of(simd, block), BLOCK) {
                return (self, Some(index * BLOCK + end));
            }
            index += 1;
            if self.in_long_string {
                index += blocks_of_string(blocks.get(index..).unwrap_or_default());
            }
        }
        let mut padded = [b' '; BLOCK];
        padded.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
        let end = self.end_in_block(Block::of(simd, &padded), tail.len()).map(|end| blocks.len() * BLOCK + end);
        (self, end)
    }

    /// Reads the first `length` bytes of `block`; the others are spaces.
    #[inline(always)]
    fn end_in_block(&mut self, block: Block, length: usize) -> Option<usize> {
        let last = length.checked_sub(1)?;
        let quotes = block.quotes & !self.escapes(block.backslashes, last);
        let strings = parity(quotes) ^ self.in_string;
        self.in_string = if strings >> (BLOCK - 1) == 0 { 0 } else { u64::MAX };
        self.in_long_string = strings == u64::MAX && block.quotes | block.backslashes == 0;

        let (opens, closes) = (block.opens & !strings, block.closes & !strings);
        let (deeper, shallower) = (u64::from(opens.count_ones()), u64::from(closes.count_ones()));
        if shallower >= self.depth
            && let Some(end) = end_at(self.depth, opens, closes)
        {
            return Some(end);
        }
        self.depth = (self.depth + deeper).saturating_sub(shallower);
        None
    }

    /// The bytes that are escaped by the byte before them.
    #[inline(always)]
    fn escapes(&mut self, backslashes: u64, last: usize) -> u64 {
        let carried = std::mem::take(&mut self.escaped);
        if backslashes == 0 {
            return carried;
        }
        let (escaping, escaped) = escape_runs(backslashes, carried);
        self.escaped = (escaping >> last) & 1;
        escaped
    }
}

/// Length of the object or array that begins with the first of `bytes`; `None` if it does not end within them.
pub(crate) fn nested_end(bytes: &[u8]) -> Option<usize> {
    Nesting::new(1).end_within(bytes.get(1..)?).map(|end| end + 1)
}

/// Number of leading blocks that lie completely within a string, without a quote or a backslash.
fn blocks_of_string(blocks: &[[u8; BLOCK]]) -> usize {
    let bytes = blocks.as_flattened();
    memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len()) / BLOCK
}

/// The backslashes that escape the next byte, and the escaped bytes (simdjson's `json_escape_scanner.h`). In a run of backslashes
/// every other one escapes; a subtraction finds them by borrowing through the run.
fn escape_runs(backslashes: u64, carried: u64) -> (u64, u64) {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let runs = backslashes & !carried;
    let escaping_or_after_run = ((runs << 1) | ODD).wrapping_sub(runs) ^ ODD;
    (escaping_or_after_run & backslashes, escaping_or_after_run ^ (backslashes | carried))
}

/// The offset after the close that brings `depth` to zero; there are at least `depth` closes.
#[inline(always)]
fn end_at(depth: u64, opens: u64, mut closes: u64) -> Option<usize> {
    // No earlier close can bring the depth to zero.
    let mut count = depth;
    for _ in 1..depth {
        closes &= closes.wrapping_sub(1);
    }
    while closes != 0 {
        let close = closes & closes.wrapping_neg();
        if depth + u64::from((opens & (close - 1)).count_ones()) == count {
            return usize::try_from(close.trailing_zeros()).ok().map(|offset| offset + 1);
        }
        count += 1;
        closes ^= close;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Nesting;

    #[test]
    fn brackets_in_strings_do_not_count() {
        check(r#""a}b":{"c":"]\"}"},"d":["\\"]} rest"#, Some(30));
    }

    #[test]
    fn unfinished_value_has_no_end() {
        check(r#""a":{"#, None);
    }

    #[test]
    fn long_strings_end_where_their_quote_is() {
        for length in 0..300 {
            let padding = "x]".repeat(length);
            check(&format!(r#""{padding}\"{padding}","a":["{padding}\\"]}} rest"#), Some(3 * padding.len() + 16));
        }
    }

    proptest! {
        #[test]
        fn end_is_where_counting_byte_by_byte_finds_it(
            bytes in prop::collection::vec(prop::sample::select(br#""\{}[]abc"#.as_slice()), 0..400),
            depth in 1_u64..5,
            cuts in prop::collection::vec(1_usize..150, 1..8),
        ) {
            prop_assert_eq!(in_chunks(&bytes, depth, &cuts), byte_by_byte(&bytes, depth));
        }
    }

    #[track_caller]
    fn check(text: &str, end: Option<usize>) {
        assert_eq!(Nesting::new(1).end_within(text.as_bytes()), end);
        assert_eq!(byte_by_byte(text.as_bytes(), 1), end);
    }

    fn in_chunks(bytes: &[u8], depth: u64, cuts: &[usize]) -> Option<usize> {
        let mut nesting = Nesting::new(depth);
        let (mut done, mut cuts) = (0, cuts.iter().cycle());
        while done < bytes.len() {
            let chunk = &bytes[done..bytes.len().min(done + cuts.next().unwrap())];
            if let Some(end) = nesting.end_within(chunk) {
                return Some(done + end);
            }
            done += chunk.len();
        }
        None
    }

    fn byte_by_byte(bytes: &[u8], mut depth: u64) -> Option<usize> {
        let (mut in_string, mut escaped) = (false, false);
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' if !escaped => in_string = !in_string,
                b'{' | b'[' if !in_string => depth += 1,
                b'}' | b']' if !in_string => depth -= 1,
                _ => {}
            }
            escaped = *byte == b'\\' && !escaped;
            if depth == 0 {
                return Some(index + 1);
            }
        }
        None
    }
}
