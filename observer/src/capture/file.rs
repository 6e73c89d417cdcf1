//! Writes a capture to disk, block by block. Rotation bounds its size.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use observer_core::capture::{FileEnd, Writer};
use observer_core::observation::Observation;

use crate::private_file;

/// Maximum time until an observation is written to the file, if the owner calls [`CaptureFile::flush_if_due`] in time.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

/// Bounds the disk space of a capture to about `max_size` × `files`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Size in bytes after which a file is full. A file exceeds it by at most one block (1 MiB, usually far less), and by the state
    /// at its start. That state describes the exchanges that are open then. It is bounded too, but may be larger than `max_size`.
    pub max_size: u64,
    /// Number of files kept, including the one being written; at least 1.
    pub files: u32,
}

/// A capture being written to `FILE`. Full files are renamed to `FILE.1`, `FILE.2`, …; the oldest has the highest number.
///
/// Each block goes to the operating system in one write, so everything written before a crash of this process can be read.
/// Nothing is synchronised with the disk: that could take seconds, and observing would pause meanwhile.
#[derive(Debug)]
pub struct CaptureFile {
    path: PathBuf,
    file: File,
    bounds: Bounds,
    /// False for a pipe or a device, which cannot be renamed.
    can_rotate: bool,
    /// `None` until the first observation.
    writer: Option<Writer>,
    /// Bytes in the current file. After a rotation, the state repeated at its start is not counted.
    written: u64,
    /// Bytes to write next; empty between calls.
    pending: Vec<u8>,
    flushed: Instant,
}

impl CaptureFile {
    /// Creates the file `path`, or truncates it. Only its owner can read the file.
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

    /// Records the next observation. An error ends the capture: drop it then.
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

    /// Time until [`Self::flush_if_due`] has something to write; `None` if nothing is waiting.
    pub fn due_in(&self) -> Option<Duration> {
        let waits = self.writer.as_ref().is_some_and(Writer::has_open_block);
        waits.then(|| FLUSH_EVERY.saturating_sub(self.flushed.elapsed()))
    }

    /// Writes the open block if it has waited for a second.
    pub fn flush_if_due(&mut self) -> io::Result<()> {
        match (self.due_in(), &mut self.writer) {
            (Some(Duration::ZERO), Some(writer)) => {
                writer.flush(&mut self.pending);
                self.flushed = Instant::now();
                self.write()
            }
            (None, _) => {
                // The 1 s begins with the first observation of a block.
                self.flushed = Instant::now();
                Ok(())
            }
            (Some(_), _) => Ok(()),
        }
    }

    /// Writes the open block and the end mark.
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
        // The repeated state is not counted: with very many open exchanges, the file would be full before its first observation.
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

/// The path of a rotated file: `FILE.number`, or `FILE` for number 0.
pub(crate) fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name: OsString = path.as_os_str().to_owned();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    PathBuf::from(name)
}
