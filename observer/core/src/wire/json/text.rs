//! One string, decoded and bounded.

use std::borrow::Cow;

use memchr::memchr2;

use crate::wire::kept::Kept;

/// Splits `bytes`, which begin after an opening quote, into the string and the bytes after its closing quote. `None` if the string
/// has escapes, or does not end.
#[inline]
pub(super) fn split_plain(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    match bytes.split_at_checked(stop(bytes)?)? {
        (text, [b'"', rest @ ..]) => Some((text, rest)),
        _ => None,
    }
}

/// Offset of the first quote or backslash.
///
/// Most strings are short, so the first bytes are examined eight at a time. That takes no longer than starting a call of `memchr2`.
#[inline]
pub(super) fn stop(bytes: &[u8]) -> Option<usize> {
    const WORD: usize = 8;
    const WORDS: usize = 4;
    for (index, word) in bytes.as_chunks::<WORD>().0.iter().take(WORDS).enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = zeros(word ^ each(b'"')) | zeros(word ^ each(b'\\'));
        if found != 0 {
            return Some(index * WORD + found.trailing_zeros() as usize / WORD);
        }
    }
    let looked_at = (bytes.len() / WORD).min(WORDS) * WORD;
    memchr2(b'"', b'\\', bytes.get(looked_at..)?).map(|at| looked_at + at)
}

/// A word with this value in every byte.
const fn each(byte: u8) -> u64 {
    0x0101_0101_0101_0101 * byte as u64
}

/// The highest bit of each zero byte. Above the lowest of these bits, bits of other bytes may be set too (Warren, Hacker's Delight,
/// 6-1).
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(each(1)) & !word & each(0x80)
}

/// A string that is being read.
///
/// ```text
///          `\`            `u`               four hex digits
/// Plain ───────► Escape ───────► Unicode ─────────────────────► Plain
///                  └── one of "\/bfnrt ──► Plain
/// ```
///
/// A leading surrogate waits in `leading` until it is known whether a trailing one follows.
#[derive(Debug, Default)]
pub(super) struct Text {
    kept: Kept,
    state: State,
    leading: Option<u16>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    #[default]
    Plain,
    Escape,
    Unicode {
        digits: u8,
        unit: u16,
    },
}

/// The result of offering bytes to a [`Text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// All of them belong to the string, which continues.
    All,
    /// The string ended before this offset.
    UpTo(usize),
    /// The byte at this offset is invalid.
    Malformed(usize),
}

impl Text {
    /// Begins a string of which at most `limit` bytes are kept.
    pub(super) fn begin(&mut self, limit: usize) {
        self.kept.begin(limit);
        (self.state, self.leading) = (State::Plain, None);
    }

