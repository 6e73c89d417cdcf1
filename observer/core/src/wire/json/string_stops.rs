//! The bytes of a text at which a string may end.

#![expect(
    clippy::inline_always,
    reason = "vector instructions are used only where the code is inlined into what was compiled for them"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};

use super::block::BLOCK;

/// The quotes and backslashes of a text, as bitmaps.
#[derive(Debug)]
pub(crate) struct StringStops {
    /// Both bitmaps of each block: bit `n` stands for byte `n`. Kept apart: LLVM 22 compiles the OR of both masks to about 200 instructions.
    blocks: Vec<[u64; 2]>,
}

impl StringStops {
    /// Those of `text`. `None` if it has a control character.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let mut blocks = Vec::with_capacity(text.len() / BLOCK + 1);
        let is_plain = dispatch!(Level::new(), simd => collect(simd, text, &mut blocks));
        is_plain.then_some(Self { blocks })
    }

    /// The offset of the first quote or backslash at `from` or after it.
    #[inline]
    pub(crate) fn stop_from(&self, from: usize) -> Option<usize> {
        let mut number = from / BLOCK;
        let mut mask = u64::MAX << (from % BLOCK);
        loop {
            let [quotes, backslashes] = *self.blocks.get(number)?;
            let stops = (quotes | backslashes) & mask;
            if stops != 0 {
                return Some(number * BLOCK + stops.trailing_zeros() as usize);
            }
            (number, mask) = (number + 1, u64::MAX);
        }
    }
}

/// Adds the bitmaps of all blocks. Returns whether no byte is a control character.
#[inline(always)]
fn collect<S: Simd>(simd: S, text: &[u8], blocks: &mut Vec<[u64; 2]>) -> bool {
    let (whole, tail) = text.as_chunks::<BLOCK>();
    let mut controls = 0;
    for block in whole {
        controls |= classify(simd, block, blocks);
    }
    let mut last = [b' '; BLOCK];
    last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    controls | classify(simd, &last, blocks) == 0
}

/// Adds the quotes and backslashes; returns the control characters.
#[inline(always)]
fn classify<S: Simd>(simd: S, block: &[u8; BLOCK], blocks: &mut Vec<[u64; 2]>) -> u64 {
    /// All of these bits are unset in a control character, and only there.
    const NO_CONTROL: u8 = 0xe0;
    let bytes = u8x64::simd_from(simd, *block);
    blocks.push([bytes.simd_eq(b'"').to_bitmask(), bytes.simd_eq(b'\\').to_bitmask()]);
    (bytes & NO_CONTROL).simd_eq(0).to_bitmask()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::StringStops;

    #[test]
    fn control_characters_are_found_in_each_place() {
        for length in [0, 1, 63, 64, 65, 200] {
            let text = vec![0xff; length];
            assert!(StringStops::of(&text).is_some(), "{length}");
            for at in 0..length {
                let mut text = text.clone();
                text[at] = 0x1f;
                assert!(StringStops::of(&text).is_none(), "{at} of {length}");
            }
        }
    }

    proptest! {
        #[test]
        fn next_stop_is_the_one_that_a_search_finds(
            bytes in prop::collection::vec(prop::sample::select(br#""\abcdefghijkl"#.as_slice()), 0..300),
            from in 0_usize..320,
        ) {
            let is_stop = |byte: &u8| matches!(byte, b'"' | b'\\');
            let wanted = bytes.iter().skip(from).position(is_stop).map(|at| from + at);
            prop_assert_eq!(StringStops::of(&bytes).unwrap().stop_from(from), wanted);
        }
    }
}
