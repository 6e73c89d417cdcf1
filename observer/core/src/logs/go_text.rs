//! Texts as Go quotes them (Go `strconv.Quote`, and the text form of protobuf messages).

use std::borrow::Cow;

use memchr::memchr2;

/// A quoted text at the beginning of another text.
pub(super) struct Unquoted<'l> {
    /// The text without its quotes and escapes. Bytes that are not UTF-8 are replaced.
    pub(super) text: Cow<'l, str>,
    /// The text after the closing quote; empty if there is none.
    pub(super) rest: &'l str,
}

/// Reads a quoted text as far as possible. `None` for text that does not begin with a quotation mark.
pub(super) fn unquote(text: &str) -> Option<Unquoted<'_>> {
    let inside = text.strip_prefix('"')?;
    let bytes = inside.as_bytes();
    let Some(first) = memchr2(b'"', b'\\', bytes) else {
        return Some(Unquoted { text: Cow::Borrowed(inside), rest: "" });
    };
    if bytes.get(first) == Some(&b'"') {
        let (text, rest) = inside.split_at(first);
        return Some(Unquoted { text: Cow::Borrowed(text), rest: rest.get(1..).unwrap_or_default() });
    }
    let mut plain = Vec::with_capacity(inside.len().min(256));
    let mut rest = inside;
    while let Some(at) = memchr2(b'"', b'\\', rest.as_bytes()) {
        let (before, special) = rest.split_at(at);
        plain.extend_from_slice(before.as_bytes());
        if let Some(rest) = special.strip_prefix('"') {
            return Some(Unquoted { text: owned(&plain), rest });
        }
        rest = escape(special.get(1..).unwrap_or_default(), &mut plain);
    }
    plain.extend_from_slice(rest.as_bytes());
    Some(Unquoted { text: owned(&plain), rest: "" })
}

fn owned(plain: &[u8]) -> Cow<'static, str> {
    Cow::Owned(String::from_utf8_lossy(plain).into_owned())
}

/// Reads an escape without its backslash. Returns the rest.
fn escape<'l>(text: &'l str, plain: &mut Vec<u8>) -> &'l str {
    let mut characters = text.chars();
    let Some(first) = characters.next() else { return "" };
    let (digits, radix) = match first {
        '0'..='7' => (text.get(..3), 8),
        'x' => (text.get(1..3), 16),
        'u' => (text.get(1..5), 16),
        'U' => (text.get(1..9), 16),
        _other => (None, 0),
    };
    if let Some(digits) = digits
        && let Ok(code) = u32::from_str_radix(digits, radix)
    {
        match u8::try_from(code) {
            Ok(byte) if matches!(first, '0'..='7' | 'x') => plain.push(byte),
            _other => {
                let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        let length = digits.len() + usize::from(!matches!(first, '0'..='7'));
        return text.get(length..).unwrap_or_default();
    }
    let character = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'v' => '\x0b',
        other => other,
    };
    plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    characters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_text_is_read_with_its_escapes() {
        for (quoted, text, rest) in [
            (r#""plain" more"#, "plain", " more"),
            (r#""a \"b\" \\ c" d"#, "a \"b\" \\ c", " d"),
            (r#""\n\t\x41\u00e9\U0001F600é""#, "\n\tAé😀é", ""),
            (r#""\303\251\000":"#, "é\0", ":"),
            (r#""cut off"#, "cut off", ""),
            (r#""cut \"#, "cut ", ""),
            (r#""\xzz\9\q""#, "xzz9q", ""),
            (r#""\ud800\xff""#, "\u{fffd}\u{fffd}", ""),
            (r#""""#, "", ""),
        ] {
            let unquoted = unquote(quoted).unwrap();
            assert_eq!((&*unquoted.text, unquoted.rest), (text, rest), "{quoted}");
        }
        assert!(unquote("plain").is_none());
    }
}