    /// Reads up to and including the closing quote.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Taken {
        let mut rest = bytes;
        while let [byte, after @ ..] = rest {
            let at = bytes.len() - rest.len();
            match self.state {
                State::Plain => {
                    let (run, from_stop) = rest.split_at_checked(stop(rest).unwrap_or(rest.len())).unwrap_or((rest, &[]));
                    self.append(run);
                    match from_stop {
                        [b'"', ..] => {
                            self.settle_surrogate();
                            return Taken::UpTo(at + run.len() + 1);
                        }
                        [_, after_backslash @ ..] => {
                            self.state = State::Escape;
                            rest = after_backslash;
                        }
                        [] => return Taken::All,
                    }
                }
                State::Escape | State::Unicode { .. } => {
                    if self.escape(*byte).is_none() {
                        return Taken::Malformed(at);
                    }
                    rest = after;
                }
            }
        }
        Taken::All
    }

    /// Adds bytes that need no decoding, such as those of a number.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.settle_surrogate();
        self.kept.push(bytes);
    }

    /// The bytes kept so far.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.kept.as_bytes()
    }

    /// The kept bytes as text.
    pub(super) fn decoded(&self) -> Cow<'_, str> {
        self.kept.decoded()
    }

    /// Reads one byte of an escape sequence; `None` if it is invalid there.
    fn escape(&mut self, byte: u8) -> Option<()> {
        match self.state {
            State::Plain => {}
            State::Escape if byte == b'u' => self.state = State::Unicode { digits: 0, unit: 0 },
            State::Escape => {
                self.append(&[unescaped(byte)?]);
                self.state = State::Plain;
            }
            State::Unicode { digits, unit } => {
                let digit = u16::try_from(char::from(byte).to_digit(16)?).ok()?;
                let (digits, unit) = (digits + 1, unit << 4 | digit);
                self.state = State::Unicode { digits, unit };
                if digits == 4 {
                    self.state = State::Plain;
                    self.append_unit(unit);
                }
            }
        }
        Some(())
    }

    /// Adds one UTF-16 code unit of a `\u` escape.
    fn append_unit(&mut self, unit: u16) {
        match (self.leading, unit) {
            (Some(leading), 0xdc00..=0xdfff) => {
                self.leading = None;
                char::decode_utf16([leading, unit]).flatten().for_each(|char| self.push_char(char));
            }
            (_, 0xd800..=0xdbff) => {
                self.settle_surrogate();
                self.leading = Some(unit);
            }
            _ => {
                self.settle_surrogate();
                self.push_char(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }

    /// Replaces a leading surrogate without a trailing one by U+FFFD, as Go does.
    fn settle_surrogate(&mut self) {
        if self.leading.take().is_some() {
            self.push_char(char::REPLACEMENT_CHARACTER);
        }
    }

    fn push_char(&mut self, char: char) {
        self.kept.push(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// The character for which `\` and `byte` stand.
fn unescaped(byte: u8) -> Option<u8> {
    match byte {
        b'"' | b'\\' | b'/' => Some(byte),
        b'b' => Some(0x08),
        b'f' => Some(0x0c),
        b'n' => Some(b'\n'),
        b'r' => Some(b'\r'),
        b't' => Some(b'\t'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Taken, Text, split_plain};
    use crate::wire::kept;

    #[test]
    fn every_escape_is_decoded() {
        check(r#"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC""#, "\"\\/\u{8}\u{c}\n\r\tAé€");
    }

    #[test]
    fn surrogate_pairs_are_joined_and_lone_ones_replaced() {
        check(r#"\ud83d\ude00|\ud83d|\ude00|\ud83d\ud83d\ude00\ud83d""#, "😀|\u{fffd}|\u{fffd}|\u{fffd}😀\u{fffd}");
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let mut text = Text::default();
        text.begin(4);
        assert_eq!(text.take("abc€x\"".as_bytes()), Taken::UpTo(8));
        assert_eq!(text.decoded(), "abc");
    }

    #[test]
    fn unknown_escapes_are_malformed_where_they_are() {
        let mut text = Text::default();
        text.begin(9);
        assert_eq!(text.take(br"ab\q"), Taken::Malformed(3));
        text.begin(9);
        assert_eq!(text.take(br"ab\u00g0"), Taken::Malformed(6));
    }

    proptest! {
        #[test]
        fn reading_piecewise_equals_reading_at_once(bytes in prop::collection::vec(any::<u8>(), 0..40), limit in 0_usize..50) {
            prop_assume!(!bytes.contains(&b'"') && !bytes.contains(&b'\\'));
            let quoted = [bytes.as_slice(), b"\""].concat();
            let (at_once, rest) = split_plain(&quoted).unwrap();
            prop_assert!(rest.is_empty());
            prop_assert_eq!(kept::text(at_once, limit), byte_by_byte(&quoted, limit));
        }
    }

    #[track_caller]
    fn check(quoted: &str, decoded: &str) {
        assert_eq!(byte_by_byte(quoted.as_bytes(), 100), decoded);
    }

    #[track_caller]
    fn byte_by_byte(quoted: &[u8], limit: usize) -> String {
        let mut text = Text::default();
        text.begin(limit);
        for byte in &quoted[..quoted.len() - 1] {
            assert_eq!(text.take(&[*byte]), Taken::All);
        }
        assert_eq!(text.take(b"\""), Taken::UpTo(1));
        text.decoded().into_owned()
    }
}
