//! Writing a capture: appended block by block, bounded in size by rotation.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use observer_core::capture::{FileEnd, Writer};
use observer_core::observation::Observation;

use crate::private_file;

/// Longest that an observation waits for its block to be written, if the owner calls [`CaptureFile::flush_if_due`] in time.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// How much disk a capture may take: about `max_size` × `files`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of observations after which a file is full; it exceeds them by one block at most (1 MiB, usually far less), and by what it
    /// says again of what is open, which is bounded but may be more than this.
    pub max_size: u64,
    /// Files that are kept, the one that is written among them; at least 1.
    pub files: u32,
}

/// A capture that is being written to `FILE`; full files are renamed to `FILE.1`, `FILE.2`, …, the oldest with the highest number.
///
/// Each block goes to the operating system in one write, so what was written before a crash of this process can be read. Nothing is
/// synchronised with the disk: that could take seconds, in which nothing would be observed.
#[derive(Debug)]
pub struct CaptureFile {
    path: PathBuf,
    file: File,
    bounds: Bounds,
    /// A pipe or a device cannot be renamed.
    can_rotate: bool,
    /// Begins with the first observation.
    writer: Option<Writer>,
    /// Bytes of the present file behind what stands.
    written: u64,
    /// Bytes that are not written yet; empty between calls.
    pending: Vec<u8>,
    flushed: Instant,
}

impl CaptureFile {
    /// Creates `path`, or empties it, for its owner only.
    ///
    /// Files of an earlier capture beside it (`FILE.1`, …) stay until rotation replaces them.
    pub fn create(path: &Path, bounds: Bounds) -> io::Result<Self> {
        let file = private_file::create(path)?;
        let can_rotate = file.metadata()?.is_file();
        Ok(Self {
            path: path.to_owned(),
            file,
            bounds,
            can_rotate,
            writer: None,
            written: 0,
            pending: Vec::new(),
            flushed: Instant::now(),
        })
    }

    /// Takes the next observation. After an error the capture is over: drop it.
    pub fn record(&mut self, observation: &Observation) -> io::Result<()> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none @ None => {
                let writer = none.insert(Writer::new(observation.at));
                writer.begin_file(&mut self.pending);
                writer
            }
        };
        writer.record(observation, &mut self.pending);
        self.write()?;
        if self.can_rotate && self.written >= self.bounds.max_size { self.rotate() } else { Ok(()) }
    }

    /// How long until [`Self::flush_if_due`] has something to do; `None` when nothing waits.
    pub fn due_in(&self) -> Option<Duration> {
        let waits = self.writer.as_ref().is_some_and(Writer::has_open_block);
        waits.then(|| FLUSH_EVERY.saturating_sub(self.flushed.elapsed()))
    }

    /// Writes what has waited for a second.
    pub fn flush_if_due(&mut self) -> io::Result<()> {
        match (self.due_in(), &mut self.writer) {
            (Some(Duration::ZERO), Some(writer)) => {
                writer.flush(&mut self.pending);
                self.flushed = Instant::now();
                self.write()
            }
            (None, _) => {
                // A second of waiting begins with the observation that waits.
                self.flushed = Instant::now();
                Ok(())
            }
            (Some(_), _) => Ok(()),
        }
    }

    /// Writes what waits, and the end mark.
    pub fn finish(mut self) -> io::Result<()> {
        self.end(FileEnd::Complete)
    }

    fn end(&mut self, end: FileEnd) -> io::Result<()> {
        if let Some(writer) = &mut self.writer {
            writer.end_file(end, &mut self.pending);
        }
        self.write()
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.end(FileEnd::Continues)?;
        for number in (1..self.bounds.files).rev() {
            match fs::rename(numbered(&self.path, number - 1), numbered(&self.path, number)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        self.file = private_file::create(&self.path)?;
        if let Some(writer) = &mut self.writer {
            writer.begin_file(&mut self.pending);
        }
        self.write()?;
        // Where very much is open, a file that counted it would be full before its first observation.
        self.written = 0;
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.file.write_all(&self.pending)?;
        self.written = self.written.saturating_add(self.pending.len() as u64);
        self.pending.clear();
        Ok(())
    }
}

/// `FILE` for 0, else `FILE.number`.
pub(crate) fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    PathBuf::from(name)
}
