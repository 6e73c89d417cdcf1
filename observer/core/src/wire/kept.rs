//! Keeps at most a given number of bytes of a text from a body.

use std::borrow::Cow;
use std::str;

use crate::redacted::Redacted;

/// At most `limit` bytes of text. Invalid UTF-8 becomes U+FFFD, as in Go's JSON encoder.
#[inline]
pub(super) fn text(bytes: &[u8], limit: usize) -> Cow<'_, str> {
    let kept = bytes.get(..limit).unwrap_or(bytes);
    decode(kept, limit, kept.len() < bytes.len())
}

/// The beginning of a text that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Kept {
    bytes: Redacted<Vec<u8>>,
    limit: usize,
    cut: bool,
}

impl Kept {
    /// Begins a text of which at most `limit` bytes are kept.
    pub(super) fn begin(&mut self, limit: usize) {
        self.bytes.0.clear();
        (self.limit, self.cut) = (limit, false);
    }

    /// Notes the next piece.
    pub(super) fn push(&mut self, piece: &[u8]) {
        let room = if self.cut { 0 } else { self.limit - self.bytes.0.len() };
        let kept = piece.get(..room).unwrap_or(piece);
        self.cut |= kept.len() < piece.len();
        self.bytes.0.extend_from_slice(kept);
    }

    /// The bytes kept so far.
    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes.0
    }

    /// The kept bytes as text.
    pub(super) fn decoded(&self) -> Cow<'_, str> {
        decode(&self.bytes.0, self.limit, self.cut)
    }
}

/// `bytes` as text of at most `limit` bytes, without a character that the cut has split.
fn decode(bytes: &[u8], limit: usize, cut: bool) -> Cow<'_, str> {
    match str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(error) if cut && error.error_len().is_none() => {
            String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default())
        }
        Err(_) => {
            let mut text = String::from_utf8_lossy(bytes).into_owned();
            text.truncate(text.floor_char_boundary(limit));
            Cow::Owned(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Kept, text};

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(text("abc€x".as_bytes(), 4), "abc");
        let mut kept = Kept::default();
        kept.begin(4);
        kept.push("abc€x".as_bytes());
        assert_eq!(kept.decoded(), "abc");
    }

    proptest! {
        #[test]
        fn reading_piecewise_equals_reading_at_once(bytes in prop::collection::vec(any::<u8>(), 0..40), limit in 0_usize..50, piece in 1_usize..9) {
            let mut kept = Kept::default();
            kept.begin(limit);
            bytes.chunks(piece).for_each(|piece| kept.push(piece));
            prop_assert_eq!(kept.decoded(), text(&bytes, limit));
            prop_assert!(text(&bytes, limit).len() <= limit);
        }
    }
}
