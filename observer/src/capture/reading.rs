//! Replays the files of a capture in the order in which they were written, with the time at which each observation is due.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use observer_core::capture::{FileHead, Lost, LostReason, Reader, Record, Refused, Replay, Replayed};
use observer_core::observation::Observation;
use observer_core::time::Timestamp;

use crate::input_file::InputFile;

/// Bytes per read.
const CHUNK: usize = 64 << 10;
/// Maximum size of the head of a file, in bytes.
const HEAD: u64 = 4 << 10;

/// The loss reported for an empty file.
const EMPTY: Lost = Lost { offset: 0, bytes: 0, observations: None, from: None, until: None, reason: LostReason::Torn };

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {error}", file.display())]
    Io {
        /// The file's path.
        file: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is not a capture that this version reads.
    #[error("{}: {refused}", file.display())]
    Refused {
        /// The file's path.
        file: PathBuf,
        /// The reason.
        refused: Refused,
    },
}

/// The next observation of a replay.
#[derive(Debug)]
pub struct Due {
    /// Time until it is due; zero at full speed.
    pub after: Duration,
    /// As it was recorded.
    pub observation: Observation,
}

/// The speed of a replay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At full speed.
    AtOnce,
    /// This many times as fast as they were recorded; above 0.
    Times(f64),
}

/// The files of one capture.
pub struct Recording {
    files: Vec<PathBuf>,
    /// Files without a head, because their writer was killed before it wrote one. Their position in the capture is unknown.
    empty: Vec<PathBuf>,
    /// The only file, if it is open.
    opened: Option<InputFile>,
}

impl Recording {
    /// Sorts the files by capture and by their position in it, and keeps no file open. An empty file among several counts as a
    /// loss.
    pub fn of(files: &[PathBuf]) -> Result<Self, ReadError> {
        let [_, _, ..] = files else { return Ok(Self { files: files.to_vec(), empty: Vec::new(), opened: None }) };
        let mut placed = Vec::with_capacity(files.len());
        let mut empty = Vec::new();
        for file in files {
            match head(file) {
                Ok(head) => placed.push((head.map(|head| (head.capture, head.part)), file.clone())),
                Err(ReadError::Refused { refused: Refused::Empty, .. }) => empty.push(file.clone()),
                Err(error) => return Err(error),
            }
        }
        if placed.is_empty() {
            // No file can be read, and `replay` returns that as an error.
            return Ok(Self { files: empty, empty: Vec::new(), opened: None });
        }
        placed.sort_by_key(|(place, _)| *place);
        Ok(Self { files: placed.into_iter().map(|(_, file)| file).collect(), empty, opened: None })
    }

    /// The only file of a capture, which may be a pipe.
    pub fn of_one(file: InputFile) -> Self {
        Self { files: vec![file.path().to_owned()], empty: Vec::new(), opened: Some(file) }
    }

    /// Calls `each` with every observation, which waits until it is due. Returns the losses, each with the file in which it was detected.
    pub fn replay(mut self, pace: Pace, each: &mut dyn FnMut(Due)) -> Result<Vec<(PathBuf, Lost)>, ReadError> {
        let mut replay = Replay::default();
        let mut clock = Clock { pace, begun: None };
        let mut found = Found { lost: Vec::new(), refused: None };
        for file in &self.files {
            let mut sink = |one| found.take(file, one, &mut clock, each);
            let mut open = match self.opened.take() {
                Some(open) => open,
                None => open(file)?,
            };
            let mut chunk = vec![0; CHUNK];
            loop {
                let read = match open.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => return Err(ReadError::Io { file: file.clone(), error }),
                };
                replay.bytes(chunk.get(..read).unwrap_or_default(), &mut sink);
            }
            replay.end_file(&mut sink);
            if let Some(refused) = found.refused {
                return Err(ReadError::Refused { file: file.clone(), refused });
            }
        }
        if let Some(last) = self.files.last() {
            replay.finish(&mut |one| found.take(last, one, &mut clock, each));
        }
        // The observations of these files are missing between two other files, and `Replay` reports them there.
        let room = Found::MAX_LOST.saturating_sub(found.lost.len());
        found.lost.extend(self.empty.iter().take(room.max(1)).map(|file| (file.clone(), EMPTY)));
        Ok(found.lost)
    }
}

/// The losses of a replay, and the reason if a file was refused.
struct Found {
    lost: Vec<(PathBuf, Lost)>,
    refused: Option<Refused>,
}

impl Found {
    /// Maximum number of losses listed. The Observer counts all of them.
    const MAX_LOST: usize = 64;

    fn take(&mut self, file: &Path, one: Replayed, clock: &mut Clock, each: &mut dyn FnMut(Due)) {
        match one {
            Replayed::Observation(observation) => each(Due { after: clock.time_until(observation.at), observation }),
            Replayed::Lost(lost) if self.lost.len() < Self::MAX_LOST => self.lost.push((file.to_owned(), lost)),
            Replayed::Lost(_) => {}
            Replayed::Refused(refused) => self.refused = Some(refused),
        }
    }
}

/// Computes when observations are due at the given speed.
struct Clock {
    pace: Pace,
    begun: Option<(Instant, Timestamp)>,
}

impl Clock {
    fn time_until(&mut self, at: Timestamp) -> Duration {
        let Pace::Times(factor) = self.pace else { return Duration::ZERO };
        let (begun, first) = *self.begun.get_or_insert_with(|| (Instant::now(), at));
        let due = Duration::try_from_secs_f64(at.since(first).as_secs_f64() / factor).unwrap_or(Duration::MAX);
        due.saturating_sub(begun.elapsed())
    }
}

fn head(file: &Path) -> Result<Option<FileHead>, ReadError> {
    let mut bytes = Vec::new();
    open(file)?.take(HEAD).read_to_end(&mut bytes).map_err(|error| ReadError::Io { file: file.to_owned(), error })?;
    let mut found = None;
    let mut take = |record| match record {
        Record::Head(head) => found = Some(Ok(head)),
        Record::Refused(refused) => found = Some(Err(refused)),
        Record::Restated(_) | Record::Observation(_) | Record::Lost(_) | Record::End(_) => {}
    };
    let mut reader = Reader::default();
    reader.bytes(&bytes, &mut take);
    reader.finish(&mut take);
    found.transpose().map_err(|refused| ReadError::Refused { file: file.to_owned(), refused })
}

fn open(file: &Path) -> Result<InputFile, ReadError> {
    InputFile::open(file).map_err(|error| ReadError::Io { file: file.to_owned(), error })
}
