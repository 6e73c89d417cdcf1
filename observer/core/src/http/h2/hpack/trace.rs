//! The representations of a header block: the parts that each contains, and the parts that each leaves unknown.

use super::{FieldLine, Name, Value};

/// Maximum number of representations kept of a block; the unknown parts of a longer block are not recovered.
const MAX_LINES: usize = 256;

/// The representations of one header block, in their order.
#[derive(Debug)]
pub(in crate::http::h2) struct Trace {
    lines: Vec<Traced>,
    /// Whether the trace has all representations of the block.
    is_complete: bool,
    /// The dynamic table entry from which the current literal takes its name.
    name_from: Option<u64>,
}

/// A representation, as far as it can be read without entries that were never seen.
#[derive(Debug)]
pub(super) struct Traced {
    line: FieldLine,
    /// The table entry that it refers to.
    pub(super) field_from: Option<u64>,
    /// The table entry from which it takes its name.
    pub(super) name_from: Option<u64>,
    /// The table entry that it adds.
    pub(super) makes: Option<u64>,
}

impl Trace {
    pub(super) const fn new(is_complete: bool) -> Self {
        Self { lines: Vec::new(), is_complete, name_from: None }
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

    /// Number of representations of the block; `None` if not all are known.
    pub(in crate::http::h2) fn length(&self) -> Option<usize> {
        self.is_complete.then_some(self.lines.len())
    }

    /// Whether the block may carry these fields: none contradicts the representation at its place.
    pub(in crate::http::h2) fn agrees_with<'f>(&self, fields: impl ExactSizeIterator<Item = &'f FieldLine>) -> bool {
        self.length() == Some(fields.len()) && self.lines.iter().zip(fields).all(|(traced, field)| agrees(&traced.line, field))
    }

    fn add(&mut self, traced: Traced) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(traced);
        } else {
            self.is_complete = false;
        }
    }
}

impl Traced {
    /// Whether its name or the length of its value is unknown.
    pub(super) fn is_open(&self) -> bool {
        self.line.name == Name::Unknown || self.line.value_length.is_none()
    }
}

fn agrees(line: &FieldLine, field: &FieldLine) -> bool {
    let has_name = line.name != Name::Unknown;
    let name = !has_name || (line.name == field.name && line.name_length == field.name_length);
    let length = line.value_length.is_none() || line.value_length == field.value_length;
    // The value of an unknown name was not kept, and a value that was never seen is missing.
    let value = !has_name || line.value_length.is_none() || line.value == field.value;
    name && length && value
}

/// The name of `field`, for an entry with the same name but another value.
pub(super) fn name_of(field: &FieldLine) -> FieldLine {
    FieldLine { name: field.name, name_length: field.name_length, value: Value::Unknown, value_length: None }
}
