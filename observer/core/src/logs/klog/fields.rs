//! The fields of a structured record: `key="value" key=value`.

use std::borrow::Cow;

use memchr::memchr;

use super::super::go_text::unquote;

/// Maximum number of fields that are read of a record.
pub(super) const MOST_FIELDS: usize = 64;
/// Longest key, in bytes.
const MAX_KEY: usize = 128;

/// Keys and values of a record, without quotes and escapes. A key may occur several times.
#[derive(Default)]
pub(in crate::logs) struct Fields<'l>(pub(super) Vec<(Cow<'l, str>, Cow<'l, str>)>);

impl Fields<'_> {
    /// The last value of a key.
    pub(in crate::logs) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// The value of a key, or empty text.
    pub(in crate::logs) fn text(&self, key: &str) -> &str {
        self.get(key).unwrap_or_default()
    }

    pub(in crate::logs) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Reads the fields at the beginning of a text (kubernetes/klog `internal/serialize/keyvalues.go`, v2.130.1). Returns them, and the
/// text after them.
///
/// A value is quoted as Go does it, or it is one word, or JSON. A value of several lines begins with `<` at the end of a line. Its lines
/// are indented by a tab, and a line with ` >` ends it. If the text is cut, so is its last value.
pub(in crate::logs) fn fields(text: &str) -> (Fields<'_>, &str) {
    let mut found = Vec::new();
    let mut rest = text.trim_ascii_start();
    while found.len() < MOST_FIELDS
        && let Some((key, after)) = key(rest)
    {
        let (value, after) = value(after);
        found.push((Cow::Borrowed(key), value));
        rest = after.trim_ascii_start();
    }
    (Fields(found), rest)
}

/// The key at the beginning of a text, and the text after its `=`.
fn key(text: &str) -> Option<(&str, &str)> {
    let head = text.as_bytes().get(..text.len().min(MAX_KEY))?;
    let end = memchr(b'=', head)?;
    let (key, rest) = text.split_at_checked(end)?;
    let is_key = !key.is_empty() && !key.contains(|character: char| character.is_whitespace() || character == '"');
    is_key.then(|| (key, rest.get(1..).unwrap_or_default()))
}

fn value(text: &str) -> (Cow<'_, str>, &str) {
    if let Some(unquoted) = unquote(text) {
        return (unquoted.text, unquoted.rest);
    }
    if let Some(lines) = text.strip_prefix('<').filter(|lines| lines.is_empty() || lines.starts_with('\n')) {
        return several_lines(lines);
    }
    let end = if text.starts_with(['{', '[']) { end_of_json(text) } else { text.find([' ', '\n']).unwrap_or(text.len()) };
    let (value, rest) = text.split_at(end);
    (Cow::Borrowed(value), rest)
}

fn several_lines(lines: &str) -> (Cow<'_, str>, &str) {
    let (value, rest) = lines.split_once("\n >").unwrap_or((lines, ""));
    let value = value.strip_prefix("\n\t").unwrap_or(value);
    (if value.contains("\n\t") { Cow::Owned(value.replace("\n\t", "\n")) } else { Cow::Borrowed(value) }, rest)
}

/// The position after the bracket that closes the first one, or the length of the text.
fn end_of_json(text: &str) -> usize {
    let (mut depth, mut is_quoted, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'{' | b'[' if !is_quoted => depth += 1,
            b'}' | b']' if !is_quoted => depth = depth.saturating_sub(1),
            _other => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}
