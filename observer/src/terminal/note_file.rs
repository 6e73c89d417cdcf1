//! Writes a note of the page to a file of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::printable::Printer;
use crate::private_file;
use crate::view::NoteFile;

/// Writes the note to a new file in `folder`, which only its owner can read. Nothing is overwritten, and an incomplete file is removed.
pub(super) fn write(folder: &Path, note: &NoteFile) -> io::Result<PathBuf> {
    let (path, file) = private_file::create_numbered(folder, &note.stem, "md")?;
    match Printer::to(file).print(&note.text) {
        Ok(()) => Ok(path),
        Err(error) => {
            // The first error is the one that a user can act on.
            let _removed = fs::remove_file(&path);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printable::Printable;

    #[test]
    fn each_note_has_a_file_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        for (text, name) in [("### one\n", "note.md"), ("### two\n", "note-2.md")] {
            let note = NoteFile { stem: "note".to_owned(), text: Printable::words(text) };
            let path = write(folder.path(), &note).unwrap();
            assert_eq!((path.file_name().unwrap().to_str(), fs::read_to_string(&path).unwrap()), (Some(name), text.to_owned()));
        }
    }
}
