//! A wrapper for bytes that must not appear in debug output.

use std::fmt;
use std::ops::Deref;

/// Bytes of a connection, a body or a page, which may contain a secret or an object: `Debug` shows only their number.
///
/// A house rule keeps bytes out of every other field of a type that derives `Debug`.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Redacted<Bytes>(pub Bytes);

impl<Bytes> Deref for Redacted<Bytes> {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.0
    }
}

impl<Bytes: AsRef<[u8]>> fmt::Debug for Redacted<Bytes> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{} bytes]", self.0.as_ref().len())
    }
}

#[cfg(test)]
mod tests {
    use super::Redacted;

    #[test]
    fn debug_shows_a_length_only() {
        assert_eq!(format!("{:?} {:#?}", Redacted(&b"canary"[..]), Redacted(vec![1, 2])), "[6 bytes] [2 bytes]");
    }
}
