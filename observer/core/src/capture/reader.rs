//! Reads the bytes of one file into observations.

use super::block::inflated;
use super::layout::{BLOCK_HEAD, Beginning, BlockHead, BlockKind, FileHead, SYNC};
use super::lines;
use super::lost::{Lost, LostReason, Refused};
use crate::observation::Observation;
use crate::redacted::Redacted;
use crate::time::Timestamp;

/// Maximum number of bytes taken per step. It bounds the buffer, whatever the caller passes.
const STEP: usize = 64 << 10;

/// How a file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileEnd {
    /// The capture ends with this file.
    Complete,
    /// The capture continues in the next part.
    Continues,
}

/// One record of a file, in file order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// The file's head; absent when it is damaged.
    Head(FileHead),
    /// A restated observation of an earlier part: what it describes is still open.
    Restated(Observation),
    /// An observation that this file recorded.
    Observation(Observation),
    /// A loss at this place.
    Lost(Lost),
    /// The file's end mark.
    End(FileEnd),
    /// The file is refused; no record follows.
    Refused(Refused),
}

/// Reads one file, given in any chunks. Unreadable bytes become [`Record::Lost`], and reading resumes at the next intact block.
///
/// Holds at most one block and its lines: a few megabytes, whatever lengths the bytes claim.
#[derive(Debug)]
pub struct Reader {
    state: State,
    buffer: Redacted<Vec<u8>>,
    /// Offset in the file of the buffer's first byte.
    offset: u64,
    /// Ordinal of the next observation; `None` after a damaged head.
    expected: Option<u64>,
    latest: Option<Timestamp>,
    skipped: Option<Skipped>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Blocks,
    Ended,
    Refused,
}

/// Bytes that were skipped.
#[derive(Clone, Copy, Debug)]
struct Skipped {
    offset: u64,
    bytes: u64,
    /// The latest time that an intact block head among them claims.
    until: Option<Timestamp>,
}

impl Default for Reader {
    fn default() -> Self {
        Self { state: State::Head, buffer: Redacted(Vec::new()), offset: 0, expected: None, latest: None, skipped: None }
    }
}

impl Reader {
    /// Takes the next bytes of the file.
    pub fn bytes(&mut self, bytes: &[u8], emit: &mut dyn FnMut(Record)) {
        for step in bytes.chunks(STEP) {
            self.buffer.0.extend(step);
            self.read(false, emit);
        }
    }

    /// Notes the end of the file. A file without its end mark is torn.
    pub fn finish(&mut self, emit: &mut dyn FnMut(Record)) {
        self.read(true, emit);
        match self.state {
            State::Blocks => {
                let skipped = self.skipped.take();
                emit(Record::Lost(Lost {
                    offset: skipped.map_or(self.offset, |skipped| skipped.offset),
                    bytes: skipped.map_or(0, |skipped| skipped.bytes),
                    observations: None,
                    from: self.latest,
                    until: skipped.and_then(|skipped| skipped.until),
                    reason: LostReason::Torn,
                }));
            }
            State::Ended => {
                if let Some(skipped) = self.skipped.take() {
                    emit(Record::Lost(self.lost(skipped, Some(0), None, LostReason::Trailing)));
                }
            }
            State::Head | State::Refused => {}
        }
    }

    /// Discards the rest of the file.
    pub(super) fn refuse(&mut self) {
        self.state = State::Refused;
        self.buffer.0 = Vec::new();
    }

    fn read(&mut self, at_end: bool, emit: &mut dyn FnMut(Record)) {
        let mut at = 0;
        loop {
            let rest = self.buffer.0.get(at..).unwrap_or_default();
            let step = match self.state {
                State::Head => head(rest, at_end),
                State::Blocks => block(rest, at_end),
                State::Ended => Step::Skip(rest.len(), None),
                State::Refused => Step::Drop(rest.len()),
            };
            let place = self.offset.saturating_add(at as u64);
            match step {
                Step::Wait | Step::Drop(0) | Step::Skip(0, _) => break,
                Step::Drop(length) => at += length,
                Step::Refuse(refused) => {
                    self.state = State::Refused;
                    emit(Record::Refused(refused));
                }
                Step::Head(head, length) => {
                    self.state = State::Blocks;
                    self.expected = Some(head.first);
                    at += length;
                    emit(Record::Head(head));
                }
                Step::Skip(length, until) => {
                    // Blocks follow a damaged head.
                    self.state = if self.state == State::Head { State::Blocks } else { self.state };
                    let skipped = self.skipped.get_or_insert(Skipped { offset: place, bytes: 0, until: None });
                    skipped.bytes = skipped.bytes.saturating_add(length as u64);
                    skipped.until = skipped.until.max(until);
                    at += length;
                }
                Step::Block(head, lines, length) => {
                    at += length;
                    self.block(&head, &lines, place, length as u64, emit);
                }
            }
        }
        self.buffer.0.drain(..at.min(self.buffer.0.len()));
        self.offset = self.offset.saturating_add(at as u64);
    }

