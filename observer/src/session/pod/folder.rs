//! A folder of the pod, whose files are replaced as one step each.
//!
//! All operations are relative to the opened folder, and follow no link in it, so they change nothing outside of it. The folder's
//! owner and mode are as the kubelet made them: an `emptyDir` belongs to root, and everybody may write to it.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{AtFlags, Mode, OFlags, fchmod, open, openat, readlinkat, renameat, symlinkat, unlinkat};
use rustix::io::Errno;

/// A folder of the pod.
#[derive(Debug)]
pub(in crate::session) struct Folder {
    path: PathBuf,
    opened: OwnedFd,
}

impl Folder {
    /// Opens the folder. An error names `purpose`.
    pub(in crate::session) fn open(path: &Path, purpose: &str) -> Result<Self> {
        let opened = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        let opened = opened.with_context(|| {
            format!("cannot open the folder {}, {purpose}; mount an emptyDir there, as `watchtap inject` does", path.display())
        })?;
        Ok(Self { path: path.to_owned(), opened })
    }

    /// The folder's path with a name in it.
    pub(super) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Reads at most `most` bytes of a regular file; `None` if the name does not exist.
    pub(super) fn read(&self, name: &str, most: u64) -> io::Result<Option<(Metadata, Vec<u8>)>> {
        // Without `NONBLOCK`, a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match openat(&self.opened, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => File::from(opened?),
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"));
        }
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(Some((metadata, bytes)))
    }

    /// Replaces the file in one step: a reader sees the old content or the new one. The umask does not restrict `mode`.
    pub(super) fn write(&self, name: &str, content: &[u8], mode: Mode) -> Result<()> {
        self.replace(name, |temporary| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            // The mode is set before there is a content.
            let mut file = File::from(openat(&self.opened, temporary, flags, Mode::RUSR | Mode::WUSR)?);
            fchmod(&file, mode)?;
            file.write_all(content)
        })
    }

    /// Makes `name` a link to `target`, unless it is one already.
    pub(super) fn link(&self, name: &str, target: &str) -> Result<()> {
        let present = readlinkat(&self.opened, name, Vec::new()).ok();
        if present.is_some_and(|present| OsString::from_vec(present.into_bytes()) == target) {
            return Ok(());
        }
        self.replace(name, |temporary| Ok(symlinkat(target, &self.opened, temporary)?))
    }

    /// Renames what `make` creates to `name`.
    fn replace(&self, name: &str, make: impl FnOnce(&str) -> io::Result<()>) -> Result<()> {
        let temporary = format!(".{name}.new");
        let replaced = self
            .without(&temporary)
            .and_then(|()| make(&temporary))
            .and_then(|()| Ok(renameat(&self.opened, &temporary, &self.opened, name)?));
        if replaced.is_err() {
            self.without(&temporary).ok();
        }
        replaced.with_context(|| format!("cannot write {}", self.path_of(name).display()))
    }

    /// Removes a file that a killed process left.
    fn without(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.opened, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    const PUBLIC: Mode = Mode::from_bits_retain(0o644);
    const PRIVATE: Mode = Mode::from_bits_retain(0o600);

    fn folder() -> (tempfile::TempDir, Folder) {
        let temporary = tempfile::tempdir().unwrap();
        fs::set_permissions(temporary.path(), fs::Permissions::from_mode(0o2777)).unwrap();
        let folder = Folder::open(temporary.path(), "for a test").unwrap();
        (temporary, folder)
    }

    #[test]
    fn file_is_replaced_with_its_mode_and_leaves_nothing_else() {
        let (temporary, folder) = folder();
        let path = temporary.path().join("ca.crt");
        for (content, mode) in [("one", PUBLIC), ("two", PRIVATE), ("three", PUBLIC)] {
            // As a killed process would leave it.
            fs::write(temporary.path().join(".ca.crt.new"), "half").unwrap();
            folder.write("ca.crt", content.as_bytes(), mode).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, mode.bits());
            assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1);
        }
        assert_eq!(folder.read("ca.crt", 3).unwrap().unwrap().1, b"thr", "no more than was asked for");
        assert!(folder.read("absent", 3).unwrap().is_none());
    }

    #[test]
    fn reader_of_the_old_file_keeps_its_content() {
        let (temporary, folder) = folder();
        folder.write("ca.crt", b"old", PUBLIC).unwrap();
        let old = File::open(temporary.path().join("ca.crt")).unwrap();
        folder.write("ca.crt", b"new", PUBLIC).unwrap();
        assert_eq!(io::read_to_string(old).unwrap(), "old");
    }

    #[test]
    fn links_in_the_folder_are_replaced_and_never_followed() {
        let (temporary, folder) = folder();
        let outside = tempfile::tempdir().unwrap();
        let victim = outside.path().join("victim");
        fs::write(&victim, "kept").unwrap();
        for name in ["ca.crt", ".ca.crt.new"] {
            symlink(&victim, temporary.path().join(name)).unwrap();
        }
        assert!(folder.read("ca.crt", 10).is_err(), "a link is not followed");
        folder.write("ca.crt", b"new", PUBLIC).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "kept");
        assert!(fs::symlink_metadata(temporary.path().join("ca.crt")).unwrap().is_file());
        symlink(temporary.path(), outside.path().join("link")).unwrap();
        let error = format!("{:#}", Folder::open(&outside.path().join("link"), "for a test").unwrap_err());
        assert!(error.contains("for a test") && error.contains("mount an emptyDir there"), "{error}");
    }

    #[test]
    fn link_is_made_once_and_kept() {
        let (temporary, folder) = folder();
        let path = temporary.path().join("token");
        fs::write(&path, "a file of somebody").unwrap();
        for _restart in 0..2 {
            folder.link("token", "../../watchtap/token").unwrap();
            assert_eq!(fs::read_link(&path).unwrap(), Path::new("../../watchtap/token"));
        }
        let inode = fs::symlink_metadata(&path).unwrap().ino();
        folder.link("token", "../../watchtap/token").unwrap();
        assert_eq!(fs::symlink_metadata(&path).unwrap().ino(), inode);
    }

    #[test]
    fn folder_in_place_of_a_file_is_an_error_that_names_it() {
        let (temporary, folder) = folder();
        fs::create_dir(temporary.path().join("ca.crt")).unwrap();
        for error in [folder.write("ca.crt", b"new", PUBLIC).unwrap_err(), folder.link("ca.crt", "elsewhere").unwrap_err()] {
            let error = format!("{error:#}");
            assert!(error.contains("/ca.crt: ") && error.contains("directory"), "{error}");
        }
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 1, "nothing is left beside it");
        assert!(folder.read("ca.crt", 10).unwrap_err().to_string().contains("not a regular file"));
    }
}
