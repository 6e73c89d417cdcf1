//! Joins the files of a capture into the sequence of observations that the Observer received.

use super::layout::FileHead;
use super::lost::{Lost, LostReason, Refused};
use super::reader::{FileEnd, Reader, Record};
use crate::observation::{CaptureObservation, Observation, Subject};
use crate::time::Timestamp;

/// Output of a replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replayed {
    /// The next observation. [`CaptureObservation::Unrecorded`] stands in for missing ones.
    Observation(Observation),
    /// A loss, with its place in the file. [`CaptureObservation::Unrecorded`] follows if observations may be missing.
    Lost(Lost),
    /// The rest of the current file is not read.
    Refused(Refused),
}

/// Joins the parts of one capture, given in order.
///
/// If the previous part was read to its end, restated observations are left out. The observations are then exactly the recorded
/// ones, and an Observer that receives them ends in the same state as the original. A part given alone begins with a loss for the
/// parts before it, and with the restated observations.
#[derive(Debug, Default)]
pub struct Replay {
    reader: Reader,
    present: Option<FileHead>,
    /// Ordinal of the next observation.
    expected: u64,
    latest: Option<Timestamp>,
    joined: bool,
    last_end: Option<FileEnd>,
    offset: u64,
}

impl Replay {
    /// Takes the next bytes of the current file. After [`Self::end_file`], the next file is current.
    pub fn bytes(&mut self, bytes: &[u8], emit: &mut dyn FnMut(Replayed)) {
        self.feed(emit, |reader, sink| reader.bytes(bytes, sink));
        self.offset = self.offset.saturating_add(bytes.len() as u64);
    }

    /// Notes the end of the current file.
    pub fn end_file(&mut self, emit: &mut dyn FnMut(Replayed)) {
        self.feed(emit, |reader, sink| reader.finish(sink));
        self.reader = Reader::default();
    }

    /// Notes that there are no further files.
    pub fn finish(&mut self, emit: &mut dyn FnMut(Replayed)) {
        if self.last_end == Some(FileEnd::Continues) {
            let lost = Lost {
                offset: self.offset,
                bytes: 0,
                observations: None,
                from: self.latest,
                until: None,
                reason: LostReason::NoLaterPart,
            };
            self.lose(lost, emit);
        }
    }

    fn feed(&mut self, emit: &mut dyn FnMut(Replayed), feed: impl FnOnce(&mut Reader, &mut dyn FnMut(Record))) {
        let mut reader = std::mem::take(&mut self.reader);
        let mut refused = false;
        feed(&mut reader, &mut |record| {
            if !refused {
                refused = self.take(record, emit).is_err();
            }
        });
        if refused {
            reader.refuse();
        }
        self.reader = reader;
    }

    fn take(&mut self, record: Record, emit: &mut dyn FnMut(Replayed)) -> Result<(), Refused> {
        match record {
            Record::Head(head) => return self.begin(head, emit).inspect_err(|refused| emit(Replayed::Refused(*refused))),
            Record::Restated(observation) if !self.joined => self.observe(observation, emit),
            Record::Restated(_said_before) => {}
            Record::Observation(observation) => {
                self.expected = self.expected.saturating_add(1);
                self.observe(observation, emit);
            }
            Record::Lost(lost) => {
                self.expected = self.expected.saturating_add(lost.observations.unwrap_or(0));
                self.lose(lost, emit);
            }
            Record::End(end) => self.last_end = Some(end),
            Record::Refused(refused) => {
                emit(Replayed::Refused(refused));
                return Err(refused);
            }
        }
        Ok(())
    }

    fn begin(&mut self, head: FileHead, emit: &mut dyn FnMut(Replayed)) -> Result<(), Refused> {
        if let Some(before) = self.present {
            if before.capture != head.capture {
                return Err(Refused::OtherCapture { capture: head.capture });
            }
            if before.part >= head.part {
                return Err(Refused::OutOfOrder { part: head.part });
            }
        }
        self.present = Some(head);
        self.offset = 0;
        self.joined = head.first == self.expected && (head.first == 0 || self.last_end == Some(FileEnd::Continues));
        self.last_end = None;
        if !self.joined {
            let missing = head.first.checked_sub(self.expected);
            let from = self.latest.or(Some(head.capture));
            let reason = LostReason::NoEarlierPart;
            self.expected = head.first;
            self.lose(Lost { offset: 0, bytes: 0, observations: missing, from, until: Some(head.at), reason }, emit);
        }
        Ok(())
    }

    fn observe(&mut self, observation: Observation, emit: &mut dyn FnMut(Replayed)) {
        self.latest = self.latest.max(Some(observation.at));
        emit(Replayed::Observation(observation));
    }

    /// The Observer learns of a loss only if observations may be missing.
    fn lose(&mut self, lost: Lost, emit: &mut dyn FnMut(Replayed)) {
        let Lost { observations, from, until, .. } = lost;
        let from = from.or(self.latest);
        let at = until.or(from).unwrap_or_default();
        emit(Replayed::Lost(lost));
        if observations != Some(0) {
            emit(Replayed::Observation(Observation {
                at,
                subject: Subject::Capture(CaptureObservation::Unrecorded { observations, from, until }),
            }));
        }
    }
}
