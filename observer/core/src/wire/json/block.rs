//! Sixty-four bytes classified at once.
//!
//! The loops are written so that the compiler turns them into vector compares on every target (four on SSE2, which every x86-64
//! has); there is nothing here but arithmetic. What is done with the bitmaps follows simdjson (simdjson/simdjson, `src/generic/stage1`).

/// Bytes in a block.
pub(super) const BLOCK: usize = 64;

/// Where the bytes that shape JSON are in one block.
///
/// The bitmaps are *woven*: byte `8k + j` is at bit `8j + k`, which vector instructions give without further ado. [`transpose`] puts
/// them in order, and back.
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
    #[inline]
    pub(super) fn of(bytes: &[u8; BLOCK]) -> Self {
        Self {
            quotes: woven(bytes, |byte| byte == b'"'),
            backslashes: woven(bytes, |byte| byte == b'\\'),
            opens: woven(bytes, |byte| byte | BRACKET_OR_BRACE == b'{'),
            closes: woven(bytes, |byte| byte | BRACKET_OR_BRACE == b'}'),
        }
    }
}

/// The one bit in which `[` and `{`, and `]` and `}`, differ.
const BRACKET_OR_BRACE: u8 = 0x20;

/// For each byte of a block, the bit of the eighth that it is in.
const QUARTERS: [[u8; 16]; 4] = [two_eighths(1, 2), two_eighths(4, 8), two_eighths(16, 32), two_eighths(64, 128)];

const fn two_eighths(first: u8, second: u8) -> [u8; 16] {
    let (f, s) = (first, second);
    [f, f, f, f, f, f, f, f, s, s, s, s, s, s, s, s]
}

/// The woven bitmap of the bytes that pass `test`.
///
/// One loop over the lanes of four vectors at once: with a loop per vector, LLVM 22 does not see that vectors are meant, and the code
/// is twenty times slower.
#[inline]
fn woven(bytes: &[u8; BLOCK], test: impl Fn(u8) -> bool) -> u64 {
    let ([a, b, c, d], _) = bytes.as_chunks::<16>() else { return 0 };
    let [in_a, in_b, in_c, in_d] = &QUARTERS;
    let mark = |(byte, bit): (&u8, &u8)| if test(*byte) { *bit } else { 0 };
    let (a, b) = (a.iter().zip(in_a).map(mark), b.iter().zip(in_b).map(mark));
    let (c, d) = (c.iter().zip(in_c).map(mark), d.iter().zip(in_d).map(mark));

    let mut lanes = [0; 16];
    for (lane, ((a, b), (c, d))) in lanes.iter_mut().zip(a.zip(b).zip(c.zip(d))) {
        *lane = a | b | c | d;
    }
    let [low, high] = lanes.as_chunks::<8>().0 else { return 0 };
    u64::from_le_bytes(*low) | u64::from_le_bytes(*high)
}

/// From woven to in order, or back: transposes eight by eight bits (Warren, Hacker's Delight, 7-3).
#[inline]
pub(super) fn transpose(bits: u64) -> u64 {
    let swapped = (bits ^ (bits >> 7)) & 0x00aa_00aa_00aa_00aa;
    let bits = bits ^ swapped ^ (swapped << 7);
    let swapped = (bits ^ (bits >> 14)) & 0x0000_cccc_0000_cccc;
    let bits = bits ^ swapped ^ (swapped << 14);
    let swapped = (bits ^ (bits >> 28)) & 0x0000_0000_f0f0_f0f0;
    bits ^ swapped ^ (swapped << 28)
}

/// Which bytes have an odd number of `quotes` up to and including themselves: those of strings, from the opening quote up to, not
/// including, the closing one. Both bitmaps are woven.
#[inline]
pub(super) fn parity(quotes: u64) -> u64 {
    // Within each eighth: its first byte is in the lowest byte here, so shifts by whole bytes go along it.
    let within = [8, 16, 32].into_iter().fold(quotes, |bits, distance| bits ^ (bits << distance));
    // From eighth to eighth: the highest byte has the parity of each.
    let before = [1, 2, 4].into_iter().fold((within >> 56) << 1, |bits, distance| bits ^ (bits << distance)) & 0xff;
    within ^ (before * 0x0101_0101_0101_0101)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BLOCK, Block, parity, transpose};

    proptest! {
        #[test]
        fn each_byte_is_classified_at_its_own_bit(block in block()) {
            let found = Block::of(&block);
            for (bits, wanted) in [
                (found.quotes, b"\"".as_slice()),
                (found.backslashes, b"\\"),
                (found.opens, b"{["),
                (found.closes, b"}]"),
            ] {
                prop_assert_eq!(transpose(bits), in_order(|index| wanted.contains(&block[index])));
            }
        }

        #[test]
        fn parity_is_odd_from_each_opening_to_each_closing_quote(block in block()) {
            let is_inside = |index: usize| block[..=index].split(|byte| *byte == b'"').count() % 2 == 0;
            prop_assert_eq!(transpose(parity(Block::of(&block).quotes)), in_order(is_inside));
        }

        #[test]
        fn transposing_twice_changes_nothing(bits in any::<u64>()) {
            prop_assert_eq!(transpose(transpose(bits)), bits);
        }
    }

    fn block() -> impl Strategy<Value = [u8; BLOCK]> {
        let byte = prop_oneof![any::<u8>(), prop::sample::select(br#""\{}[]"#.as_slice())];
        prop::collection::vec(byte, BLOCK).prop_map(|bytes| bytes.try_into().unwrap())
    }

    fn in_order(test: impl Fn(usize) -> bool) -> u64 {
        (0..BLOCK).filter(|index| test(*index)).fold(0, |bits, index| bits | 1 << index)
    }
}
