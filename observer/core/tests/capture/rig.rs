//! Writes captures, reads them, and observes their content.

use observer_core::capture::{FileEnd, Lost, Refused, Replay, Replayed, Writer};
use observer_core::observation::{CaptureObservation, Observation, Subject};
use observer_core::observer::{Event, Limits, Observer, Snapshot};
use observer_core::time::Timestamp;

/// The events and the final snapshot of an Observer that is given these observations.
pub(crate) fn observed(observations: &[Observation]) -> (Vec<Event>, Snapshot) {
    let mut observer = Observer::new(Limits::default());
    let mut events = Vec::new();
    for observation in observations {
        observer.observe(observation.clone(), &mut |event| events.push(event));
    }
    let snapshot = observer.snapshot();
    (events, snapshot)
}

/// One file with all observations, in blocks of `block` observations.
pub(crate) fn file(observations: &[Observation], block: usize) -> Vec<u8> {
    let mut writer = Writer::new(Timestamp::from_nanos(7));
    let mut file = Vec::new();
    writer.begin_file(&mut file);
    for some in observations.chunks(block.max(1)) {
        for one in some {
            writer.record(one, &mut file);
        }
        writer.flush(&mut file);
    }
    writer.end_file(FileEnd::Complete, &mut file);
    file
}

/// The parts of one capture, with `each` observations per file.
pub(crate) fn files(observations: &[Observation], each: usize) -> Vec<Vec<u8>> {
    let mut writer = Writer::new(Timestamp::from_nanos(7));
    let mut files = Vec::new();
    let mut parts = observations.chunks(each.max(1)).peekable();
    while let Some(part) = parts.next() {
        let mut file = Vec::new();
        writer.begin_file(&mut file);
        for one in part {
            writer.record(one, &mut file);
        }
        writer.end_file(if parts.peek().is_some() { FileEnd::Continues } else { FileEnd::Complete }, &mut file);
        files.push(file);
    }
    files
}

/// Everything that reading captures returned.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) observations: Vec<Observation>,
    pub(crate) lost: Vec<Lost>,
    pub(crate) refused: Vec<Refused>,
}

impl Read {
    /// Reads `files` in pieces whose sizes cycle through `sizes`.
    pub(crate) fn of(files: &[impl AsRef<[u8]>], sizes: &[usize]) -> Self {
        let mut read = Self::default();
        let mut replay = Replay::default();
        let mut sizes = sizes.iter().copied().cycle();
        for file in files {
            let mut rest = file.as_ref();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(sizes.next().unwrap().clamp(1, rest.len()));
                replay.bytes(piece, &mut |one| read.take(one));
                rest = after;
            }
            replay.end_file(&mut |one| read.take(one));
        }
        replay.finish(&mut |one| read.take(one));
        read
    }

    /// Reads one file as a single piece.
    pub(crate) fn complete(file: &[u8]) -> Self {
        Self::of(&[file], &[usize::MAX])
    }

    /// The observations, without the `Unrecorded` ones that reading adds.
    pub(crate) fn recorded(&self) -> Vec<Observation> {
        let is_recorded = |one: &&Observation| !matches!(one.subject, Subject::Capture(CaptureObservation::Unrecorded { .. }));
        self.observations.iter().filter(is_recorded).cloned().collect()
    }

    /// The number of unrecorded spans in the snapshot that these observations give.
    pub(crate) fn unrecorded(&self) -> u64 {
        observed(&self.observations).1.missed.unrecorded
    }

    fn take(&mut self, one: Replayed) {
        match one {
            Replayed::Observation(observation) => self.observations.push(observation),
            Replayed::Lost(lost) => self.lost.push(lost),
            Replayed::Refused(refused) => self.refused.push(refused),
        }
    }
}
