//! Reads a stream of watch events.

use super::outline::{Outline, is_full, note_identity};
use super::reader::Reader;
use super::value_path::{Field, ValuePath};
use crate::wire::syntax::{AfterGap, Ending, Instead, Next, Progress, Receiver, Root, Syntax};
use crate::wire::{EventType, Fact, ObjectRef, WatchFrame};

/// Reads watch events, one after another.
#[derive(Debug)]
pub(in crate::wire) struct WatchReader<S> {
    syntax: S,
    event: Event,
    is_silent: bool,
    /// Bytes read or missed.
    position: u64,
    /// Offset of the current frame.
    frame_start: u64,
}

/// The known parts of the current event.
#[derive(Debug, Default)]
struct Event {
    /// `type`, once it is read.
    happened: Option<EventType>,
    outline: Outline,
    /// The object of the first row; `None` before any row.
    row: Option<ObjectRef>,
}

impl<S: Syntax> WatchReader<S> {
    /// A reader of events that contain their own end, or of [`Root::Messages`].
    pub(in crate::wire) fn new(root: Root) -> Self {
        Self { syntax: S::new(root), event: Event::default(), is_silent: false, position: 0, frame_start: 0 }
    }

    /// Reads up to the end of an event; returns the number of bytes read.
    fn read(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) -> usize {
        let progress = self.syntax.push(bytes, &mut self.event);
        self.follow(progress, bytes.len(), sink)
    }

    /// Applies the result of the syntax for `length` bytes; returns how many of them were read.
    fn follow(&mut self, progress: Progress, length: usize, sink: &mut dyn FnMut(Fact)) -> usize {
        let read = match progress {
            Progress::Pending => length,
            Progress::Complete(offset) | Progress::Resumed { offset, .. } | Progress::Malformed(offset, _) => offset,
        };
        self.position = self.position.saturating_add(read as u64);
        match progress {
            Progress::Pending => {}
            Progress::Complete(_) => self.emit(sink),
            Progress::Resumed { begun, .. } => self.frame_start = self.position.saturating_sub(begun),
            Progress::Malformed(_, what) => self.malformed(what, sink),
        }
        read
    }

    /// Emits the event that ends here.
    fn emit(&mut self, sink: &mut dyn FnMut(Fact)) {
        let frame = std::mem::take(&mut self.event).into_frame(self.position - self.frame_start);
        self.frame_start = self.position;
        sink(Fact::Frame(frame));
    }
}

impl<S: Syntax> Reader for WatchReader<S> {
    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) {
        let mut rest = bytes;
        while !rest.is_empty() && !self.is_silent {
            let read = self.read(rest, sink);
            rest = rest.get(read..).unwrap_or_default();
        }
    }

    fn gap(&mut self, length: u64) {
        self.position = self.position.saturating_add(length);
        match self.syntax.gap(length) {
            AfterGap::Reading | AfterGap::Without(_) => {}
            AfterGap::Lost => self.event = Event::default(),
            AfterGap::Blind => self.is_silent = true,
        }
    }

    fn end_message(&mut self, sink: &mut dyn FnMut(Fact)) {
        if !self.is_silent {
            let progress = self.syntax.end_message(&mut self.event);
            self.follow(progress, 0, sink);
        }
    }

    fn finish(&mut self, sink: &mut dyn FnMut(Fact)) {
        if !self.is_silent {
            match self.syntax.finish(&mut self.event) {
                Ending::Between => {}
                Ending::Inside => self.malformed("ends in the middle of a watch event", sink),
                Ending::Complete => self.emit(sink),
            }
        }
        self.is_silent = true;
    }

    fn malformed(&mut self, what: &'static str, sink: &mut dyn FnMut(Fact)) {
        self.is_silent = true;
        sink(Fact::Malformed { at: self.position, what });
    }

    fn silence(&mut self) {
        self.is_silent = true;
    }

    fn is_silent(&self) -> bool {
        self.is_silent
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

    /// The object of the event. The object of a Table is in its row; without one (`includeObject=None`), the Table's own resource
    /// version is that of the object. An object with a complete identity of its own is not a Table, whatever its kind: a Table has
    /// a list's metadata. This holds for any order of members, since nothing is read after a complete identity.
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
    fn enter(&mut self, place: ValuePath) -> Next {
        match place {
            ValuePath::Items => Next::SkipToEndOf(place),
            ValuePath::Annotations | ValuePath::RowAnnotations if self.is_known_not_to_be(EventType::Bookmark) => {
                Next::SkipToEndOf(place)
            }
            ValuePath::Row if self.row.is_some() => Next::SkipToEndOf(ValuePath::Rows),
            ValuePath::Row => {
                self.row = Some(ObjectRef::default());
                Next::Read
            }
            ValuePath::Cause if !self.outline.begin_cause() => Next::SkipToEndOf(ValuePath::Causes),
            ValuePath::Event
            | ValuePath::Object
            | ValuePath::Metadata
            | ValuePath::Annotations
            | ValuePath::Item
            | ValuePath::ItemMetadata
            | ValuePath::Rows
            | ValuePath::RowObject
            | ValuePath::RowMetadata
            | ValuePath::RowAnnotations
            | ValuePath::Details
            | ValuePath::Causes
            | ValuePath::Cause => Next::Read,
        }
    }

    fn leave(&mut self, _place: ValuePath) -> Next {
        Next::Read
    }

    fn text(&mut self, place: ValuePath, field: Field, text: &str) -> Next {
        if field == Field::Type {
            self.happened = Some(EventType::of(text));
        } else if place == ValuePath::RowMetadata {
            self.row.iter_mut().for_each(|row| note_identity(row, field, text));
        } else {
            self.outline.note_text(field, text);
            // Lists and Status have no name, so this is an object, and only its metadata is needed.
            let wants_no_more = self.is_known_not_to_be(EventType::Bookmark) && self.is_known_not_to_be(EventType::Error);
            if place == ValuePath::Metadata && wants_no_more && is_full(&self.outline.object) {
                return Next::SkipToEndOf(ValuePath::Object);
            }
        }
        Next::Read
    }

    fn number(&mut self, field: Field, number: i64) {
        self.outline.note_number(field, number);
    }

    fn misshapen(&mut self, place: ValuePath, _instead: Instead) {
        if place == ValuePath::Row {
            self.row.get_or_insert_default();
        }
    }
}
