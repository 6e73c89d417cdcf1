//! A file to replay: a capture or a log, which its first bytes show. A pipe can be read only once, so each file is opened once.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use observer_core::capture::MAGIC;

/// An open file, read from its beginning.
pub struct InputFile {
    path: PathBuf,
    /// Its first bytes, as far as they have not been read again.
    begin: io::Cursor<Vec<u8>>,
    rest: Box<dyn Read + Send>,
    modified: Option<SystemTime>,
    length: Option<u64>,
}

/// The kind of a file, as its first bytes show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A capture, or the first bytes of one.
    Capture,
    /// Something else, perhaps a log.
    Other,
    /// Not one byte.
    Nothing,
}

impl InputFile {
    /// Opens a file, or the standard input if its path is `-`, and waits for its first bytes.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (mut rest, metadata): (Box<dyn Read + Send>, _) = if is_stdin(path) {
            (Box::new(io::stdin()), None)
        } else {
            let file = File::open(path)?;
            let metadata = file.metadata().ok().filter(Metadata::is_file);
            (Box::new(file), metadata)
        };
        let modified = metadata.as_ref().and_then(|metadata| metadata.modified().ok());
        let length = metadata.as_ref().map(Metadata::len);
        let mut begin = Vec::new();
        rest.by_ref().take(MAGIC.len() as u64).read_to_end(&mut begin)?;
        Ok(Self { path: path.to_owned(), begin: io::Cursor::new(begin), rest, modified, length })
    }

    /// Its path; `-` is the standard input.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When its content was changed last; `None` for pipes and the standard input.
    pub const fn modified(&self) -> Option<SystemTime> {
        self.modified
    }

    /// Number of its bytes when it was opened; `None` for pipes and the standard input.
    pub const fn length(&self) -> Option<u64> {
        self.length
    }

    /// Its first bytes.
    pub fn begin(&self) -> &[u8] {
        self.begin.get_ref()
    }

    /// Its kind.
    pub fn content(&self) -> Content {
        match self.begin() {
            [] => Content::Nothing,
            begin if MAGIC.starts_with(begin) => Content::Capture,
            _other => Content::Other,
        }
    }
}

impl Read for InputFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.begin.read(into)? {
            0 => self.rest.read(into),
            read => Ok(read),
        }
    }
}

/// Whether a path stands for the standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn first_bytes_show_the_content_and_are_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let capture = [MAGIC.as_slice(), b"rest"].concat();
        for (bytes, content) in [
            (&b""[..], Content::Nothing),
            (&MAGIC[..3], Content::Capture),
            (&capture, Content::Capture),
            (b"{}", Content::Other),
            (b"{\"auditID\":1}", Content::Other),
        ] {
            fs::write(&path, bytes).unwrap();
            let mut file = InputFile::open(&path).unwrap();
            assert_eq!(file.content(), content, "{bytes:?}");
            let mut read = Vec::new();
            file.read_to_end(&mut read).unwrap();
            assert_eq!(read, bytes);
        }
        assert!(InputFile::open(&folder.path().join("missing")).is_err());
    }
}
