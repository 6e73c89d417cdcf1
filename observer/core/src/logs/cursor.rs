//! A cursor over JSON text, which builds no values.
//!
//! It checks the grammar (RFC 8259) of all that it passes, also of values that are not read. It gives up at rare forms, such as an escape in
//! a member name. Then its caller asks `serde_json`, which decides what they are.

use std::borrow::Cow;
use std::str;

use crate::wire::string_stop;

/// Maximum number of arrays and objects around a value that is passed.
const MOST_NESTED: u32 = u64::BITS;

/// The rest of the text.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t>(&'t [u8]);

/// A string, as it stands between its quotes.
#[derive(Clone, Copy)]
struct Quoted<'t> {
    text: &'t [u8],
    is_escaped: bool,
}

impl<'t> Cursor<'t> {
    /// At the first byte of a text that is not white space. `None` if the text has a control character, which strings must not have: a line
    /// has none, so no string has to be searched for them.
    pub(super) fn of(text: &'t [u8]) -> Option<Self> {
        // Without an early end, the compiler uses vector instructions.
        let least = text.iter().fold(u8::MAX, |least, byte| least.min(*byte));
        let mut cursor = Self(text);
        cursor.space();
        (least >= b' ').then_some(cursor)
    }

    /// Whether only white space is left.
    pub(super) fn is_at_end(mut self) -> bool {
        self.space();
        self.0.is_empty()
    }

    /// Reads an object. `each` receives the name of each member, and takes its value. `None` if it gave up, or if this is no object.
    #[inline]
    pub(super) fn members(&mut self, mut each: impl FnMut(&[u8], &mut Self) -> Option<()>) -> Option<()> {
        self.pass(b'{')?;
        if self.pass(b'}').is_some() {
            return Some(());
        }
        loop {
            let name = self.name()?;
            each(name, self)?;
            self.space();
            if self.pass(b',').is_none() {
                return self.pass(b'}');
            }
        }
    }

    /// Reads an array. `each` takes each element. `None` if it gave up, or if this is no array.
    #[inline]
    pub(super) fn elements(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.pass(b'[')?;
        if self.pass(b']').is_some() {
            return Some(());
        }
        loop {
            each(self)?;
            self.space();
            if self.pass(b',').is_none() {
                return self.pass(b']');
            }
        }
    }

    /// Reads a string.
    #[inline]
    pub(super) fn text(&mut self) -> Option<Cow<'t, str>> {
        let before = self.0;
        let quoted = self.quoted()?;
        if quoted.is_escaped {
            let with_quotes = before.get(..quoted.text.len() + 2)?;
            return serde_json::from_slice(with_quotes).ok().map(Cow::Owned);
        }
        str::from_utf8(quoted.text).ok().map(Cow::Borrowed)
    }

    /// Reads a number that has only digits, at most nine.
    pub(super) fn digits(&mut self) -> Option<u32> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = self.0.split_at_checked(digits)?;
        let is_usual = matches!((number, rest), ([b'0'] | [b'1'..=b'9', ..], [b',' | b'}', ..]));
        if !is_usual || digits > 9 {
            return None;
        }
        self.0 = rest;
        Some(number.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    }

    /// Passes a value of any kind.
    pub(super) fn value(&mut self) -> Option<()> {
        // The kinds of the arrays and objects around the next value, the innermost last: 1 for an object.
        let (mut kinds, mut nested) = (0_u64, 0);
        loop {
            match self.0.first()? {
                b'"' => drop(self.quoted()?),
                b'{' | b'[' => {
                    let is_object = self.0.first() == Some(&b'{');
                    self.0 = self.0.get(1..)?;
                    self.space();
                    if self.0.first()? == if is_object { &b'}' } else { &b']' } {
                        self.0 = self.0.get(1..)?;
                    } else {
                        if nested == MOST_NESTED {
                            return None;
                        }
                        (kinds, nested) = (kinds << 1 | u64::from(is_object), nested + 1);
                        if is_object {
                            self.quoted()?;
                            self.colon()?;
                        }
                        continue;
                    }
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _other => self.number()?,
            }
            loop {
                if nested == 0 {
                    return Some(());
                }
                self.space();
                let (next, rest) = self.0.split_first()?;
                self.0 = rest;
                match (kinds & 1, next) {
                    (1, b'}') | (0, b']') => (kinds, nested) = (kinds >> 1, nested - 1),
                    (0, b',') => break,
                    (1, b',') => {
                        self.space();
                        self.quoted()?;
                        self.colon()?;
                        break;
                    }
                    _wrong => return None,
                }
            }
            self.space();
        }
    }

    /// Passes a member name and the colon after it. Gives up at names that are not plain ASCII.
    #[inline]
    fn name(&mut self) -> Option<&'t [u8]> {
        let name = self.quoted()?;
        self.colon()?;
        (!name.is_escaped && name.text.is_ascii()).then_some(name.text)
    }

    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.space();
        self.pass(b':')
    }

    /// Passes a byte and the white space after it.
    #[inline]
    fn pass(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.split_first().filter(|(first, _)| **first == byte)?.1;
        self.space();
        Some(())
    }

    #[inline]
    fn space(&mut self) {
        while let [b' ', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(word)?;
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let digits = |text: &'t [u8]| {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            text.get(digits..).filter(|_| digits > 0)
        };
        let unsigned = self.0.strip_prefix(b"-").unwrap_or(self.0);
        let mut rest = match unsigned {
            [b'0', rest @ ..] => rest,
            _other => digits(unsigned)?,
        };
        if let [b'.', fraction @ ..] = rest {
            rest = digits(fraction)?;
        }
        if let [b'e' | b'E', exponent @ ..] = rest {
            let is_signed = matches!(exponent, [b'+' | b'-', ..]);
            rest = digits(exponent.get(usize::from(is_signed)..)?)?;
        }
        self.0 = rest;
        Some(())
    }

    #[inline]
    fn quoted(&mut self) -> Option<Quoted<'t>> {
        let [b'"', text @ ..] = self.0 else { return None };
        let (mut at, mut is_escaped) = (0, false);
        loop {
            at += string_stop(text.get(at..)?)?;
            match text.get(at..)? {
                [b'"', rest @ ..] => {
                    self.0 = rest;
                    return Some(Quoted { text: text.get(..at)?, is_escaped });
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => at += 2,
                [b'\\', b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => at += 6,
                _wrong => return None,
            }
            is_escaped = true;
        }
    }
}
