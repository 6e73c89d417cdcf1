//! Writing captures, reading them, and what both end in.

use observer_core::capture::{FileEnd, Lost, Refused, Replay, Replayed, Writer};
use observer_core::observation::{Observation, What};
use observer_core::observer::{Event, Limits, Observer, Snapshot};
use observer_core::time::Timestamp;

/// Where an Observer ends that takes these.
pub(crate) fn observed(observations: &[Observation]) -> (Vec<Event>, Snapshot) {
    let mut observer = Observer::new(Limits::default());
    let mut events = Vec::new();
    for observation in observations {
        observer.observe(observation.clone(), &mut |event| events.push(event));
    }
    let snapshot = observer.snapshot();
    (events, snapshot)
}

/// One file that holds all of them, with a block after every `block`th.
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

/// Files of `each` observations.
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

/// What reading gave.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) observations: Vec<Observation>,
    pub(crate) lost: Vec<Lost>,
    pub(crate) refused: Vec<Refused>,
}

impl Read {
    /// Of files in pieces of `sizes`, used in turn.
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

    /// Of one file, at once.
    pub(crate) fn whole(file: &[u8]) -> Self {
        Self::of(&[file], &[usize::MAX])
    }

    /// Those that were recorded.
    pub(crate) fn recorded(&self) -> Vec<Observation> {
        let is_recorded = |one: &&Observation| !matches!(one.what, What::Unrecorded { .. });
        self.observations.iter().filter(is_recorded).cloned().collect()
    }

    /// How many spans the report of this reading names.
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
