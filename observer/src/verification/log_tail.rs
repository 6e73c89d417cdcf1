//! Reads the lines that a server appends to a log file during a verification.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::failure::VerifyError;

/// Maximum number of bytes read of the lines appended during one row.
const MAX_APPENDED: u64 = 64 * 1024 * 1024;

/// A log file to which a server appends. Reading starts at a mark.
#[derive(Debug)]
pub struct LogTail {
    path: PathBuf,
    mark: u64,
}

impl LogTail {
    /// Opens the log, with the mark at the file's current end.
    pub fn open(path: &Path) -> Result<Self, VerifyError> {
        let mut tail = Self { path: path.to_owned(), mark: 0 };
        tail.mark = tail.end()?;
        Ok(tail)
    }

    /// The file's path, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The file's current length, to set the mark later.
    pub fn end(&self) -> Result<u64, VerifyError> {
        Ok(File::open(&self.path).and_then(|file| file.metadata()).map_err(|error| self.failed(error))?.len())
    }

    /// Sets the mark: everything before `end` is skipped.
    pub fn mark(&mut self, end: u64) {
        self.mark = end;
    }

    /// Passes the complete lines appended since the mark to `each`. A file that was rotated meanwhile is read from its beginning.
    pub fn lines(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), VerifyError> {
        self.read(each).map_err(|error| self.failed(error))
    }

    fn read(&self, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let mut file = File::open(&self.path)?;
        let begin = if file.metadata()?.len() < self.mark { 0 } else { self.mark };
        file.seek(SeekFrom::Start(begin))?;
        let mut appended = BufReader::new(file.take(MAX_APPENDED));
        let mut line = Vec::new();
        while appended.read_until(b'\n', &mut line)? > 0 {
            if line.ends_with(b"\n") {
                each(&line);
            }
            line.clear();
        }
        Ok(())
    }

    fn failed(&self, error: io::Error) -> VerifyError {
        VerifyError::Log { path: self.name(), error }
    }
}
