//! Files that grow while they are read, and that may be rotated.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use observer_core::logs::{LogReplay, MAX_LINE};
use observer_core::observation::Observation;

use super::changes::Changes;
use super::merged::LogZone;
use super::source::{GZIP, LogError};

/// Bytes that are read of a file before the next one has its turn.
const TURN: usize = 256 << 10;

/// The logs of one cluster, as they grow.
///
/// A file that was renamed is read to its end, and then the new file of its name from the beginning. A file that became shorter was
/// truncated, and is read from its beginning. If it has grown beyond its former length since, that cannot be seen.
#[derive(Debug)]
pub(crate) struct FollowedFiles {
    files: Vec<FollowedFile>,
    zone: LogZone,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct FollowedFile {
    path: PathBuf,
    file: File,
    /// Device and number of the open file.
    identity: (u64, u64),
    /// Number of bytes that are read of it.
    position: u64,
    /// The beginning of a line without its end.
    begun: Vec<u8>,
    is_too_long: bool,
    /// Whether the present line began before the first byte that is read.
    is_begun_earlier: bool,
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

impl FollowedFiles {
    /// Opens the files.
    pub(crate) fn open(paths: &[PathBuf], zone: LogZone, changes: &Changes) -> Result<Self, NotFollowed> {
        let files = paths.iter().map(|path| FollowedFile::open(path)).collect::<Result<Vec<_>, _>>()?;
        for path in paths {
            changes.add(path);
        }
        Ok(Self { files, zone, buffer: vec![0; TURN] })
    }

    /// Opens the files at their ends, to read only what is added from now on.
    pub(crate) fn open_at_ends(paths: &[PathBuf], zone: LogZone, changes: &Changes) -> Result<Self, NotFollowed> {
        let mut opened = Self::open(paths, zone, changes)?;
        for file in &mut opened.files {
            file.seek_end().map_err(|error| LogError::of(&file.path, error))?;
        }
        Ok(opened)
    }

    /// Announces the files to `replay`, each with the year of its last change.
    pub(crate) fn begin(&self, replay: &mut LogReplay) {
        for (number, file) in self.files.iter().enumerate() {
            let modified = file.file.metadata().and_then(|metadata| metadata.modified()).unwrap_or_else(|_| SystemTime::now());
            replay.begin(number, self.zone.clock_until(modified));
        }
    }

    /// Reads at most one turn of each file. Returns whether there may be more to read at once.
    pub(crate) fn read(
        &mut self,
        replay: &mut LogReplay,
        each: &mut dyn FnMut(Observation),
        changes: &Changes,
    ) -> Result<bool, LogError> {
        let mut has_more = false;
        for (number, file) in self.files.iter_mut().enumerate() {
            let read = file.read(&mut self.buffer, &mut |line| take(replay, number, line, each));
            let error = |error| LogError::of(&file.path, error);
            has_more |= match read.map_err(error)? {
                0 => file
                    .rotate(changes, &mut |line| take(replay, number, line, each))
                    .map_err(|error| LogError::of(&file.path, error))?,
                _some => true,
            };
        }
        Ok(has_more)
    }

    /// Notes that no file will grow. The last line of each may lack its end.
    pub(crate) fn finish(&mut self, replay: &mut LogReplay, each: &mut dyn FnMut(Observation)) {
        for (number, file) in self.files.iter_mut().enumerate() {
            file.flush(&mut |line| take(replay, number, line, each));
            replay.end_of(number);
        }
        replay.finish(each);
    }
}

/// Passes a line on; `None` is one that is too long.
fn take(replay: &mut LogReplay, number: usize, line: Option<&[u8]>, each: &mut dyn FnMut(Observation)) {
    match line {
        Some(line) => {
            replay.line(number, line, each);
        }
        None => replay.too_long(),
    }
}

impl FollowedFile {
    fn open(path: &Path) -> Result<Self, NotFollowed> {
        let shown = || path.display().to_string();
        if crate::input_file::is_stdin(path) {
            return Err(NotFollowed::NoFile("stdin".to_owned()));
        }
        // Opening a pipe would wait for its writer.
        let metadata = path.metadata().map_err(|error| LogError::of(path, error))?;
        if !metadata.is_file() {
            return Err(NotFollowed::NoFile(shown()));
        }
        let mut opened = Self::open_now(path).map_err(|error| LogError::of(path, error))?;
        let mut first = [0; GZIP.len()];
        let read = opened.file.read(&mut first).map_err(|error| LogError::of(path, error))?;
        if first.get(..read).is_some_and(|first| first == GZIP) {
            return Err(NotFollowed::Packed(shown()));
        }
        opened.file.rewind().map_err(|error| LogError::of(path, error))?;
        Ok(opened)
    }

    fn open_now(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let identity = identity(&file.metadata()?);
        Ok(Self {
            path: path.to_owned(),
            file,
            identity,
            position: 0,
            begun: Vec::new(),
            is_too_long: false,
            is_begun_earlier: false,
        })
    }

    /// Skips everything that was written so far. If its last line has no end yet, the rest of it is skipped, too.
    fn seek_end(&mut self) -> io::Result<()> {
        let length = self.file.seek(SeekFrom::End(0))?;
        let mut last = [b'\n'];
        if length > 0 {
            self.file.seek(SeekFrom::End(-1))?;
            self.file.read_exact(&mut last)?;
        }
        self.position = length;
        self.is_begun_earlier = last != [b'\n'];
        Ok(())
    }

    /// Reads what has been added, as far as there is room in `buffer`. Returns the number of bytes.
    fn read(&mut self, buffer: &mut [u8], each: &mut dyn FnMut(Option<&[u8]>)) -> io::Result<usize> {
        let read = loop {
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.position = self.position.saturating_add(read as u64);
        let mut rest = buffer.get(..read).unwrap_or_default();
        while let Some(end) = memchr::memchr(b'\n', rest) {
            let (line, after) = rest.split_at(end);
            self.append(line);
            self.flush(each);
            rest = after.get(1..).unwrap_or_default();
        }
        self.append(rest);
        Ok(read)
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
    fn flush(&mut self, each: &mut dyn FnMut(Option<&[u8]>)) {
        if std::mem::take(&mut self.is_begun_earlier) {
            self.is_too_long = false;
        } else if std::mem::take(&mut self.is_too_long) {
            each(None);
        } else if !self.begun.is_empty() {
            each(Some(&self.begun));
        }
        self.begun.clear();
    }

    /// Looks for another file of its name, or a truncation. Returns whether there is more to read.
    fn rotate(&mut self, changes: &Changes, each: &mut dyn FnMut(Option<&[u8]>)) -> io::Result<bool> {
        if self.file.metadata()?.len() < self.position {
            self.flush(each);
            self.file.rewind()?;
            self.position = 0;
            return Ok(true);
        }
        let other = match self.path.metadata() {
            Ok(metadata) if metadata.is_file() && identity(&metadata) != self.identity => Self::open_now(&self.path),
            // The new file may not exist yet.
            Ok(_) | Err(_) => return Ok(false),
        };
        let other = match other {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other?,
        };
        // Its writer may have added lines before it was renamed.
        let mut buffer = vec![0; 4096];
        while self.read(&mut buffer, each)? > 0 {}
        self.flush(each);
        changes.add(&self.path);
        *self = other;
        Ok(true)
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

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
            while followed.read(&mut buffer, &mut each).unwrap() > 0 || followed.rotate(changes, &mut each).unwrap() {}
            std::mem::take(lines)
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
        assert_eq!(scene.read(TURN), [] as [&str; 0]);
        assert_eq!(scene.followed.begun.capacity(), 0);
        scene.append("log", "b\nc\n");
        assert_eq!(scene.read(TURN), ["too long", "c"]);
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
