//! A file that grows while it is read, and that may be rotated.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use observer_core::logs::MAX_LINE;

use super::changes::Changes;
use super::source::{GZIP, LogError};

/// The present file of a name, line by line.
///
/// A file that was renamed is read to its end, and then the new file of its name from the beginning. A file that became shorter was
/// truncated, and is read from its beginning. If it has grown beyond its former length since, that cannot be seen.
#[derive(Debug)]
pub(super) struct FollowedFile {
    path: PathBuf,
    present: Opened,
    /// The file that has taken its name.
    next: Option<Opened>,
    /// The beginning of a line without its end.
    begun: Vec<u8>,
    is_too_long: bool,
    /// Whether the present line began before the first byte that is read.
    is_begun_earlier: bool,
}

#[derive(Debug)]
struct Opened {
    file: File,
    /// Its device and its number there.
    identity: (u64, u64),
    /// Number of bytes that are read of it.
    position: u64,
}

/// Why a file cannot be followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotFollowed {
    /// It is stdin, a pipe, a folder or a device.
    #[error("{0}: --follow needs a file that grows: a pipe or stdin is read until its end without the flag")]
    NoFile(String),
    /// Packed files have an end.
    #[error("{0}: --follow cannot read a file that gzip packed, which does not grow: read it without the flag")]
    Packed(String),
    /// It cannot be read.
    #[error(transparent)]
    Unreadable(#[from] LogError),
}

impl FollowedFile {
    pub(super) fn open(path: &Path) -> Result<Self, NotFollowed> {
        let shown = || path.display().to_string();
        if crate::input_file::is_stdin(path) {
            return Err(NotFollowed::NoFile("stdin".to_owned()));
        }
        // Opening a pipe would wait for its writer.
        let metadata = path.metadata().map_err(|error| LogError::of(path, error))?;
        if !metadata.is_file() {
            return Err(NotFollowed::NoFile(shown()));
        }
        let mut present = Opened::of(path).map_err(|error| LogError::of(path, error))?;
        let mut first = [0; GZIP.len()];
        let read = present.file.read(&mut first).map_err(|error| LogError::of(path, error))?;
        if first.get(..read).is_some_and(|first| first == GZIP) {
            return Err(NotFollowed::Packed(shown()));
        }
        present.file.rewind().map_err(|error| LogError::of(path, error))?;
        Ok(Self { path: path.to_owned(), present, next: None, begun: Vec::new(), is_too_long: false, is_begun_earlier: false })
    }

    /// An error of reading it, with its path.
    pub(super) fn failed(&self, error: io::Error) -> LogError {
        LogError::of(&self.path, error)
    }

    /// When its content was changed last, or now if that is unknown.
    pub(super) fn modified(&self) -> SystemTime {
        self.present.file.metadata().and_then(|metadata| metadata.modified()).unwrap_or_else(|_| SystemTime::now())
    }

    /// Skips everything that was written so far. If its last line has no end yet, the rest of it is skipped, too.
    pub(super) fn seek_end(&mut self) -> io::Result<()> {
        let Opened { file, position, .. } = &mut self.present;
        let length = file.seek(SeekFrom::End(0))?;
        let mut last = [b'\n'];
        if length > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        *position = length;
        self.is_begun_earlier = last != [b'\n'];
        Ok(())
    }

