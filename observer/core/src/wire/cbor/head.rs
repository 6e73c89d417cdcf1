//! The head of a data item: its type and its length or value (RFC 8949 §3).

/// The decoded head of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Head {
    /// An integer; `None` if it does not fit into `i64`.
    Integer(Option<i64>),
    /// A byte or text string of this many bytes; `None` if its bytes come in chunks that end with a break.
    String(Option<u64>),
    /// An array of this many elements; `None` if it ends with a break.
    Array(Option<u64>),
    /// A map of this many pairs; `None` if it ends with a break.
    Map(Option<u64>),
    /// A tag of the item that follows.
    Tag,
    /// The simple value `null`.
    Null,
    /// `true`, `false`, a float, or another value without content.
    Simple,
    /// The end of an item without a length.
    Break,
}

/// A head that is being read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeadReader {
    /// The major type, once a longer head has begun.
    major: u8,
    /// The low five bits of the first byte: with major type 7, 22 is `null`.
    low: u8,
    argument: u64,
    /// Bytes of the argument that are still to come.
    missing: u8,
}

impl HeadReader {
    /// Whether no head has begun.
    pub(super) const fn is_empty(self) -> bool {
        self.missing == 0
    }

    /// Continues reading. Returns the head, or `None` if it needs more bytes, and the rest of `bytes`. The error means that no head
    /// begins with this first byte.
    #[inline]
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8]) -> Result<(Option<Head>, &'a [u8]), &'static str> {
        let mut rest = bytes;
        if self.is_empty() {
            let Some((initial, after)) = rest.split_first() else { return Ok((None, rest)) };
            let (major, low) = (initial >> 5, initial & 0x1f);
            rest = after;
            if low < 24 {
                return Ok((Some(head(major, low, u64::from(low))), rest));
            }
            if low == 31 {
                return Ok((Some(indefinite(major).ok_or(NO_HEAD)?), rest));
            }
            if low > 27 {
                return Err(NO_HEAD);
            }
            *self = Self { major, low, argument: 0, missing: 1 << (low - 24) };
        }
        while self.missing > 0 {
            let Some((byte, after)) = rest.split_first() else { return Ok((None, rest)) };
            self.argument = self.argument << 8 | u64::from(*byte);
            self.missing -= 1;
            rest = after;
        }
        Ok((Some(head(self.major, self.low, self.argument)), rest))
    }
}

const NO_HEAD: &str = "invalid first byte of a CBOR data item";

#[inline]
fn head(major: u8, low: u8, argument: u64) -> Head {
    match major {
        0 => Head::Integer(i64::try_from(argument).ok()),
        1 => Head::Integer(i64::try_from(argument).ok().map(|number| -1 - number)),
        2 | 3 => Head::String(Some(argument)),
        4 => Head::Array(Some(argument)),
        5 => Head::Map(Some(argument)),
        6 => Head::Tag,
        _ if low == 22 => Head::Null,
        _ => Head::Simple,
    }
}

fn indefinite(major: u8) -> Option<Head> {
    match major {
        2 | 3 => Some(Head::String(None)),
        4 => Some(Head::Array(None)),
        5 => Some(Head::Map(None)),
        7 => Some(Head::Break),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, HeadReader};

    #[test]
    fn heads_match_the_examples_of_rfc_8949() {
        for (bytes, head) in [
            (&[0x17][..], Head::Integer(Some(23))),
            (&[0x18, 0x64], Head::Integer(Some(100))),
            (&[0x1b, 0, 0, 0, 0xe8, 0xd4, 0xa5, 0x10, 0], Head::Integer(Some(1_000_000_000_000))),
            (&[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Head::Integer(None)),
            (&[0x38, 0x63], Head::Integer(Some(-100))),
            (&[0x44], Head::String(Some(4))),
            (&[0x79, 1, 0], Head::String(Some(256))),
            (&[0x9f], Head::Array(None)),
            (&[0xa2], Head::Map(Some(2))),
            (&[0xd9, 0xd9, 0xf7], Head::Tag),
            (&[0xf6], Head::Null),
            (&[0xf5], Head::Simple),
            (&[0xfa, 0x47, 0xc3, 0x50, 0], Head::Simple),
            (&[0xff], Head::Break),
        ] {
            assert_eq!(HeadReader::default().take(bytes), Ok((Some(head), &[][..])), "{bytes:x?}");
            let mut reader = HeadReader::default();
            let (last, first) = bytes.split_last().unwrap();
            for byte in first {
                assert_eq!(reader.take(&[*byte]), Ok((None, &[][..])));
            }
            assert_eq!(reader.take(&[*last]), Ok((Some(head), &[][..])), "{bytes:x?}");
        }
    }

    #[test]
    fn reserved_heads_are_refused() {
        for initial in [0x1c, 0x3e, 0x5d, 0x1f, 0xdf] {
            assert!(HeadReader::default().take(&[initial, 0]).is_err(), "{initial:x}");
        }
    }
}
