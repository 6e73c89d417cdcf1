//! Reads a page of `/metrics`.

use std::fmt;

use memchr::memchr;

use super::Sample;

/// Longest line that is read, in bytes. Lines of kube-apiserver with labels have some hundred bytes.
const MAX_LINE: usize = 64 * 1024;

/// Reads a page in any chunking, and emits its samples in order.
#[derive(Default)]
pub struct MetricsReader {
    /// The beginning of a line whose end is still to come.
    begun: Vec<u8>,
    /// Whether the current line is too long, so that its rest is skipped.
    passing: bool,
    unread: Unread,
}

/// Lines that are neither a sample nor a comment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Lines longer than 64 KiB.
    pub overlong: u64,
    /// Lines that are not in the format.
    pub malformed: u64,
}

impl fmt::Debug for MetricsReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { begun, passing, unread } = self;
        let begun = format_args!("[{} bytes]", begun.len());
        formatter.debug_struct("MetricsReader").field("begun", &begun).field("passing", passing).field("unread", unread).finish()
    }
}

impl MetricsReader {
    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8], emit: &mut dyn FnMut(&Sample<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr(b'\n', rest) {
            let (line, behind) = rest.split_at(end);
            rest = behind.get(1..).unwrap_or_default();
            if self.begun.is_empty() && !self.passing {
                self.line(line, emit);
            } else {
                self.begin(line);
                self.end_of_line(emit);
            }
        }
        self.begin(rest);
    }

    /// Reads the last line if it has no line end, and returns the counts of unread lines.
    pub fn finish(mut self, emit: &mut dyn FnMut(&Sample<'_>)) -> Unread {
        self.end_of_line(emit);
        self.unread
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.begun.capacity()
    }

    fn begin(&mut self, part: &[u8]) {
        if self.begun.len() + part.len() > MAX_LINE && !self.passing {
            self.passing = true;
            self.unread.overlong += 1;
        }
        if self.passing {
            self.begun.clear();
        } else {
            self.begun.extend_from_slice(part);
        }
    }

    fn end_of_line(&mut self, emit: &mut dyn FnMut(&Sample<'_>)) {
        if std::mem::take(&mut self.passing) {
            return;
        }
        let line = std::mem::take(&mut self.begun);
        self.line(&line, emit);
    }

    fn line(&mut self, line: &[u8], emit: &mut dyn FnMut(&Sample<'_>)) {
        let line = line.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return;
        }
        match std::str::from_utf8(line).ok().and_then(Sample::read) {
            Some(sample) => emit(&sample),
            None => self.unread.malformed += 1,
        }
    }
}
