//! Reads files that users name, up to a bound: a file may be a device or a pipe without an end.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Reads a file to its end, which also works for a pipe (`KUBECONFIG=<(…)`). A file with more than `most` bytes is an error of the
/// kind [`io::ErrorKind::FileTooLarge`], which states the bound.
pub(crate) fn read(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|read| read > most) {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("the file is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// The same, for a file of UTF-8.
pub(crate) fn read_text(file: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(file, most)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("the file is not UTF-8: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_at_the_bound_is_read_and_a_longer_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("text");
        std::fs::write(&file, "12345").unwrap();
        assert_eq!(read_text(&file, 5).unwrap(), "12345");
        let error = read_text(&file, 4).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::FileTooLarge, "the file is larger than 4 bytes"));
        assert_eq!(read(Path::new("/dev/zero"), 1000).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        std::fs::write(&file, [0xFF]).unwrap();
        assert!(read_text(&file, 5).unwrap_err().to_string().starts_with("the file is not UTF-8: invalid utf-8"));
    }
}
