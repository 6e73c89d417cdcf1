//! A stream of watch events.

use super::outline::{Outline, is_full, note_identity};
use super::parser::{Instead, Next, Parser, Progress, Receiver};
use super::place::{Field, Place};
use super::resync::Resync;
use crate::wire::{EventType, Fact, ObjectRef, WatchFrame};

/// Reads watch events, one JSON object after another.
#[derive(Debug)]
pub(in crate::wire) struct WatchReader {
    parser: Parser,
    event: Event,
    state: State,
    /// Bytes read or missed.
    position: u64,
    /// Where the frame that is being read begins.
    frame_start: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// After a gap: looking for the beginning of an event.
    Lost(Resync),
    /// Nothing more is said.
    Silent,
}

/// What is known of the event that is being read.
#[derive(Debug, Default)]
struct Event {
    /// `type`, once it is known.
    happened: Option<EventType>,
    outline: Outline,
    /// The object of the first row, if there is one.
    row: Option<ObjectRef>,
}

impl WatchReader {
    pub(in crate::wire) fn new() -> Self {
        Self { parser: Parser::new(Place::Event), event: Event::default(), state: State::Reading, position: 0, frame_start: 0 }
    }

    /// Whether nothing more will be said.
    pub(in crate::wire) fn is_silent(&self) -> bool {
        self.state == State::Silent
    }

    pub(in crate::wire) fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let read = match self.state {
                State::Reading => self.read(rest, sink),
                State::Lost(resync) => self.look_for_event(resync, rest),
                State::Silent => return,
            };
            rest = rest.get(read..).unwrap_or_default();
        }
    }

    /// Forgets the event that is being read, and goes on with the next whose beginning can be proved.
    pub(in crate::wire) fn gap(&mut self, length: u64) {
        self.position = self.position.saturating_add(length);
        if self.state != State::Silent {
            self.state = State::Lost(Resync::default());
        }
    }

    pub(in crate::wire) fn finish(&mut self, sink: &mut dyn FnMut(Fact)) {
        if self.state == State::Reading && self.parser.is_inside() {
            self.malformed("ends in the middle of a watch event", sink);
        }
        self.state = State::Silent;
    }

    /// Falls silent with a reason.
    pub(in crate::wire) fn malformed(&mut self, what: &'static str, sink: &mut dyn FnMut(Fact)) {
        self.state = State::Silent;
        sink(Fact::Malformed { at: self.position, what });
    }

    /// Falls silent.
    pub(in crate::wire) fn silence(&mut self) {
        self.state = State::Silent;
    }

    /// Reads up to the end of an event; how much was read.
    fn read(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) -> usize {
        let progress = self.parser.push(bytes, &mut self.event);
        let (Progress::Complete(read) | Progress::Malformed(read, _)) = progress else {
            self.advance(bytes.len());
            return bytes.len();
        };
        self.advance(read);
        if let Progress::Malformed(_, what) = progress {
            self.malformed(what, sink);
        } else {
            let frame = std::mem::take(&mut self.event).into_frame(self.position - self.frame_start);
            self.frame_start = self.position;
            sink(Fact::Frame(frame));
        }
        read
    }

    /// Reads up to where an event has proved to begin; how much was read.
    fn look_for_event(&mut self, mut resync: Resync, bytes: &[u8]) -> usize {
        let found = resync.find(bytes);
        self.state = State::Lost(resync);
        let read = found.unwrap_or(bytes.len());
        self.advance(read);
        if found.is_some() {
            self.frame_start = self.position.saturating_sub(Resync::BEGINNING.len() as u64);
            self.event = Event::default();
            self.parser.restart();
            self.parser.push(Resync::BEGINNING, &mut self.event);
            self.state = State::Reading;
        }
        read
    }

    fn advance(&mut self, bytes: usize) {
        self.position = self.position.saturating_add(bytes as u64);
    }
}

impl Event {
    fn into_frame(mut self, bytes: u64) -> WatchFrame {
        let event_type = self.happened.unwrap_or(EventType::Unknown);
        let object = self.object();
        WatchFrame {
            event_type,
            object: match event_type {
                EventType::Added | EventType::Modified | EventType::Deleted | EventType::Unknown => object,
                EventType::Bookmark => ObjectRef { resource_version: object.resource_version, ..ObjectRef::default() },
                EventType::Error => ObjectRef::default(),
            },
            initial_events_end: event_type == EventType::Bookmark && self.outline.initial_events_end,
            status: (event_type == EventType::Error && self.outline.is_status()).then(|| Box::new(self.outline.take_status())),
            bytes,
        }
    }

    /// The object of the event. That of a Table is in its row; without one (`includeObject=None`) the Table's own resource
    /// version is that of the object. What has a whole identity of its own is no Table, whatever it says: a Table has a list's metadata. That
    /// holds in any order of the members, since nothing is read behind a whole identity.
    fn object(&mut self) -> ObjectRef {
        let object = std::mem::take(&mut self.outline.object);
        match self.row.take() {
            Some(row) if self.outline.is_table() && !is_full(&object) && row != ObjectRef::default() => row,
            Some(_) | None => object,
        }
    }

    fn is_known_not_to_be(&self, event_type: EventType) -> bool {
        self.happened.is_some_and(|known| known != event_type)
    }
}

impl Receiver for Event {
    fn enter(&mut self, place: Place) -> Next {
        match place {
            Place::Items => Next::SkipToEndOf(place),
            Place::Annotations | Place::RowAnnotations if self.is_known_not_to_be(EventType::Bookmark) => Next::SkipToEndOf(place),
            Place::Row if self.row.is_some() => Next::SkipToEndOf(Place::Rows),
            Place::Row => {
                self.row = Some(ObjectRef::default());
                Next::Read
            }
            Place::Cause if !self.outline.begin_cause() => Next::SkipToEndOf(Place::Causes),
            Place::Event
            | Place::Object
            | Place::Metadata
            | Place::Annotations
            | Place::Item
            | Place::ItemMetadata
            | Place::Rows
            | Place::RowObject
            | Place::RowMetadata
            | Place::RowAnnotations
            | Place::Details
            | Place::Causes
            | Place::Cause => Next::Read,
        }
    }

    fn leave(&mut self, _place: Place) -> Next {
        Next::Read
    }

    fn text(&mut self, place: Place, field: Field, text: &str) -> Next {
        if field == Field::Type {
            self.happened = Some(EventType::of(text));
        } else if place == Place::RowMetadata {
            self.row.iter_mut().for_each(|row| note_identity(row, field, text));
        } else {
            self.outline.note_text(field, text);
            // Lists and Status have no name, so this is an object, and its metadata is all that is wanted of it.
            let wants_no_more = self.is_known_not_to_be(EventType::Bookmark) && self.is_known_not_to_be(EventType::Error);
            if place == Place::Metadata && wants_no_more && is_full(&self.outline.object) {
                return Next::SkipToEndOf(Place::Object);
            }
        }
        Next::Read
    }

    fn number(&mut self, field: Field, number: i64) {
        self.outline.note_number(field, number);
    }

    fn misshapen(&mut self, place: Place, _instead: Instead) {
        if place == Place::Row {
            self.row.get_or_insert_default();
        }
    }
}
