//! The Huffman code of string literals (RFC 7541 §5.2 and appendix B).
//!
//! The code is canonical: codes of one length are consecutive in the order of their symbols. So the lengths of appendix B define
//! the complete table, and everything else is computed from them at compile time.

use super::CompressionError;

/// Length of each symbol's code in bits (appendix B). Only the code of EOS, thirty ones, is missing.
pub const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, // 0x00
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28, // 0x10
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, // 0x20
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, // 0x30
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, // 0x40
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, // 0x50
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, // 0x60
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, // 0x70
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, // 0x80
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, // 0x90
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, // 0xa0
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, // 0xb0
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, // 0xc0
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, // 0xd0
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, // 0xe0
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, // 0xf0
];
/// Length of the longest code.
const LONGEST: u8 = 30;
/// The code of EOS, which must not occur in a string.
const EOS: u64 = 0x3fff_ffff;

/// The codes of one length: `count` consecutive codes, beginning with `first`.
#[derive(Clone, Copy, Debug)]
struct Codes {
    length: u8,
    first: u64,
    count: u64,
    /// Where the symbol of `first` is in [`SYMBOLS`].
    offset: u64,
}

/// Codes up to this length are looked up directly; nearly all codes in header fields are that short.
const SHORT: u8 = 8;

/// For each value of eight bits: the symbol whose code they begin with, and its length; 0 if the code is longer.
static SHORT_CODES: [(u8, u8); 1 << SHORT] = short_codes();
/// The codes of each length, from 1 bit to [`LONGEST`].
static CODES: [Codes; LONGEST as usize] = codes();
/// The symbols in the order of their codes.
static SYMBOLS: [u8; 256] = symbols();

/// Decodes one string, in any chunking.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Huffman {
    /// Bits that do not complete a code yet, in the low `count` bits. Fewer than 30 between two calls.
    bits: u64,
    count: u8,
}

impl Huffman {
    /// Decodes the next bytes of the string; each complete symbol goes to `symbol`.
    pub(super) fn decode(&mut self, octets: &[u8], mut symbol: impl FnMut(u8)) -> Result<(), CompressionError> {
        for octet in octets {
            self.bits = self.bits << 8 | u64::from(*octet);
            self.count = self.count.saturating_add(8);
            while let Some((decoded, length)) = self.next_symbol()? {
                symbol(decoded);
                self.count = self.count.saturating_sub(length);
                self.bits &= low_bits(self.count);
            }
        }
        Ok(())
    }

    /// Checks the bits left at the end of the string: fewer than 8, all of them ones.
    pub(super) fn finish(self) -> Result<(), CompressionError> {
        if self.count > 7 {
            return Err(CompressionError("Huffman padding longer than 7 bits"));
        }
        if self.bits != low_bits(self.count) {
            return Err(CompressionError("Huffman padding with a zero bit"));
        }
        Ok(())
    }

    fn next_symbol(self) -> Result<Option<(u8, u8)>, CompressionError> {
        match SHORT_CODES.get(usize::from(self.first_eight())) {
            Some((_, 0)) | None => self.next_of_long_code(),
            Some((symbol, length)) => Ok((*length <= self.count).then_some((*symbol, *length))),
        }
    }

    /// The first eight bits, padded with zeros.
    fn first_eight(self) -> u8 {
        let aligned = if self.count < SHORT {
            self.bits << SHORT.saturating_sub(self.count)
        } else {
            self.bits >> self.count.saturating_sub(SHORT)
        };
        aligned.to_le_bytes()[0]
    }

    fn next_of_long_code(self) -> Result<Option<(u8, u8)>, CompressionError> {
        for codes in CODES.iter().skip(usize::from(SHORT)).take_while(|codes| codes.length <= self.count) {
            let code = self.bits >> self.count.saturating_sub(codes.length);
            let rank = code.wrapping_sub(codes.first);
            if rank < codes.count {
                let position = usize::try_from(codes.offset.saturating_add(rank)).unwrap_or(usize::MAX);
                return Ok(SYMBOLS.get(position).map(|symbol| (*symbol, codes.length)));
            }
            if codes.length == LONGEST && code == EOS {
                return Err(CompressionError("EOS in a Huffman string"));
            }
        }
        Ok(None)
    }
}

fn low_bits(count: u8) -> u64 {
    u64::MAX.unbounded_shr(64_u32.saturating_sub(u32::from(count)))
}

#[expect(clippy::indexing_slicing, reason = "computed when the crate is built: a wrong index does not compile")]
const fn codes() -> [Codes; LONGEST as usize] {
    let mut all = [Codes { length: 0, first: 0, count: 0, offset: 0 }; LONGEST as usize];
    let (mut next_code, mut offset, mut length) = (0, 0, 1);
    while length <= LONGEST {
        let count = count_of(length);
        all[length as usize - 1] = Codes { length, first: next_code, count, offset };
        next_code = (next_code + count) << 1;
        offset += count;
        length += 1;
    }
    all
}

#[expect(clippy::indexing_slicing, reason = "computed when the crate is built: a wrong index does not compile")]
const fn count_of(length: u8) -> u64 {
    let (mut count, mut symbol) = (0, 0);
    while symbol < LENGTHS.len() {
        if LENGTHS[symbol] == length {
            count += 1;
        }
        symbol += 1;
    }
    count
}

#[expect(clippy::indexing_slicing, reason = "computed when the crate is built: a wrong index does not compile")]
const fn symbols() -> [u8; 256] {
    let mut all = [0; 256];
    let (mut at, mut length) = (0, 1);
    while length <= LONGEST {
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] == length {
                all[at] = symbol.to_le_bytes()[0];
                at += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    all
}

#[expect(clippy::indexing_slicing, reason = "computed when the crate is built: a wrong index does not compile")]
const fn short_codes() -> [(u8, u8); 1 << SHORT] {
    let symbols = symbols();
    let mut all = [(0, 0); 1 << SHORT];
    let (mut position, mut at) = (0, 0);
    while position < symbols.len() {
        let length = LENGTHS[symbols[position] as usize];
        if length > SHORT {
            break;
        }
        let behind = at + (1 << (SHORT - length));
        while at < behind {
            all[at] = (symbols[position], length);
            at += 1;
        }
        position += 1;
    }
    all
}
