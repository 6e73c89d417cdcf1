//! What each representation of a header block said and left open.

use super::{FieldLine, Name, Value};

/// Most representations of a block that are kept: above that it is not explained.
const MAX_LINES: usize = 256;

/// The representations of one header block, in their order.
#[derive(Debug)]
pub(in crate::http::h2) struct Trace {
    lines: Vec<Traced>,
    /// Whether all of the block are there.
    is_whole: bool,
    /// The entry of the dynamic table that the literal under way has its name from.
    name_from: Option<u64>,
}

/// A representation as far as it says itself what it is.
#[derive(Debug)]
pub(super) struct Traced {
    line: FieldLine,
    /// The entry that it is.
    pub(super) field_from: Option<u64>,
    /// The entry that it has its name from.
    pub(super) name_from: Option<u64>,
    /// The entry that it makes.
    pub(super) makes: Option<u64>,
}

impl Trace {
    pub(super) const fn new(is_whole: bool) -> Self {
        Self { lines: Vec::new(), is_whole, name_from: None }
    }

    pub(super) const fn begin_literal(&mut self, name_from: Option<u64>) {
        self.name_from = name_from;
    }

    pub(super) fn indexed(&mut self, line: FieldLine, field_from: Option<u64>) {
        self.add(Traced { line, field_from, name_from: None, makes: None });
    }

    pub(super) fn literal(&mut self, line: FieldLine, makes: Option<u64>) {
        let name_from = self.name_from.take();
        self.add(Traced { line, field_from: None, name_from, makes });
    }

    pub(super) fn lines(&self) -> &[Traced] {
        &self.lines
    }

    /// How many representations the block has; nothing where not all are known.
    pub(in crate::http::h2) fn length(&self) -> Option<usize> {
        self.is_whole.then_some(self.lines.len())
    }

    /// Whether the block may be of these fields: each says nothing else than the representation at its place.
    pub(in crate::http::h2) fn agrees_with<'f>(&self, fields: impl ExactSizeIterator<Item = &'f FieldLine>) -> bool {
        self.length() == Some(fields.len()) && self.lines.iter().zip(fields).all(|(traced, field)| agrees(&traced.line, field))
    }

    fn add(&mut self, traced: Traced) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(traced);
        } else {
            self.is_whole = false;
        }
    }
}

impl Traced {
    /// Whether it leaves anything open.
    pub(super) fn is_open(&self) -> bool {
        self.line.name == Name::Unknown || self.line.value_length.is_none()
    }
}

fn agrees(line: &FieldLine, field: &FieldLine) -> bool {
    let has_name = line.name != Name::Unknown;
    let name = !has_name || (line.name == field.name && line.name_length == field.name_length);
    let length = line.value_length.is_none() || line.value_length == field.value_length;
    // The value behind an unknown name was not kept, and of one that was never seen there is none.
    let value = !has_name || line.value_length.is_none() || line.value == field.value;
    name && length && value
}

/// The name of a field alone, where its value is another one.
pub(super) fn name_of(field: &FieldLine) -> FieldLine {
    FieldLine { name: field.name, name_length: field.name_length, value: Value::Unknown, value_length: None }
}
