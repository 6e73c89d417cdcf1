//! Writes manifests: to standard output, or each file in its place.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context, Result};
use tempfile::NamedTempFile;

use crate::printable::{Printable, hand_over, stdout, stdout_is_terminal};

/// Writes all texts as one stream of documents. A terminal gets no characters that control it.
pub(super) fn to_stdout(texts: &[String]) -> io::Result<()> {
    let stream = stream(texts);
    if stdout_is_terminal() { stdout().print(&Printable::lines(stream)) } else { hand_over(stream.as_bytes()) }
}

/// Joins files. Each one begins a document of its own.
fn stream(texts: &[String]) -> String {
    let mut stream = String::new();
    for text in texts {
        if stream.is_empty() {
            stream.push_str(text);
            continue;
        }
        if !stream.ends_with('\n') {
            stream.push('\n');
        }
        let text = text.trim_start_matches('\u{FEFF}');
        if !text.starts_with("---") && !text.starts_with('%') {
            stream.push_str("---\n");
        }
        stream.push_str(text);
    }
    stream
}

/// Replaces a file in one step: a reader sees the old or the new text. Links stay, and so do permissions.
pub(super) fn in_place(file: &Path, text: &str) -> Result<()> {
    let write = || {
        let file = fs::canonicalize(file)?;
        let folder = file.parent().unwrap_or(Path::new("/"));
        let mut new = NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.as_file().set_permissions(fs::metadata(&file)?.permissions())?;
        new.as_file().sync_all()?;
        new.persist(&file)?;
        io::Result::Ok(())
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_files_are_documents_of_their_own() {
        let joined = |texts: &[&str]| stream(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(joined(&["a: 1\n"]), "a: 1\n");
        assert_eq!(joined(&["a: 1", "b: 2\n", "---\nc: 3"]), "a: 1\n---\nb: 2\n---\nc: 3");
        assert_eq!(joined(&["", "{\"a\":1}"]), "{\"a\":1}");
        assert_eq!(joined(&["a: 1\n", "\u{FEFF}b: 2\n"]), "a: 1\n---\nb: 2\n");
    }
}
