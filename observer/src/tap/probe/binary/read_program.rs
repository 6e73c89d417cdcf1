//! Opens a program, to read it in pieces.

use std::fs::File;
use std::path::Path;

use super::bounds;
use super::error::BinaryError;
use super::program_bytes::ProgramBytes;

/// A file whose bytes [`ProgramBytes`] reads.
#[derive(Debug)]
pub struct OpenProgram {
    file: File,
    length: u64,
}

/// Opens the file at `path`, which may have at most [`bounds::FILE_BYTES`].
///
/// It is read, not mapped: if a mapped file is truncated, the process that accesses it is killed. Only regular files are accepted,
/// because a device or a pipe has no end.
pub fn read_program(path: &Path) -> Result<OpenProgram, BinaryError> {
    let unreadable = |source| BinaryError::Unreadable { path: path.to_owned(), source };
    let is_regular = std::fs::metadata(path).map_err(unreadable)?.is_file();
    if !is_regular {
        return Err(BinaryError::Unsupported("not a regular file"));
    }
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > bounds::FILE_BYTES {
        return Err(BinaryError::TooLarge { path: path.to_owned(), bytes: length });
    }
    Ok(OpenProgram { file, length })
}

impl<'a> From<&'a OpenProgram> for ProgramBytes<'a> {
    fn from(OpenProgram { file, length }: &'a OpenProgram) -> Self {
        Self::File { file, length: *length }
    }
}
