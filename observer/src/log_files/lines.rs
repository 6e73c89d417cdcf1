//! Splits a stream into lines of bounded length.

use std::io::{self, BufRead};

use observer_core::logs::MAX_LINE;

/// A line, or what is known of one that is too long.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The line is in the buffer.
    Read,
    /// The line is longer than [`MAX_LINE`], and was passed over.
    TooLong,
    /// There are no further lines.
    End,
}

/// Reads the next line into `line`, without its end.
pub(super) fn next(from: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut is_too_long = false;
    loop {
        let read = match from.fill_buf() {
            Ok([]) if line.is_empty() && !is_too_long => return Ok(Line::End),
            Ok([]) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr::memchr(b'\n', read);
        let part = read.get(..end.unwrap_or(read.len())).unwrap_or_default();
        let taken = part.len() + usize::from(end.is_some());
        is_too_long |= line.len() + part.len() > MAX_LINE;
        if is_too_long {
            line.clear();
        } else {
            line.extend_from_slice(part);
        }
        from.consume(taken);
        if end.is_some() {
            break;
        }
    }
    Ok(if is_too_long { Line::TooLong } else { Line::Read })
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_are_split_at_any_size_of_the_buffer() {
        for size in [1, 2, 3, 64] {
            let mut from = BufReader::with_capacity(size, "ab\n\ncd".as_bytes());
            let mut line = Vec::new();
            let mut lines = Vec::new();
            while next(&mut from, &mut line).unwrap() == Line::Read {
                lines.push(String::from_utf8(line.clone()).unwrap());
            }
            assert_eq!(lines, ["ab", "", "cd"], "{size}");
        }
    }

    #[test]
    fn line_that_is_too_long_is_passed_over() {
        let text = [vec![b'a'; MAX_LINE + 1], b"\nb\n".to_vec()].concat();
        let (mut from, mut line) = (text.as_slice(), Vec::new());
        assert_eq!(next(&mut from, &mut line).unwrap(), Line::TooLong);
        assert_eq!(next(&mut from, &mut line).unwrap(), Line::Read);
        assert_eq!(line, b"b");
        assert_eq!(next(&mut from, &mut line).unwrap(), Line::End);
    }
}
