//! Reads one document: a list, a single object or a `Status`.
//!
//! Its type may become clear only at its end, as members may come in any order. A document with `items` or `rows` is a list. Its
//! `kind` decides only if neither is present, since a custom resource may also be named `…List`.

use super::outline::{Outline, is_full, note_identity};
use super::reader::Reader;
use super::value_path::{Field, ValuePath};
use crate::wire::syntax::{AfterGap, Ending, Instead, Next, Progress, Receiver, Root, Syntax};
use crate::wire::{Fact, ObjectRef};

/// Reads one document.
#[derive(Debug)]
pub(in crate::wire) struct DocumentReader<S> {
    syntax: S,
    found: Found,
    state: State,
    /// Bytes read or missed.
    position: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Reading,
    /// Only bytes without meaning may follow.
    Complete,
    /// No further facts are emitted.
    Silent,
}

#[derive(Debug, Default)]
struct Found {
    outline: Outline,
    item: ObjectRef,
    is_list: bool,
    metadata: Metadata,
    kind_emitted: bool,
}

/// State of the document's `metadata`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Metadata {
    #[default]
    Absent,
    Complete,
    Emitted,
    /// Some of it was not seen. It may come in parts, with later ones adding to earlier ones, so the result is unknown.
    Lost,
}

impl Metadata {
    fn complete(&mut self) {
        if *self == Self::Absent {
            *self = Self::Complete;
        }
    }

    fn lose(&mut self) {
        if *self != Self::Emitted {
            *self = Self::Lost;
        }
    }
}

impl<S: Syntax> DocumentReader<S> {
    pub(in crate::wire) fn new() -> Self {
        Self { syntax: S::new(Root::Document), found: Found::default(), state: State::Reading, position: 0 }
    }

    /// Reads up to the end of the document; returns the bytes after it.
    fn read<'a>(&mut self, bytes: &'a [u8], sink: &mut dyn FnMut(Fact)) -> &'a [u8] {
        let progress = self.syntax.push(bytes, &mut Emitter { found: &mut self.found, sink });
        let read = match progress {
            Progress::Pending => bytes.len(),
            Progress::Complete(offset) | Progress::Resumed { offset, .. } | Progress::Malformed(offset, _) => offset,
        };
        self.advance(read as u64);
        match progress {
            Progress::Pending | Progress::Resumed { .. } => {}
            Progress::Complete(_) => self.state = State::Complete,
            Progress::Malformed(_, what) => self.malformed(what, sink),
        }
        bytes.get(read..).unwrap_or_default()
    }

    fn advance(&mut self, bytes: u64) {
        self.position = self.position.saturating_add(bytes);
    }
}

impl<S: Syntax> Reader for DocumentReader<S> {
    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact)) {
        let rest = if self.state == State::Reading { self.read(bytes, sink) } else { bytes };
        if self.state == State::Complete {
            let meaningless = S::meaningless(rest);
            self.advance(meaningless as u64);
            if meaningless < rest.len() {
                self.malformed("bytes after the document", sink);
            }
        }
    }

    fn gap(&mut self, length: u64) {
        self.advance(length);
        if self.state != State::Reading {
            self.state = State::Silent;
            return;
        }
        match self.syntax.gap(length) {
            AfterGap::Without(ValuePath::Metadata) => self.found.metadata.lose(),
            AfterGap::Reading | AfterGap::Without(_) => {}
            AfterGap::Lost | AfterGap::Blind => self.state = State::Silent,
        }
    }

    fn finish(&mut self, sink: &mut dyn FnMut(Fact)) {
        if self.state == State::Reading {
            match self.syntax.finish(&mut Emitter { found: &mut self.found, sink }) {
                Ending::Between => self.malformed("no document", sink),
                Ending::Inside => self.malformed("ends in the middle of a document", sink),
                Ending::Complete => {}
            }
        }
        self.state = State::Silent;
    }

    fn malformed(&mut self, what: &'static str, sink: &mut dyn FnMut(Fact)) {
        self.state = State::Silent;
        sink(Fact::Malformed { at: self.position, what });
    }

    fn silence(&mut self) {
        self.state = State::Silent;
    }

    fn is_silent(&self) -> bool {
        self.state == State::Silent
    }
}

/// Emits each fact as soon as it is certain.
struct Emitter<'a> {
    found: &'a mut Found,
    sink: &'a mut dyn FnMut(Fact),
}

