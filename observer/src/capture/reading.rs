//! Reading captures: files in the order of their parts, at once or at a pace.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use observer_core::capture::{FileHead, Lost, LostReason, Reader, Record, Refused, Replay, Replayed};
use observer_core::observation::Observation;
use observer_core::time::Timestamp;

/// Bytes read at a time.
const CHUNK: usize = 64 << 10;
/// Enough for the head of any file.
const HEAD: u64 = 4 << 10;

/// What a file without a byte lacks.
const EMPTY: Lost = Lost { offset: 0, bytes: 0, observations: None, from: None, until: None, reason: LostReason::Torn };

/// Why a capture cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", file.display())]
    Io {
        /// Which one.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file is nothing that can be read.
    #[error("{}: {refused}", file.display())]
    Refused {
        /// Which one.
        file: PathBuf,
        /// Why.
        refused: Refused,
    },
}

/// How fast observations follow one another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// At once.
    AtOnce,
    /// As many times as fast as they were made; above 0.
    Times(f64),
}

/// The files of one capture.
#[derive(Debug)]
pub struct Recording {
    files: Vec<PathBuf>,
    /// Created by a writer that was killed before it wrote the head. Their place among the others is not known.
    empty: Vec<PathBuf>,
}

impl Recording {
    /// Puts the files into the order of their parts. Nothing of them is kept open. Among several an empty one is a part that is lost.
    pub fn of(files: &[PathBuf]) -> Result<Self, ReadError> {
        let [_, _, ..] = files else { return Ok(Self { files: files.to_vec(), empty: Vec::new() }) };
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
            // Nothing can be read, and reading says so.
            return Ok(Self { files: empty, empty: Vec::new() });
        }
        placed.sort_by_key(|(place, _)| *place);
        Ok(Self { files: placed.into_iter().map(|(_, file)| file).collect(), empty })
    }

    /// Gives the observations to `told`, and returns what is missing, with the file that says so.
    pub fn replay(&self, pace: Pace, told: &mut dyn FnMut(Observation)) -> Result<Vec<(PathBuf, Lost)>, ReadError> {
        let mut replay = Replay::default();
        let mut clock = Clock { pace, begun: None };
        let mut found = Found { lost: Vec::new(), refused: None };
        for file in &self.files {
            let mut sink = |one| found.take(file, one, &mut clock, told);
            let mut open = open(file)?;
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
            replay.finish(&mut |one| found.take(last, one, &mut clock, told));
        }
        // What they would have held is told as the span that their neighbours leave.
        let room = Found::MAX_LOST.saturating_sub(found.lost.len());
        found.lost.extend(self.empty.iter().take(room.max(1)).map(|file| (file.clone(), EMPTY)));
        Ok(found.lost)
    }
}

/// What is found beside observations.
struct Found {
    lost: Vec<(PathBuf, Lost)>,
    refused: Option<Refused>,
}

impl Found {
    /// More losses than anybody reads are counted by the Observer only.
    const MAX_LOST: usize = 64;

    fn take(&mut self, file: &Path, one: Replayed, clock: &mut Clock, told: &mut dyn FnMut(Observation)) {
        match one {
            Replayed::Observation(observation) => {
                clock.wait_for(observation.at);
                told(observation);
            }
            Replayed::Lost(lost) if self.lost.len() < Self::MAX_LOST => self.lost.push((file.to_owned(), lost)),
            Replayed::Lost(_) => {}
            Replayed::Refused(refused) => self.refused = Some(refused),
        }
    }
}

/// Keeps the pace.
struct Clock {
    pace: Pace,
    begun: Option<(Instant, Timestamp)>,
}

impl Clock {
    fn wait_for(&mut self, at: Timestamp) {
        let Pace::Times(factor) = self.pace else { return };
        let (begun, first) = *self.begun.get_or_insert_with(|| (Instant::now(), at));
        let due = Duration::try_from_secs_f64(at.since(first).as_secs_f64() / factor).unwrap_or(Duration::MAX);
        std::thread::sleep(due.saturating_sub(begun.elapsed()));
    }
}

fn head(file: &Path) -> Result<Option<FileHead>, ReadError> {
    let mut bytes = Vec::new();
    open(file)?.take(HEAD).read_to_end(&mut bytes).map_err(|error| ReadError::Io { file: file.to_owned(), error })?;
    let mut found = None;
    let mut take = |record| match record {
        Record::Head(head) => found = Some(Ok(head)),
        Record::Refused(refused) => found = Some(Err(refused)),
        Record::Standing(_) | Record::Observation(_) | Record::Lost(_) | Record::End(_) => {}
    };
    let mut reader = Reader::default();
    reader.bytes(&bytes, &mut take);
    reader.finish(&mut take);
    found.transpose().map_err(|refused| ReadError::Refused { file: file.to_owned(), refused })
}

fn open(file: &Path) -> Result<File, ReadError> {
    File::open(file).map_err(|error| ReadError::Io { file: file.to_owned(), error })
}
