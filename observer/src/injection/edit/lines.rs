//! The lines of a text.

/// The end of the line at an offset, without its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.find('\n').map_or(rest, |end| &rest[..end]);
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// The offset of the first byte of the line at an offset.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1)
}

/// The end of the line before the one at an offset, without its line break; `None` in the first line.
pub(super) fn end_of_line_before(text: &str, at: usize) -> Option<usize> {
    let before = line_start(text, at).checked_sub(1)?;
    let line = text.get(..before)?;
    Some(line.strip_suffix('\r').unwrap_or(line).len())
}

/// Whether only spaces precede an offset in its line.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    text.get(line_start(text, at)..at).is_some_and(|before| before.trim_start_matches(' ').is_empty())
}

/// The white space with which the line at an offset begins.
pub(super) fn indentation(text: &str, at: usize) -> &str {
    let line = text.get(line_start(text, at)..).unwrap_or_default();
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The line break of the text: that of its first line.
pub(in crate::injection) fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(end) if text[..end].ends_with('\r') => "\r\n",
        Some(_) | None => "\n",
    }
}