impl Receiver for Emitter<'_> {
    fn enter(&mut self, place: ValuePath) -> Next {
        match place {
            ValuePath::Items | ValuePath::Rows => self.note_list(),
            ValuePath::Item | ValuePath::Row => self.found.item = ObjectRef::default(),
            ValuePath::Annotations | ValuePath::RowAnnotations => return Next::SkipToEndOf(place),
            ValuePath::Cause if !self.found.outline.begin_cause() => return Next::SkipToEndOf(ValuePath::Causes),
            ValuePath::Event
            | ValuePath::Object
            | ValuePath::Metadata
            | ValuePath::ItemMetadata
            | ValuePath::RowObject
            | ValuePath::RowMetadata
            | ValuePath::Details
            | ValuePath::Causes
            | ValuePath::Cause => {}
        }
        Next::Read
    }

    fn leave(&mut self, place: ValuePath) -> Next {
        match place {
            ValuePath::ItemMetadata => return Next::SkipToEndOf(ValuePath::Item),
            ValuePath::RowObject => return Next::SkipToEndOf(ValuePath::Row),
            ValuePath::Item | ValuePath::Row => (self.sink)(Fact::Item(std::mem::take(&mut self.found.item))),
            ValuePath::Metadata => {
                self.found.metadata.complete();
                self.emit_list_meta();
            }
            ValuePath::Object => self.emit_all(),
            ValuePath::Event
            | ValuePath::Annotations
            | ValuePath::Items
            | ValuePath::Rows
            | ValuePath::RowMetadata
            | ValuePath::RowAnnotations
            | ValuePath::Details
            | ValuePath::Causes
            | ValuePath::Cause => {}
        }
        Next::Read
    }

    fn text(&mut self, place: ValuePath, field: Field, text: &str) -> Next {
        let element = match place {
            ValuePath::ItemMetadata => ValuePath::Item,
            ValuePath::RowMetadata => ValuePath::Row,
            ValuePath::Event
            | ValuePath::Object
            | ValuePath::Metadata
            | ValuePath::Annotations
            | ValuePath::Items
            | ValuePath::Item
            | ValuePath::Rows
            | ValuePath::Row
            | ValuePath::RowObject
            | ValuePath::RowAnnotations
            | ValuePath::Details
            | ValuePath::Causes
            | ValuePath::Cause => {
                self.found.outline.note_text(field, text);
                self.emit_kind_once_known();
                return Next::Read;
            }
        };
        note_identity(&mut self.found.item, field, text);
        if is_full(&self.found.item) { Next::SkipToEndOf(element) } else { Next::Read }
    }

    fn number(&mut self, field: Field, number: i64) {
        self.found.outline.note_number(field, number);
    }

    fn misshapen(&mut self, place: ValuePath, instead: Instead) {
        match (place, instead) {
            (ValuePath::Items | ValuePath::Rows, Instead::Null) => self.note_list(),
            (ValuePath::Item | ValuePath::Row, _) => (self.sink)(Fact::Item(ObjectRef::default())),
            _ => {}
        }
    }
}

impl Emitter<'_> {
    fn note_list(&mut self) {
        self.found.is_list = true;
        self.emit_list_meta();
    }

    fn emit_list_meta(&mut self) {
        if self.found.is_list && self.found.metadata == Metadata::Complete {
            self.found.metadata = Metadata::Emitted;
            (self.sink)(Fact::ListMeta(self.found.outline.list_meta()));
        }
    }

    fn emit_kind_once_known(&mut self) {
        let outline = &self.found.outline;
        if outline.kind.is_some() && outline.api_version.is_some() {
            self.emit_kind();
        }
    }

    fn emit_kind(&mut self) {
        if !std::mem::replace(&mut self.found.kind_emitted, true) {
            let outline = &self.found.outline;
            (self.sink)(Fact::Kind { kind: outline.kind().to_owned(), api_version: outline.api_version().to_owned() });
        }
    }

    /// Emits the facts that are certain only at the end of the document.
    fn emit_all(&mut self) {
        self.emit_kind();
        let outline = &mut self.found.outline;
        if outline.is_status() {
            (self.sink)(Fact::Status(Box::new(outline.take_status())));
        } else if self.found.metadata == Metadata::Complete {
            if outline.is_list_by_name() && outline.object.name.is_empty() && outline.object.uid.is_empty() {
                self.note_list();
            } else {
                (self.sink)(Fact::Object(std::mem::take(&mut outline.object)));
            }
        }
        (self.sink)(Fact::Complete);
    }
}
