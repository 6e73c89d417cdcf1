//! Creates output files that only their owner can read, since names of objects can be sensitive.
//!
//! Another user may have created something at the same path, to read the output or to make watchtap overwrite a different file. So
//! a file, a pipe or a link that belongs to another user is refused. A file that others may have open is replaced with a new file
//! of the same name. Devices and inherited standard streams (`/dev/stdout`) are accepted with any owner.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::iter;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// The mode of a new file.
const PRIVATE: u32 = 0o600;
/// The permission bits of a file's group and of all other users.
const OF_OTHERS: u32 = 0o077;
/// Root's uid. Links of root are trusted.
const ROOT: u32 = 0;

/// The highest number in a name. A user presses a key for each of these files.
const MOST_NUMBERED: u32 = 99;

/// Opens `path` for writing: an empty file with mode 0600, or a pipe or a device.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    let there = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return create_new(path),
        there => there?,
    };
    let mut options = OpenOptions::new();
    options.write(true);
    if there.is_symlink() {
        trust_link(there.uid(), geteuid().as_raw())?;
        options.create(true).mode(PRIVATE);
    } else {
        // The owner is checked before opening, because opening another user's pipe would wait for a reader.
        trust(&there)?;
        options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    trust(&metadata)?;
    if !metadata.is_file() {
        return Ok(file);
    }
    if metadata.mode() & OF_OTHERS != 0 && !is_standard_stream(&metadata) {
        return replace(path);
    }
    file.set_len(0)?;
    Ok(file)
}

/// Creates `stem.extension` in `folder`; if that name is taken, `stem-2.extension` and so on.
pub(crate) fn create_numbered(folder: &Path, stem: &str, extension: &str) -> io::Result<(PathBuf, File)> {
    let further = (2..=MOST_NUMBERED).map(|number| format!("{stem}-{number}.{extension}"));
    for name in iter::once(format!("{stem}.{extension}")).chain(further) {
        let path = folder.join(name);
        match create_new(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (path, file)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Creates the file; fails if the name exists.
fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)
}

/// Follows all links, and replaces a file that others may have open with a new one.
fn replace(path: &Path) -> io::Result<File> {
    let path = fs::canonicalize(path)?;
    fs::remove_file(&path)?;
    create_new(&path)
}

fn trust(metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_char_device() || is_standard_stream(metadata) {
        return Ok(());
    }
    if kind.is_file() || kind.is_fifo() {
        return trust_owner(metadata.uid(), geteuid().as_raw());
    }
    if kind.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "it is neither a file, a pipe nor a terminal"))
}

fn trust_owner(owner: u32, ours: u32) -> io::Result<()> {
    if owner == ours {
        return Ok(());
    }
    Err(refused(&format!("it belongs to another user (uid {owner}), who could read or change its contents")))
}

fn trust_link(owner: u32, ours: u32) -> io::Result<()> {
    if owner == ours || owner == ROOT {
        return Ok(());
    }
    Err(refused(&format!("it is a link of another user (uid {owner}), and could point to any file of yours")))
}

fn refused(why: &str) -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, format!("{why}; remove it, or name a file of your own"))
}

/// Whether the file is one of this process's standard streams, which the parent process opened.
fn is_standard_stream(metadata: &Metadata) -> bool {
    let is_it = |stream: BorrowedFd<'_>| {
        let stream = stream.try_clone_to_owned().and_then(|stream| File::from(stream).metadata());
        stream.is_ok_and(|stream| (stream.dev(), stream.ino()) == (metadata.dev(), metadata.ino()))
    };
    is_it(io::stdin().as_fd()) || is_it(io::stdout().as_fd()) || is_it(io::stderr().as_fd())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};

    use super::*;

    /// A uid under which no test runs.
    const STRANGER: u32 = 54_321;

    #[test]
    fn existing_file_is_truncated_and_made_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        for mode in [None, Some(0o600), Some(0o644), Some(0o666)] {
            if let Some(mode) = mode {
                fs::write(&path, "what stood here").unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            create(&path).unwrap().write_all(b"new").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), "new", "{mode:?}");
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600, "{mode:?}");
        }
    }

    #[test]
    fn taken_name_gets_a_number_and_its_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("note.md"), "kept").unwrap();
        symlink(folder.path().join("elsewhere"), folder.path().join("note-2.md")).unwrap();
        let (path, mut file) = create_numbered(folder.path(), "note", "md").unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(path, folder.path().join("note-3.md"));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(folder.path().join("note.md")).unwrap(), "kept");
        assert!(!folder.path().join("elsewhere").exists(), "the link is not followed");
        assert_eq!(create_numbered(&path, "note", "md").unwrap_err().kind(), ErrorKind::NotADirectory);
    }

    #[test]
    fn earlier_opener_of_the_file_reads_no_new_content() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("report"), folder.path().join("link"));
        symlink(&path, &link).unwrap();
        for written in [&path, &link] {
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
            let elsewhere = File::open(&path).unwrap();
            create(written).unwrap().write_all(b"secret").unwrap();
            assert_eq!(io::read_to_string(elsewhere).unwrap(), "");
            assert_eq!(fs::read_to_string(&path).unwrap(), "secret");
        }
    }

    #[test]
    fn devices_and_own_links_are_written_and_folders_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        symlink(&target, &link).unwrap();
        create(&link).unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        create(Path::new("/dev/null")).unwrap().write_all(b"x").unwrap();
        assert_eq!(create(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
    }

    #[test]
    fn files_and_links_of_another_user_are_refused() {
        for refused in [trust_owner(1001, 1000), trust_owner(0, 1000), trust_owner(1000, 0), trust_link(1001, 1000)] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::PermissionDenied);
        }
        for trusted in [trust_owner(1000, 1000), trust_link(1000, 1000), trust_link(0, 1000)] {
            trusted.unwrap();
        }
        // Only root can give a file to another user.
        if geteuid().is_root() {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            fs::write(path("file"), "kept").unwrap();
            fs::write(path("own"), "kept").unwrap();
            chown(path("file"), Some(STRANGER), None).unwrap();
            symlink(path("own"), path("link")).unwrap();
            lchown(path("link"), Some(STRANGER), None).unwrap();
            for (name, target) in [("file", "file"), ("link", "own")] {
                let error = create(&path(name)).unwrap_err().to_string();
                assert!(error.contains("another user (uid 54321)") && error.contains("name a file of your own"), "{error}");
                assert_eq!(fs::read_to_string(path(target)).unwrap(), "kept");
            }
        }
    }
}
