//! Opens one log: a file, packed or not, or the standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::lines::{self, Line};

/// The first bytes of a file that gzip packed (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];
/// Bytes per read.
const CHUNK: usize = 256 << 10;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {error}", file.display())]
pub struct LogError {
    /// The file's path; `-` is the standard input.
    file: PathBuf,
    /// The system's error.
    error: io::Error,
}

/// An open log.
pub(super) struct Source {
    file: PathBuf,
    from: Box<dyn BufRead>,
}

impl Source {
    /// Opens a file, or the standard input if its path is `-`.
    #[expect(clippy::disallowed_methods, reason = "it is read line by line, and lines are bounded")]
    pub(super) fn open(file: &Path) -> Result<Self, LogError> {
        let failed = |error| LogError { file: file.to_owned(), error };
        let from: Box<dyn Read> =
            if file == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(file).map_err(failed)?) };
        let mut from = BufReader::with_capacity(CHUNK, from);
        let is_packed = from.fill_buf().map_err(failed)?.starts_with(&GZIP);
        let from: Box<dyn BufRead> =
            if is_packed { Box::new(BufReader::with_capacity(CHUNK, MultiGzDecoder::new(from))) } else { Box::new(from) };
        Ok(Self { file: file.to_owned(), from })
    }

    /// Reads the next line into `line`.
    pub(super) fn next(&mut self, line: &mut Vec<u8>) -> Result<Line, LogError> {
        lines::next(&mut *self.from, line).map_err(|error| LogError { file: self.file.clone(), error })
    }
}
