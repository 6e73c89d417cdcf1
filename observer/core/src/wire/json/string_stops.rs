//! The bytes of a text at which a string may end.

#![expect(
    clippy::inline_always,
    reason = "vector instructions are used only where the code is inlined into what was compiled for them"
)]

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, u8x64};

use super::block::BLOCK;

/// Blocks whose bitmaps are made at once.
const WINDOW: usize = 16;

/// The quotes and backslashes of a text, as bitmaps. They are made when they are asked for, so that a part that is passed over costs nothing.
pub(crate) struct StringStops<'t> {
    text: &'t [u8],
    /// The block of the first bitmaps, counted from the beginning of the text.
    first: usize,
    /// Number of blocks that have bitmaps.
    blocks: usize,
    /// Both bitmaps of each block: bit `n` stands for byte `n`. Kept apart: LLVM 22 compiles the OR of both masks to about 200 instructions.
    bitmaps: [[u64; 2]; WINDOW],
}

impl<'t> StringStops<'t> {
    pub(crate) const fn of(text: &'t [u8]) -> Self {
        Self { text, first: 0, blocks: 0, bitmaps: [[0; 2]; WINDOW] }
    }

    pub(crate) const fn text(&self) -> &'t [u8] {
        self.text
    }

    /// The offset of the first quote or backslash at `from` or after it. `None` if there is none, or if a control character is near, which
    /// strings must not have.
    #[inline]
    pub(crate) fn stop_from(&mut self, from: usize) -> Option<usize> {
        let mut number = from / BLOCK;
        let mut mask = u64::MAX << (from % BLOCK);
        loop {
            let place = number.wrapping_sub(self.first);
            let Some([quotes, backslashes]) = self.bitmaps.get(place).filter(|_| place < self.blocks) else {
                self.make_from(number)?;
                continue;
            };
            let stops = (quotes | backslashes) & mask;
            if stops != 0 {
                return Some(number * BLOCK + stops.trailing_zeros() as usize);
            }
            (number, mask) = (number + 1, u64::MAX);
        }
    }

    /// Makes the bitmaps of the blocks from this one on. `None` if the text has no such block, or if they have a control character.
    #[inline(never)]
    fn make_from(&mut self, block: usize) -> Option<()> {
        let text = self.text.get(block * BLOCK..).filter(|text| !text.is_empty())?;
        let text = text.get(..WINDOW * BLOCK).unwrap_or(text);
        self.blocks = 0;
        dispatch!(Level::new(), simd => collect(simd, text, &mut self.bitmaps)).then_some(())?;
        (self.first, self.blocks) = (block, text.len().div_ceil(BLOCK));
        Some(())
    }
}

/// Makes the bitmaps of all blocks. Returns whether no byte is a control character.
#[inline(always)]
fn collect<S: Simd>(simd: S, text: &[u8], bitmaps: &mut [[u64; 2]; WINDOW]) -> bool {
    let (whole, tail) = text.as_chunks::<BLOCK>();
    let (mut bitmaps, mut controls) = (bitmaps.iter_mut(), 0);
    for (block, bitmaps) in whole.iter().zip(&mut bitmaps) {
        controls |= classify(simd, block, bitmaps);
    }
    let mut last = [b' '; BLOCK];
    last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
    // Without room, the window has only complete blocks.
    if let Some(bitmaps) = bitmaps.next() {
        controls |= classify(simd, &last, bitmaps);
    }
    controls == 0
}

/// Notes the quotes and backslashes; returns the control characters.
#[inline(always)]
fn classify<S: Simd>(simd: S, block: &[u8; BLOCK], bitmaps: &mut [u64; 2]) -> u64 {
    /// All of these bits are unset in a control character, and only there.
    const NO_CONTROL: u8 = 0xe0;
    let bytes = u8x64::simd_from(simd, *block);
    *bitmaps = [bytes.simd_eq(b'"').to_bitmask(), bytes.simd_eq(b'\\').to_bitmask()];
    (bytes & NO_CONTROL).simd_eq(0).to_bitmask()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK, StringStops, WINDOW};

    #[test]
    fn control_characters_are_found_in_each_place_that_is_searched() {
        for length in [1, 63, 64, 65, 200] {
            let text = vec![0xff; length];
            assert_eq!(StringStops::of(&text).stop_from(0), None);
            for at in 0..length {
                let mut text = [text.as_slice(), b"\""].concat();
                assert_eq!(StringStops::of(&text).stop_from(0), Some(length));
                text[at] = 0x1f;
                assert_eq!(StringStops::of(&text).stop_from(0), None, "{at} of {length}");
            }
        }
        let far = [&[b'a'; 4 * WINDOW * BLOCK][..], b"\x1f\""].concat();
        assert_eq!(StringStops::of(&[b"\"", far.as_slice()].concat()).stop_from(0), Some(0), "nothing else is searched");
        assert_eq!(StringStops::of(&far).stop_from(0), None);
    }

    proptest! {
        #[test]
        fn next_stop_is_the_one_that_a_search_finds(
            bytes in prop::collection::vec(prop::sample::select(br#""\abcdefghijkl"#.as_slice()), 0..300),
            gap in 0..3 * WINDOW * BLOCK,
            searched in prop::collection::vec(0..4 * WINDOW * BLOCK, 1..5),
        ) {
            let text = [bytes.as_slice(), &vec![b'x'; gap], &bytes].concat();
            let mut stops = StringStops::of(&text);
            let is_stop = |byte: &u8| matches!(byte, b'"' | b'\\');
            for from in searched {
                let wanted = text.iter().skip(from).position(is_stop).map(|at| from + at);
                prop_assert_eq!(stops.stop_from(from), wanted, "from {}", from);
            }
        }
    }
}
