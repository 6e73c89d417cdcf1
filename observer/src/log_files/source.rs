//! Reads one log, packed or not.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::lines::{Line, Lines};
use crate::input_file::InputFile;

/// The first bytes of a file that gzip packed (RFC 1952 §2.3.1).
pub(super) const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Maximum number of bytes per read.
const CHUNK: usize = 256 << 10;
/// Minimum number of bytes per read. Fewer would take many system calls.
const SMALL_CHUNK: usize = 16 << 10;
/// Memory for the buffers of all logs that are read together, as long as no chunk is too small.
const BUFFERS: usize = 16 << 20;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {error}", file.display())]
pub struct LogError {
    /// The file's path; `-` is the standard input.
    file: PathBuf,
    /// The system's error.
    error: io::Error,
}

impl LogError {
    pub(super) fn of(file: &Path, error: io::Error) -> Self {
        Self { file: file.to_owned(), error }
    }
}

/// An open log.
pub(crate) struct Source {
    file: PathBuf,
    lines: Lines<Box<dyn BufRead>>,
}

impl Source {
    /// Reads the beginning of a file.
    pub(crate) fn of(file: InputFile) -> Result<Self, LogError> {
        Self::among(1, file)
    }

    /// Reads the beginning of one of so many files that are read together.
    #[expect(clippy::disallowed_methods, reason = "it is read line by line, and lines are bounded")]
    pub(super) fn among(files: usize, file: InputFile) -> Result<Self, LogError> {
        let (path, chunk) = (file.path().to_owned(), chunk(files));
        let mut from = BufReader::with_capacity(chunk, file);
        let is_packed = match from.fill_buf() {
            Ok(begin) => begin.starts_with(&GZIP),
            Err(error) => return Err(LogError { file: path, error }),
        };
        let from: Box<dyn BufRead> =
            if is_packed { Box::new(BufReader::with_capacity(chunk, MultiGzDecoder::new(from))) } else { Box::new(from) };
        Ok(Self { file: path, lines: Lines::of(from) })
    }

    /// Reads the next line.
    pub(crate) fn next(&mut self) -> Result<Line<'_>, LogError> {
        let Self { file, lines } = self;
        lines.next().map_err(|error| LogError { file: file.clone(), error })
    }
}

/// Bytes per read, if so many logs are read together. A packed log has two buffers.
fn chunk(logs: usize) -> usize {
    (BUFFERS / logs.saturating_mul(2).max(1)).clamp(SMALL_CHUNK, CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_many_logs_are_small() {
        assert_eq!([0, 1, 32, 64, 512, 100_000].map(chunk), [CHUNK, CHUNK, CHUNK, 128 << 10, SMALL_CHUNK, SMALL_CHUNK]);
    }
}
