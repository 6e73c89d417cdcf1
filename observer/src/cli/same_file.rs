//! Checks that no output overwrites an input or another output.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The identity of a file, whichever of its names is used.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    /// An existing file: device and inode.
    Present(u64, u64),
    /// A file that will be created: its folder, and its name there.
    Absent(PathBuf, OsString),
}

/// Checks that no file of `written` is in `read` or occurs twice, before any of them is opened for writing. Each file comes with a
/// word for messages.
pub(super) fn check<'p>(
    read: impl Iterator<Item = (&'static str, &'p Path)>,
    written: impl Iterator<Item = (&'static str, &'p Path)>,
) -> Result<()> {
    let mut sources = Vec::new();
    for (word, path) in read {
        let identity = identity(path).with_context(|| format!("cannot read {}", path.display()))?;
        sources.extend(identity.map(|identity| (identity, word, path)));
    }
    let mut targets = Vec::new();
    for (word, path) in written {
        // A path that cannot be inspected fails when it is created.
        let Some(identity) = identity(path).ok().flatten().or_else(|| future(path)) else { continue };
        if let Some((_, source, file)) = sources.iter().find(|(one, _, _)| *one == identity) {
            bail!("{word} {} would overwrite the {source} {}: name another file", path.display(), file.display());
        }
        if let Some((_, other)) = targets.iter().find(|(one, _)| *one == identity) {
            bail!("{other} and {word} would both write {}: name another file for one", path.display());
        }
        targets.push((identity, word));
    }
    Ok(())
}

/// `None` for a file without contents to overwrite, such as a pipe.
fn identity(path: &Path) -> io::Result<Option<Identity>> {
    let metadata = fs::metadata(path)?;
    Ok(metadata.is_file().then(|| Identity::Present(metadata.dev(), metadata.ino())))
}

fn future(path: &Path) -> Option<Identity> {
    let absolute = std::path::absolute(path).ok().filter(|path| !path.exists())?;
    Some(Identity::Absent(absolute.parent()?.canonicalize().ok()?, absolute.file_name()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_outputs_to_one_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("there"), "").unwrap();
        std::os::unix::fs::symlink(folder.path(), path("link")).unwrap();
        let written = |one: &Path, other: &Path| check([].into_iter(), [("--events", one), ("--capture", other)].into_iter());
        for (one, other) in [("there", "there"), ("new", "new"), ("new", "link/new"), ("there", "link/there")] {
            let error = written(&path(one), &path(other)).unwrap_err().to_string();
            assert!(error.starts_with("--events and --capture would both write"), "{one} {other}: {error}");
        }
        for (one, other) in [("there", "new"), ("new", "newer"), ("no-folder/new", "no-folder/new")] {
            written(&path(one), &path(other)).unwrap();
        }
        written(Path::new("/dev/null"), Path::new("/dev/null")).unwrap();
    }
}
