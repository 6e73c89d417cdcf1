//! Reads the bytes of a program, up to a bound.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::bounds;
use super::error::BinaryError;

/// Reads the file at `path`, at most [`bounds::FILE_BYTES`].
///
/// It is read, not mapped: if a mapped file is truncated, the process that accesses it is killed. Only regular files are accepted,
/// because a device or a pipe has no end.
pub fn read_program(path: &Path) -> Result<Vec<u8>, BinaryError> {
    let unreadable = |source| BinaryError::Unreadable { path: path.to_owned(), source };
    let is_regular = std::fs::metadata(path).map_err(unreadable)?.is_file();
    if !is_regular {
        return Err(BinaryError::Unsupported("not a regular file"));
    }
    let file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    if bytes > bounds::FILE_BYTES {
        return Err(BinaryError::TooLarge { path: path.to_owned(), bytes });
    }
    let mut program = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0));
    file.take(bounds::FILE_BYTES).read_to_end(&mut program).map_err(unreadable)?;
    Ok(program)
}
