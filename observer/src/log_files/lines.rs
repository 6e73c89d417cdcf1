//! Splits a stream into lines of bounded length.

use std::io::{self, BufRead};
use std::mem;

use observer_core::logs::MAX_LINE;

/// A line, or what is known of one that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'l> {
    /// The line without its end.
    Read(&'l [u8]),
    /// The line is longer than [`MAX_LINE`], and was passed over.
    TooLong,
    /// There are no further lines.
    End,
}

/// A stream, line by line.
pub(super) struct Lines<R> {
    from: R,
    /// Bytes of the last line that are still in the buffer of the stream.
    passed: usize,
    /// A line that was only partly in the buffer.
    joined: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn of(from: R) -> Self {
        Self { from, passed: 0, joined: Vec::new() }
    }

    /// Reads the next line. It is not copied if the buffer has all of it.
    pub(super) fn next(&mut self) -> io::Result<Line<'_>> {
        let Self { from, passed, joined } = self;
        from.consume(mem::take(passed));
        joined.clear();
        let mut is_too_long = false;
        loop {
            let read = match from.fill_buf() {
                Ok([]) if joined.is_empty() && !is_too_long => {
                    // Other files may be read for long.
                    *joined = Vec::new();
                    return Ok(Line::End);
                }
                Ok([]) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let end = memchr::memchr(b'\n', read);
            let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
            let length = part.len();
            is_too_long |= joined.len() + length > MAX_LINE;
            if is_too_long {
                joined.clear();
            } else if end.is_some() && joined.is_empty() {
                *passed = length + 1;
                return Ok(Line::Read(from.fill_buf()?.get(..length).unwrap_or_default()));
            } else {
                joined.extend_from_slice(part);
            }
            from.consume(length + usize::from(end.is_some()));
            if end.is_some() {
                break;
            }
        }
        Ok(if is_too_long { Line::TooLong } else { Line::Read(joined) })
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_split_at_any_size_of_the_buffer() {
        for size in [1, 2, 3, 64] {
            let mut from = Lines::of(BufReader::with_capacity(size, "ab\n\ncd".as_bytes()));
            let mut lines = Vec::new();
            while let Line::Read(line) = from.next().unwrap() {
                lines.push(String::from_utf8(line.to_vec()).unwrap());
            }
            assert_eq!(lines, ["ab", "", "cd"], "{size}");
            assert_eq!(from.next().unwrap(), Line::End);
        }
    }

    #[test]
    fn line_that_is_too_long_is_passed_over() {
        let line = |length| vec![b'a'; length];
        let text = [line(MAX_LINE + 1), b"\nb\n".to_vec(), line(MAX_LINE), b"\n".to_vec(), line(MAX_LINE + 1)].concat();
        for size in [1 << 10, 3 * MAX_LINE] {
            let mut from = Lines::of(BufReader::with_capacity(size, text.as_slice()));
            assert_eq!(from.next().unwrap(), Line::TooLong);
            assert_eq!(from.next().unwrap(), Line::Read(b"b"));
            assert!(matches!(from.next().unwrap(), Line::Read(line) if line.len() == MAX_LINE));
            assert_eq!(from.next().unwrap(), Line::TooLong, "without its end");
            assert_eq!(from.next().unwrap(), Line::End);
        }
    }

    /// Is interrupted before each byte.
    struct Interrupted<'t>(&'t [u8], bool);

    impl io::Read for Interrupted<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            io::Read::read(&mut self.0, to.get_mut(..1).unwrap_or_default())
        }
    }

    #[test]
    fn interrupted_read_is_repeated() {
        let mut from = Lines::of(BufReader::new(Interrupted(b"ab\nc", false)));
        assert_eq!(from.next().unwrap(), Line::Read(b"ab"));
        assert_eq!(from.next().unwrap(), Line::Read(b"c"));
        assert_eq!(from.next().unwrap(), Line::End);
    }
}
