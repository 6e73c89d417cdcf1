//! Finds the quotes, backslashes and brackets among 64 bytes at once, as bitmaps.
//!
//! The use of the bitmaps follows simdjson (simdjson/simdjson, `src/generic/stage1`). In each bitmap, bit `n` stands for byte `n`.

#![expect(
    clippy::inline_always,
    reason = "vector instructions are used only where the code is inlined into what was compiled for them"
)]

use fearless_simd::prelude::*;
use fearless_simd::u8x64;

/// Bytes in a block.
pub(super) const BLOCK: usize = 64;

/// The only bit in which `[` and `{`, and `]` and `}`, differ.
const BRACKET_OR_BRACE: u8 = 0x20;

/// The positions, in one block, of the bytes that structure JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// `"`.
    pub quotes: u64,
    /// `\`.
    pub backslashes: u64,
    /// `{` and `[`.
    pub opens: u64,
    /// `}` and `]`.
    pub closes: u64,
}

impl Block {
    /// Classifies `bytes`.
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, bytes: &[u8; BLOCK]) -> Self {
        let bytes = u8x64::simd_from(simd, *bytes);
        let as_braces = bytes | BRACKET_OR_BRACE;
        Self {
            quotes: bytes.simd_eq(b'"').to_bitmask(),
            backslashes: bytes.simd_eq(b'\\').to_bitmask(),
            opens: as_braces.simd_eq(b'{').to_bitmask(),
            closes: as_braces.simd_eq(b'}').to_bitmask(),
        }
    }
}

/// Marks each byte with an odd number of `quotes` up to and including itself. These are the bytes of strings, from the opening
/// quote up to, but not including, the closing one.
#[inline(always)]
pub(super) fn parity(quotes: u64) -> u64 {
    [1, 2, 4, 8, 16, 32].into_iter().fold(quotes, |bits, distance| bits ^ (bits << distance))
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::{BLOCK, Block, parity};

    proptest! {
        #[test]
        fn each_byte_is_classified_at_its_own_bit(block in block()) {
            // The level of every machine of this architecture, and that of this machine.
            for level in [Level::baseline(), Level::new()] {
                let found = classified(level, &block);
                for (bits, wanted) in [
                    (found.quotes, b"\"".as_slice()),
                    (found.backslashes, b"\\"),
                    (found.opens, b"{["),
                    (found.closes, b"}]"),
                ] {
                    prop_assert_eq!(bits, in_order(|index| wanted.contains(&block[index])));
                }
            }
        }

        #[test]
        fn parity_is_odd_from_each_opening_to_each_closing_quote(block in block()) {
            let is_inside = |index: usize| block[..=index].split(|byte| *byte == b'"').count() % 2 == 0;
            prop_assert_eq!(parity(classified(Level::new(), &block).quotes), in_order(is_inside));
        }
    }

    fn classified(level: Level, block: &[u8; BLOCK]) -> Block {
        dispatch!(level, simd => Block::of(simd, block))
    }

    fn block() -> impl Strategy<Value = [u8; BLOCK]> {
        let byte = prop_oneof![any::<u8>(), prop::sample::select(br#""\{}[]"#.as_slice())];
        prop::collection::vec(byte, BLOCK).prop_map(|bytes| bytes.try_into().unwrap())
    }

    fn in_order(test: impl Fn(usize) -> bool) -> u64 {
        (0..BLOCK).filter(|index| test(*index)).fold(0, |bits, index| bits | 1 << index)
    }
}
