//! Integers with a prefix (RFC 7541 §5.1).

use super::CompressionError;

/// An integer that needs more bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Integer {
    value: u64,
    shift: u32,
}

/// An integer after its next byte.
#[derive(Clone, Copy, Debug)]
pub(super) enum Progress {
    /// The integer is complete, with this value.
    Done(u32),
    /// Another byte follows.
    More(Integer),
}

impl Integer {
    /// Reads the low `prefix_bits` (1 to 8) of the first byte.
    pub(super) fn begin(first: u8, prefix_bits: u32) -> Progress {
        let mask = u8::MAX.unbounded_shr(u8::BITS.saturating_sub(prefix_bits));
        let prefix = first & mask;
        if prefix < mask {
            return Progress::Done(u32::from(prefix));
        }
        Progress::More(Self { value: u64::from(mask), shift: 0 })
    }

    /// Reads a continuation byte. Values above 2³²−1 are refused, as are more than five bytes.
    pub(super) fn push(self, byte: u8) -> Result<Progress, CompressionError> {
        if self.shift > 28 {
            return Err(CompressionError("integer of more than five bytes"));
        }
        let value = self.value.saturating_add(u64::from(byte & 0x7f) << self.shift);
        if byte & 0x80 != 0 {
            return Ok(Progress::More(Self { value, shift: self.shift.saturating_add(7) }));
        }
        u32::try_from(value).map(Progress::Done).map_err(|_overflow| CompressionError("integer above 2^32-1"))
    }
}
