//! A cursor over JSON text, which builds no values.
//!
//! It checks the grammar (RFC 8259) of all that it passes, also of values that are not read, except within bodies. It gives up at rare forms,
//! such as an escape in a member name. Then its caller asks `serde_json`, which decides what they are. As there, only strings that are read
//! have to be UTF-8.

use std::borrow::Cow;
use std::str;

use crate::wire::{StringStops, nested_end};

/// Maximum number of arrays and objects around a value that is passed.
const MOST_NESTED: u32 = u64::BITS;

/// A place in a text.
pub(super) struct Cursor<'t> {
    at: usize,
    stops: StringStops<'t>,
}

/// A string, by the offsets of the first byte after its opening quote and of its closing quote.
#[derive(Clone, Copy)]
struct Quoted {
    begin: usize,
    end: usize,
    is_escaped: bool,
}

impl<'t> Cursor<'t> {
    /// At the first byte of a text that is not white space.
    pub(super) fn of(text: &'t [u8]) -> Self {
        let mut cursor = Self { at: 0, stops: StringStops::of(text) };
        cursor.space();
        cursor
    }

    /// Whether only white space is left.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.space();
        self.at == self.bytes().len()
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
        let Quoted { begin, end, is_escaped } = self.quoted()?;
        if is_escaped {
            return serde_json::from_slice(self.bytes().get(begin - 1..=end)?).ok().map(Cow::Owned);
        }
        self.bytes().get(begin..end).and_then(|text| str::from_utf8(text).ok()).map(Cow::Borrowed)
    }

    /// Reads a number that has only digits, at most nine.
    pub(super) fn digits(&mut self) -> Option<u32> {
        let rest = self.rest();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = rest.split_at_checked(digits)?;
        let is_usual = matches!((number, rest), ([b'0'] | [b'1'..=b'9', ..], [b',' | b'}', ..]));
        if !is_usual || digits > 9 {
            return None;
        }
        self.at += digits;
        Some(number.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0')))
    }

    /// Passes an object or array of any size by its brackets alone, without a check of the grammar between them; or any other value.
    pub(super) fn body(&mut self) -> Option<()> {
        if !matches!(self.peek(), Some(b'{' | b'[')) {
            return self.value();
        }
        self.at += nested_end(self.rest())?;
        Some(())
    }

    /// Passes a value of any kind.
    pub(super) fn value(&mut self) -> Option<()> {
        // The kinds of the arrays and objects around the next value, the innermost last: 1 for an object.
        let (mut kinds, mut nested) = (0_u64, 0);
        loop {
            match self.peek()? {
                b'"' => drop(self.quoted()?),
                open @ (b'{' | b'[') => {
                    let is_object = open == b'{';
                    self.at += 1;
                    self.space();
                    if self.peek()? == if is_object { b'}' } else { b']' } {
                        self.at += 1;
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
                let next = self.peek()?;
                self.at += 1;
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
        let Quoted { begin, end, is_escaped } = self.quoted()?;
        self.colon()?;
        let name = self.bytes().get(begin..end)?;
        (!is_escaped && name.is_ascii()).then_some(name)
    }

    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.space();
        self.pass(b':')
    }

    /// Passes a byte and the white space after it.
    #[inline]
    fn pass(&mut self, byte: u8) -> Option<()> {
        if self.peek()? != byte {
            return None;
        }
        self.at += 1;
        self.space();
        Some(())
    }

    #[inline]
    fn space(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.at).copied()
    }

    #[inline]
    const fn bytes(&self) -> &'t [u8] {
        self.stops.text()
    }

    #[inline]
    fn rest(&self) -> &'t [u8] {
        self.bytes().get(self.at..).unwrap_or_default()
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest().strip_prefix(word)?;
        self.at += word.len();
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let digits = |text: &'t [u8]| {
            let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
            text.get(digits..).filter(|_| digits > 0)
        };
        let all = self.rest();
        let unsigned = all.strip_prefix(b"-").unwrap_or(all);
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
        self.at += all.len() - rest.len();
        Some(())
    }

    #[inline]
    fn quoted(&mut self) -> Option<Quoted> {
        if self.peek()? != b'"' {
            return None;
        }
        let begin = self.at + 1;
        let (mut end, mut is_escaped) = (begin, false);
        loop {
            end = self.stops.stop_from(end)?;
            match self.bytes().get(end..)? {
                [b'"', ..] => {
                    self.at = end + 1;
                    return Some(Quoted { begin, end, is_escaped });
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => end += 2,
                [b'\\', b'u', a, b, c, d, ..] if [a, b, c, d].iter().all(|digit| digit.is_ascii_hexdigit()) => end += 6,
                _wrong => return None,
            }
            is_escaped = true;
        }
    }
}