    /// Takes an intact block.
    fn block(&mut self, head: &BlockHead, lines: &[u8], offset: u64, length: u64, emit: &mut dyn FnMut(Record)) {
        let skipped = self.skipped.take();
        if self.expected.is_some_and(|expected| expected > head.first) {
            // The block repeats earlier observations.
            let skipped = skipped.unwrap_or(Skipped { offset, bytes: 0, until: None });
            self.skipped = Some(Skipped { bytes: skipped.bytes.saturating_add(length), ..skipped });
            return;
        }
        let missing = match self.expected {
            Some(expected) => Some(head.first - expected),
            None => Some(0).filter(|_| head.first == 0),
        };
        if missing != Some(0) || skipped.is_some() {
            let reason = if skipped.is_some() { LostReason::Damaged } else { LostReason::Missing };
            let skipped = skipped.unwrap_or(Skipped { offset, bytes: 0, until: None });
            emit(Record::Lost(self.lost(skipped, missing, Some(head.from), reason)));
        }
        self.expected = Some(head.first);
        match head.kind {
            BlockKind::Restated => {
                self.each(head, lines, offset, Record::Restated, emit);
            }
            BlockKind::Observations => {
                self.expected = Some(head.first.saturating_add(u64::from(head.count)));
                // A block head stores the time of the run, but not by how much the wall clock was changed.
                let latest = self.each(head, lines, offset, Record::Observation, emit);
                self.latest = self.latest.max(latest.or(Some(head.until)));
            }
            BlockKind::Complete => self.end(FileEnd::Complete, emit),
            BlockKind::Continues => self.end(FileEnd::Continues, emit),
            BlockKind::Other(_later) => {}
        }
    }

    /// Passes on the observation of each line, and returns the latest time among them. Consecutive lines out of bounds are one
    /// loss, at the offset of their block.
    fn each(
        &self,
        head: &BlockHead,
        lines: &[u8],
        offset: u64,
        record: fn(Observation) -> Record,
        emit: &mut dyn FnMut(Record),
    ) -> Option<Timestamp> {
        let is_restated = head.kind == BlockKind::Restated;
        // An earlier part recorded restated observations too, so they need not be missing.
        let lost = |lines: u64, from, until| {
            let observations = Some(lines).filter(|_| !is_restated);
            Record::Lost(Lost { offset, bytes: 0, observations, from, until, reason: LostReason::OutOfBounds })
        };
        let mut out_of_bounds = 0;
        let mut latest = None;
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let Ok(observation) = lines::observation(line, head.from) else {
                out_of_bounds += 1;
                continue;
            };
            if out_of_bounds > 0 {
                emit(lost(std::mem::take(&mut out_of_bounds), self.latest.max(latest), Some(observation.at)));
            }
            latest = latest.max(Some(observation.at));
            emit(record(observation));
        }
        if out_of_bounds > 0 {
            emit(lost(out_of_bounds, self.latest.max(latest), Some(head.until)));
        }
        latest
    }

    fn end(&mut self, end: FileEnd, emit: &mut dyn FnMut(Record)) {
        self.state = State::Ended;
        emit(Record::End(end));
    }

    fn lost(&self, skipped: Skipped, observations: Option<u64>, until: Option<Timestamp>, reason: LostReason) -> Lost {
        let Skipped { offset, bytes, .. } = skipped;
        Lost { offset, bytes, observations, from: self.latest, until, reason }
    }
}

/// How to treat the next bytes.
enum Step {
    /// Too few bytes to decide: wait for more.
    Wait,
    /// Discard this many bytes.
    Drop(usize),
    /// Count this many bytes as unreadable, with the latest time that they claim.
    Skip(usize, Option<Timestamp>),
    Refuse(Refused),
    Head(FileHead, usize),
    Block(BlockHead, Vec<u8>, usize),
}

/// Reads the beginning of a file.
fn head(rest: &[u8], at_end: bool) -> Step {
    match FileHead::read(rest) {
        Beginning::Head(head, length) => Step::Head(head, length),
        Beginning::Newer(version) => Step::Refuse(Refused::Newer { version }),
        Beginning::Foreign => Step::Refuse(Refused::NotACapture),
        Beginning::Incomplete if !at_end => Step::Wait,
        Beginning::Incomplete if rest.is_empty() => Step::Refuse(Refused::Empty),
        // The head is damaged, or the file ends within it.
        Beginning::Damaged | Beginning::Incomplete => Step::Skip(1, None),
    }
}

/// Reads a block at the beginning of `rest`, or returns the distance to the next possible one.
fn block(rest: &[u8], at_end: bool) -> Step {
    let claimed = BlockHead::read(rest);
    let Some(head) = claimed else {
        let may_be_one = SYNC.starts_with(rest) || (rest.starts_with(&SYNC) && rest.len() < BLOCK_HEAD);
        return if may_be_one && !at_end { Step::Wait } else { Step::Skip(to_next(rest, at_end), None) };
    };
    let length = BLOCK_HEAD + head.packed;
    match rest.get(BLOCK_HEAD..length) {
        None if !at_end => Step::Wait,
        None => Step::Skip(to_next(rest, at_end), Some(head.until)),
        Some(packed) => match inflated(&head, packed) {
            Some(lines) => Step::Block(head, lines, length),
            // The head is intact, so its length is trusted. A search for other blocks within could take long.
            None => Step::Skip(length, Some(head.until)),
        },
    }
}

/// Number of bytes to skip to the next `SYNC`: at least one, unless `rest` is empty.
fn to_next(rest: &[u8], at_end: bool) -> usize {
    let after = rest.get(1..).unwrap_or_default();
    let next = memchr::memmem::find(after, &SYNC);
    // Later bytes may complete a `SYNC` that begins at the end of `rest`.
    let held_back = if at_end { 0 } else { SYNC.len() - 1 };
    next.unwrap_or(after.len().saturating_sub(held_back)) + usize::from(!rest.is_empty())
}