    /// Reads what has been added, as far as there is room in `buffer`. Returns the number of bytes, which [`Self::split`] takes.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = loop {
            match self.present.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.present.position = self.present.position.saturating_add(read as u64);
        Ok(read)
    }

    /// Passes on each line that is complete with these bytes; `None` is one that is too long.
    pub(super) fn split(&mut self, read: &[u8], each: &mut dyn FnMut(Option<&[u8]>)) {
        let mut rest = read;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            self.append(line);
            self.flush(each);
            rest = after.get(1..).unwrap_or_default();
        }
        self.append(rest);
    }

    fn append(&mut self, part: &[u8]) {
        self.is_too_long |= self.begun.len() + part.len() > MAX_LINE;
        if self.is_too_long {
            self.begun = Vec::new();
        } else {
            self.begun.extend_from_slice(part);
        }
    }

    /// Passes the line so far on.
    pub(super) fn flush(&mut self, each: &mut dyn FnMut(Option<&[u8]>)) {
        if std::mem::take(&mut self.is_begun_earlier) {
            self.is_too_long = false;
        } else if std::mem::take(&mut self.is_too_long) {
            each(None);
        } else if !self.begun.is_empty() {
            each(Some(&self.begun));
        }
        self.begun.clear();
    }

    /// Begins again if it was truncated.
    pub(super) fn rewind_if_truncated(&mut self, each: &mut dyn FnMut(Option<&[u8]>)) -> io::Result<()> {
        if self.present.file.metadata()?.len() < self.present.position {
            self.flush(each);
            self.present.file.rewind()?;
            self.present.position = 0;
        }
        Ok(())
    }

    /// Looks for another file of its name, when there is nothing more to read. Returns whether there may be more now.
    ///
    /// The present file is read to its end once more then, since its writer may have added lines before it was renamed.
    pub(super) fn rotate(&mut self, changes: &Changes, each: &mut dyn FnMut(Option<&[u8]>)) -> io::Result<bool> {
        if let Some(next) = self.next.take() {
            self.flush(each);
            self.present = next;
            return Ok(true);
        }
        match self.path.metadata() {
            Ok(metadata) if metadata.is_file() && identity(&metadata) != self.present.identity => {}
            // The new file may not exist yet.
            Ok(_) | Err(_) => return Ok(false),
        }
        match Opened::of(&self.path) {
            Ok(next) => {
                changes.add(&self.path);
                self.next = Some(next);
                Ok(true)
            }
            Err(error) if is_awaited(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

impl Opened {
    fn of(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let identity = identity(&file.metadata()?);
        Ok(Self { file, identity, position: 0 })
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

/// Whether a new file may be opened later: it was renamed again, or does not have its mode yet, which logrotate sets last.
fn is_awaited(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const SIZE: usize = 256 << 10;

    impl FollowedFile {
        /// Makes every further read fail.
        pub(in crate::log_files) fn become_unreadable(&mut self) {
            self.present.file = fs::OpenOptions::new().append(true).open(&self.path).unwrap();
        }
    }

    /// A followed file in a folder of its own, and its lines so far.
    struct Scene {
        folder: tempfile::TempDir,
        followed: FollowedFile,
        changes: Changes,
        lines: Vec<String>,
    }

    impl Scene {
        fn new(content: &str) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("log");
            fs::write(&path, content).unwrap();
            Self { folder, followed: FollowedFile::open(&path).unwrap(), changes: Changes::open().unwrap().0, lines: Vec::new() }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn append(&self, name: &str, text: &str) {
            fs::OpenOptions::new().append(true).open(self.path(name)).unwrap().write_all(text.as_bytes()).unwrap();
        }

        /// The lines since the last call, read through a buffer of so many bytes.
        fn read(&mut self, size: usize) -> Vec<String> {
            let Self { followed, changes, lines, .. } = self;
            let mut each =
                |line: Option<&[u8]>| lines.push(line.map_or("too long".to_owned(), |line| String::from_utf8_lossy(line).into()));
            let mut buffer = vec![0; size];
            loop {
                followed.rewind_if_truncated(&mut each).unwrap();
                let read = followed.fill(&mut buffer).unwrap();
                followed.split(&buffer[..read], &mut each);
                if read == 0 && !followed.rotate(changes, &mut each).unwrap() {
                    return std::mem::take(lines);
                }
            }
        }
    }

    #[test]
    fn lines_are_read_when_they_are_complete() {
        for size in [1, 3, 64] {
            let mut scene = Scene::new("a\nb");
            assert_eq!(scene.read(size), ["a"], "{size}");
            scene.append("log", "c\n\nd");
            assert_eq!(scene.read(size), ["bc"], "{size}");
            assert_eq!(scene.read(size), [] as [&str; 0]);
        }
    }

    #[test]
    fn file_is_read_from_its_end_on() {
        for (before, after, expected) in [("a\n", "b\n", &["b"][..]), ("a\nto", "rn\nb\n", &["b"]), ("", "b\n", &["b"])] {
            let mut scene = Scene::new(before);
            scene.followed.seek_end().unwrap();
            assert_eq!(scene.read(64), [] as [&str; 0]);
            scene.append("log", after);
            assert_eq!(scene.read(64), expected, "{before:?}");
        }
    }

    #[test]
    fn renamed_file_is_read_to_its_end_and_the_new_one_from_its_beginning() {
        let mut scene = Scene::new("a\n");
        assert_eq!(scene.read(64), ["a"]);
        fs::rename(scene.path("log"), scene.path("log.1")).unwrap();
        scene.append("log.1", "b\n");
        assert_eq!(scene.read(64), ["b"], "there is no new file yet");
        scene.append("log.1", "c\nd");
        fs::write(scene.path("log"), "e\n").unwrap();
        assert_eq!(scene.read(64), ["c", "d", "e"]);
        scene.append("log", "f\n");
        assert_eq!(scene.read(64), ["f"]);
    }

    #[test]
    fn new_file_that_cannot_be_opened_yet_is_tried_again() {
        let mut scene = Scene::new("a\n");
        fs::rename(scene.path("log"), scene.path("log.1")).unwrap();
        fs::write(scene.path("log"), "b\n").unwrap();
        let log = scene.path("log");
        let set_mode = |mode| fs::set_permissions(&log, fs::Permissions::from_mode(mode)).unwrap();
        set_mode(0);
        // root opens it at once.
        let mut lines = scene.read(64);
        set_mode(0o600);
        lines.extend(scene.read(64));
        assert_eq!(lines, ["a", "b"]);
        let is_awaited = |kind: io::ErrorKind| is_awaited(&kind.into());
        assert!(is_awaited(io::ErrorKind::PermissionDenied) && is_awaited(io::ErrorKind::NotFound));
        assert!(!is_awaited(io::ErrorKind::StaleNetworkFileHandle));
    }

    #[test]
    fn truncated_file_is_read_from_its_beginning() {
        let mut scene = Scene::new("a\nb\ntorn");
        assert_eq!(scene.read(64), ["a", "b"]);
        fs::write(scene.path("log"), "c\n").unwrap();
        assert_eq!(scene.read(64), ["torn", "c"]);
    }

    #[test]
    fn line_that_is_too_long_takes_no_memory() {
        let mut scene = Scene::new("");
        scene.append("log", &"a".repeat(MAX_LINE + 1));
        assert_eq!(scene.read(SIZE), [] as [&str; 0]);
        assert_eq!(scene.followed.begun.capacity(), 0);
        scene.append("log", "b\nc\n");
        assert_eq!(scene.read(SIZE), ["too long", "c"]);
    }

    #[test]
    fn pipes_folders_and_packed_files_are_refused() {
        let scene = Scene::new("");
        let refusal = |path: &Path| FollowedFile::open(path).err().unwrap().to_string();
        fs::write(scene.path("a.gz"), [0x1f, 0x8b, 8]).unwrap();
        assert!(refusal(&scene.path("a.gz")).contains("a.gz: --follow cannot read a file that gzip packed"));
        assert!(refusal(scene.folder.path()).contains("--follow needs a file that grows"));
        assert!(refusal(Path::new("-")).starts_with("stdin: --follow needs a file"));
        assert!(refusal(&scene.path("missing")).starts_with("cannot read "));
    }
}
