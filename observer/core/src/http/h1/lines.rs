//! Lines of heads, chunk sizes and trailers, wherever the calls cut them.

use super::input::Input;
use crate::http::held::HeldBytes;

/// Longest head, in bytes: the limit of Go's net/http with its default `MaxHeaderBytes`, which kube-apiserver keeps (`server.go`,
/// `initialReadLimitSize`).
pub(super) const MAX_HEAD: u64 = (1 << 20) + 4096;

/// Longest part of a line that is read, in bytes. A header value beyond it is cut; kube-apiserver accepts lines of 1 MiB.
pub(super) const MAX_LINE: usize = 64 * 1024;

/// One line without its end, which is CRLF or a bare LF (RFC 9112 §2.2).
pub(super) struct Line<'a> {
    /// The line, or its first [`MAX_LINE`] bytes.
    pub(super) text: &'a [u8],
    /// Whether the line was longer.
    pub(super) cut: bool,
    /// Offset of its first byte in the direction.
    pub(super) at: u64,
}

/// Assembles lines. A line within one call is not copied. Any other is held until it has been read, and then overwritten.
#[derive(Debug, Default)]
pub(super) struct Lines {
    held: HeldBytes,
    /// Length of the current line so far, in bytes. If the line is too long, fewer bytes are held.
    length: u64,
}

impl Lines {
    /// Reads the next line, if it is complete.
    pub(super) fn read<R>(&mut self, input: &mut Input<'_>, parse: impl FnOnce(&Line<'_>) -> R) -> Option<R> {
        let at = self.start(input);
        let (part, ended) = input.take_line();
        if ended && self.length == 0 {
            return Some(parse(&line(part, part.len() as u64, at)));
        }
        self.hold(part);
        if !ended {
            return None;
        }
        let parsed = parse(&line(self.held.as_slice(), self.length, at));
        self.held.forget();
        self.length = 0;
        Some(parsed)
    }

    /// Offset of the first byte of the current line, which `input` continues.
    pub(super) fn start(&self, input: &Input<'_>) -> u64 {
        input.offset().saturating_sub(self.length)
    }

    /// Whether the current line is longer than [`MAX_LINE`].
    pub(super) fn is_too_long(&self) -> bool {
        self.length > MAX_LINE as u64
    }

    /// Bytes held of an incomplete line.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    fn hold(&mut self, part: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.held.len());
        self.held.extend(part.get(..room).unwrap_or(part));
        self.length = self.length.saturating_add(part.len() as u64);
    }
}

fn line(raw: &[u8], length: u64, at: u64) -> Line<'_> {
    if length > MAX_LINE as u64 {
        return Line { text: raw.get(..MAX_LINE).unwrap_or(raw), cut: true, at };
    }
    Line { text: raw.strip_suffix(b"\r").unwrap_or(raw), cut: false, at }
}

#[cfg(test)]
mod tests {
    use super::{Input, Lines, MAX_LINE};

    #[test]
    fn line_split_over_calls_is_complete_with_its_offset() {
        assert_lines(&["ab", "c\r", "\nd", "\n\r\n", "rest"], &["0:abc", "5:d", "7:"]);
    }

    #[test]
    fn a_bare_lf_ends_a_line_and_a_cr_within_stays() {
        assert_lines(&["a\nb\rc\r\n"], &["0:a", "2:b\rc"]);
    }

    #[test]
    fn chunking_does_not_move_the_cut_of_an_overlong_line() {
        let long = "x".repeat(MAX_LINE + 5);
        for cut_at in [0, 1, MAX_LINE, MAX_LINE + 3, MAX_LINE + 5] {
            let mut lines = Lines::default();
            let (first, second) = long.split_at(cut_at);
            assert!(lines.read(&mut Input::new(first.as_bytes(), 0), |_| ()).is_none());
            let end = format!("{second}\n");
            let read = lines.read(&mut Input::new(end.as_bytes(), cut_at as u64), |line| (line.text.len(), line.cut));
            assert_eq!(read, Some((MAX_LINE, true)), "cut at {cut_at}");
            assert_eq!(lines.held(), 0);
        }
    }

    #[track_caller]
    fn assert_lines(calls: &[&str], expected: &[&str]) {
        let (mut lines, mut offset, mut seen) = (Lines::default(), 0, Vec::new());
        for call in calls {
            let mut input = Input::new(call.as_bytes(), offset);
            while let Some(line) = lines.read(&mut input, |line| format!("{}:{}", line.at, String::from_utf8_lossy(line.text))) {
                seen.push(line);
            }
            offset = input.offset();
        }
        assert_eq!(seen, expected);
    }
}
