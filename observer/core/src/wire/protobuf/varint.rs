//! Numbers of one to ten bytes (protobuf.dev, Encoding, "Base 128 Varints").

/// A varint that is being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Varint {
    value: u64,
    bits: u32,
}

/// The result of adding one byte to a varint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// It continues.
    Part,
    /// It is complete.
    Whole(u64),
    /// It is longer than any number.
    TooLong,
}

impl Varint {
    /// A varint before its first byte.
    pub(super) const EMPTY: Self = Self { value: 0, bits: 0 };

    /// Reads one byte. Of a tenth byte, only the lowest bit counts, as in Go's decoder.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> Taken {
        if self.bits >= u64::BITS {
            return Taken::TooLong;
        }
        self.value |= u64::from(byte & 0x7f) << self.bits;
        self.bits += 7;
        if byte < 0x80 { Taken::Whole(self.value) } else { Taken::Part }
    }

    /// Whether no byte was read.
    pub(super) const fn is_empty(self) -> bool {
        self.bits == 0
    }
}

#[cfg(test)]
mod tests {
    use super::{Taken, Varint};

    #[test]
    fn varints_have_one_to_ten_bytes() {
        for (bytes, last) in [
            (&[0x00][..], Taken::Whole(0)),
            (&[0x96, 0x01], Taken::Whole(150)),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], Taken::Whole(u64::MAX)),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], Taken::Whole(u64::MAX)),
            (&[0x80; 10], Taken::Part),
            (&[0x80; 11], Taken::TooLong),
        ] {
            let mut varint = Varint::EMPTY;
            assert_eq!(bytes.iter().map(|byte| varint.take(*byte)).last(), Some(last), "{bytes:x?}");
        }
    }
}
