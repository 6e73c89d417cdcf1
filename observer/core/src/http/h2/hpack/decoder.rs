//! Decodes header blocks into field lines, in any chunking.

use super::field_line::MAX_NAME;
use super::huffman::Huffman;
use super::integer::{Integer, Progress};
use super::static_table;
use super::table::{Found, INITIAL_SIZE, Table};
use super::text::Text;
use super::trace::{Trace, name_of};
use super::{CompressionError, FieldLine, Name, Value};

/// The decoding context of one direction.
#[derive(Debug)]
pub struct Decoder {
    table: Table,
    /// The largest size that the encoder may choose for its table; `None` if it is unknown.
    size_limit: Option<u32>,
    state: State,
    place: BlockPosition,
    text: Text,
    /// The representations of the current block; kept once fields were announced, which may fill in unknown parts.
    trace: Option<Box<Trace>>,
}

/// Where in a header block the decoder is: a size update is allowed before the first field only (RFC 7541 §4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockPosition {
    BeforeFields,
    InFields,
}

/// The position of the next byte in a header block.
///
/// ```text
///  Representation ──┬─► Integer ──┬─ indexed field, size update ──────────────► Representation
///                   │             └─ name index ──► StringStart(Value)
///                   └─► StringStart(Name) ─► Integer ─► Octets ─► StringStart(Value) ─► Integer ─► Octets ─► Representation
/// ```
#[derive(Clone, Copy, Debug)]
enum State {
    /// The first byte of a representation (RFC 7541 §6).
    Representation,
    /// A further byte of an integer.
    Integer(Purpose, Integer),
    /// The first byte of a string literal (§5.2).
    StringStart(Role),
    /// One of `remaining` bytes of a string literal.
    Octets { role: Role, coding: Coding, remaining: u32 },
}

/// The use of an integer.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    IndexedField,
    SizeUpdate,
    NameIndex(Indexing),
    Length(Role, Coding),
}

/// Whether a literal goes into the dynamic table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Indexing {
    Incremental,
    /// Without indexing, and never indexed.
    None,
}

/// The use of a string literal.
#[derive(Clone, Copy, Debug)]
enum Role {
    Name(Indexing),
    Value { indexing: Indexing, name: Name, name_length: Option<u32> },
}

#[derive(Clone, Copy, Debug)]
enum Coding {
    Raw,
    Huffman(Huffman),
}

impl Decoder {
    /// A decoder for a direction that is seen from its beginning.
    pub fn from_beginning() -> Self {
        Self::with(Table::empty(), Some(INITIAL_SIZE))
    }

    /// A decoder for a direction that is seen from some later point.
    pub fn from_middle() -> Self {
        Self::with(Table::unknown(), None)
    }

    /// Sets the largest size that the encoder may choose: the other side's `SETTINGS_HEADER_TABLE_SIZE`.
    ///
    /// It has no effect on a decoder from the middle of a connection, where an earlier and larger setting cannot be ruled out.
    pub fn limit_size(&mut self, limit: u32) {
        self.size_limit = self.size_limit.map(|_before| limit);
    }

    /// Decodes the next fragment of a header block.
    ///
    /// # Errors
    ///
    /// When the block is malformed; the decoder must not be used after that.
    pub fn fragment(&mut self, fragment: &[u8], fields: &mut dyn FnMut(&FieldLine)) -> Result<(), CompressionError> {
        let mut rest = fragment;
        while let Some((first, after)) = rest.split_first() {
            match self.state {
                State::Representation => self.representation(*first, fields)?,
                State::Integer(purpose, integer) => self.integer(purpose, integer.push(*first)?, fields)?,
                State::StringStart(role) => self.string_start(role, *first, fields)?,
                State::Octets { role, coding, remaining } => {
                    let length = rest.len().min(usize::try_from(remaining).unwrap_or(usize::MAX));
                    let Some((octets, behind)) = rest.split_at_checked(length) else { return Ok(()) };
                    self.octets(role, coding, remaining, octets, fields)?;
                    rest = behind;
                    continue;
                }
            }
            rest = after;
        }
        Ok(())
    }

    /// Notes the end of a header block.
    ///
    /// # Errors
    ///
    /// When the block ends within a field.
    pub fn finish(&mut self) -> Result<(), CompressionError> {
        self.place = BlockPosition::BeforeFields;
        match self.state {
            State::Representation => Ok(()),
            State::Integer(..) | State::StringStart(_) | State::Octets { .. } => {
                Err(CompressionError("header block ends within a field"))
            }
        }
    }

    /// Notes that a part of a header block is lost: the next [`Self::fragment`] belongs to another block, and all current entries
    /// of the table are unknown.
    pub fn lose(&mut self) {
        self.table = Table::unknown();
        self.state = State::Representation;
        self.place = BlockPosition::BeforeFields;
        self.text.begin(0);
        if let Some(trace) = &mut self.trace {
            **trace = Trace::new(true);
        }
    }

    /// Keeps each representation from now on, for [`Self::take_trace`].
    pub(in crate::http::h2) fn trace(&mut self) {
        let is_between_blocks = self.place == BlockPosition::BeforeFields && matches!(self.state, State::Representation);
        self.trace.get_or_insert_with(|| Box::new(Trace::new(is_between_blocks)));
    }

    /// The representations of the block that has just ended; `None` unless [`Self::trace`] was called.
    pub(in crate::http::h2) fn take_trace(&mut self) -> Option<Box<Trace>> {
        self.trace.as_mut().map(|trace| std::mem::replace(trace, Box::new(Trace::new(true))))
    }

    /// Notes the fields of a traced block, so that later blocks can refer to the table entries that it left unknown.
    pub(in crate::http::h2) fn learn(&mut self, block: &Trace, fields: &[FieldLine]) {
        for (traced, field) in block.lines().iter().zip(fields).filter(|(traced, _)| traced.is_open()) {
            if let Some(entry) = traced.name_from {
                self.table.learn(entry, name_of(field));
            }
            for entry in [traced.field_from, traced.makes].into_iter().flatten() {
                self.table.learn(entry, field.clone());
            }
        }
    }

    #[cfg(test)]
    pub(super) fn table_size(&self) -> u64 {
        self.table.size()
    }

    fn with(table: Table, size_limit: Option<u32>) -> Self {
        let (state, place) = (State::Representation, BlockPosition::BeforeFields);
        Self { table, size_limit, state, place, text: Text::default(), trace: None }
    }

    /// RFC 7541 §6: the leading bits determine the representation.
    fn representation(&mut self, first: u8, fields: &mut dyn FnMut(&FieldLine)) -> Result<(), CompressionError> {
        let (purpose, prefix_bits) = match first {
            0x80.. => (Purpose::IndexedField, 7),
            0x40.. => (Purpose::NameIndex(Indexing::Incremental), 6),
            0x20.. => (Purpose::SizeUpdate, 5),
            _ => (Purpose::NameIndex(Indexing::None), 4),
        };
        self.integer(purpose, Integer::begin(first, prefix_bits), fields)
    }

    fn integer(
        &mut self,
        purpose: Purpose,
        progress: Progress,
        fields: &mut dyn FnMut(&FieldLine),
    ) -> Result<(), CompressionError> {
        let value = match progress {
            Progress::Done(value) => value,
            Progress::More(integer) => {
                self.state = State::Integer(purpose, integer);
                return Ok(());
            }
        };
        match purpose {
            Purpose::IndexedField => self.indexed_field(value, fields),
            Purpose::SizeUpdate => self.size_update(value),
            Purpose::NameIndex(indexing) => self.name_index(indexing, value),
            Purpose::Length(role, coding) => {
                self.text.begin(role.limit());
                self.octets(role, coding, value, &[], fields)
            }
        }
    }

    fn indexed_field(&mut self, index: u32, fields: &mut dyn FnMut(&FieldLine)) -> Result<(), CompressionError> {
        self.place = BlockPosition::InFields;
        self.state = State::Representation;
        let from_static = static_table::entry(index).map(FieldLine::from_static);
        let line = match (&from_static, dynamic(&self.table, index)) {
            (Some(line), _) | (None, Found::Line(line)) => line,
            (None, Found::Unknown) => &FieldLine::UNKNOWN,
            (None, Found::Nothing) => return Err(CompressionError("index without a table entry")),
        };
        fields(line);
        if let Some(trace) = &mut self.trace {
            trace.indexed(line.clone(), number(&self.table, index));
        }
        Ok(())
    }

    fn size_update(&mut self, size: u32) -> Result<(), CompressionError> {
        self.state = State::Representation;
        if self.place == BlockPosition::InFields {
            return Err(CompressionError("table size update after a field"));
        }
        if self.size_limit.is_some_and(|limit| size > limit) {
            return Err(CompressionError("table size above SETTINGS_HEADER_TABLE_SIZE"));
        }
        self.table.resize(size);
        Ok(())
    }

    fn name_index(&mut self, indexing: Indexing, index: u32) -> Result<(), CompressionError> {
        self.place = BlockPosition::InFields;
        if let Some(trace) = &mut self.trace {
            trace.begin_literal(number(&self.table, index));
        }
        let role = match (index, static_table::entry(index)) {
            (0, _) => Role::Name(indexing),
            (_, Some((name, _))) => {
                Role::Value { indexing, name: Name::read(name.as_bytes()), name_length: u32::try_from(name.len()).ok() }
            }
            (_, None) => match dynamic(&self.table, index) {
                Found::Line(line) => Role::Value { indexing, name: line.name, name_length: line.name_length },
                Found::Unknown => Role::Value { indexing, name: Name::Unknown, name_length: None },
                Found::Nothing => return Err(CompressionError("name index without a table entry")),
            },
        };
        self.state = State::StringStart(role);
        Ok(())
    }

    fn string_start(&mut self, role: Role, first: u8, fields: &mut dyn FnMut(&FieldLine)) -> Result<(), CompressionError> {
        let coding = if first & 0x80 == 0 { Coding::Raw } else { Coding::Huffman(Huffman::default()) };
        self.integer(Purpose::Length(role, coding), Integer::begin(first, 7), fields)
    }

    fn octets(
        &mut self,
        role: Role,
        coding: Coding,
        remaining: u32,
        octets: &[u8],
        fields: &mut dyn FnMut(&FieldLine),
    ) -> Result<(), CompressionError> {
        let coding = coding.decode(octets, &mut self.text)?;
        let remaining = remaining.saturating_sub(u32::try_from(octets.len()).unwrap_or(u32::MAX));
        if remaining > 0 {
            self.state = State::Octets { role, coding, remaining };
            return Ok(());
        }
        coding.finish()?;
        self.string_end(role, fields);
        Ok(())
    }

    fn string_end(&mut self, role: Role, fields: &mut dyn FnMut(&FieldLine)) {
        match role {
            Role::Name(indexing) => {
                let name = self.text.complete().map_or(Name::OffList, Name::read);
                self.state = State::StringStart(Role::Value { indexing, name, name_length: Some(self.text.length()) });
            }
            Role::Value { indexing, name, name_length } => {
                let value = Value::read(name, &self.text);
                let line = FieldLine { name, name_length, value, value_length: Some(self.text.length()) };
                self.text.begin(0);
                fields(&line);
                let traced = self.trace.is_some().then(|| line.clone());
                if indexing == Indexing::Incremental {
                    self.table.insert(line);
                }
                if let Some((trace, line)) = self.trace.as_mut().zip(traced) {
                    let is_new = indexing == Indexing::Incremental;
                    trace.literal(line, self.table.number(0).filter(|_| is_new));
                }
                self.state = State::Representation;
            }
        }
    }
}

/// The entry of the dynamic table that `index` refers to.
fn dynamic(table: &Table, index: u32) -> Found<'_> {
    position(index).map_or(Found::Nothing, |position| table.get(position))
}

/// Number of the entry; `None` if the index is in the static table.
fn number(table: &Table, index: u32) -> Option<u64> {
    table.number(position(index)?)
}

fn position(index: u32) -> Option<u32> {
    index.checked_sub(static_table::LENGTH + 1)
}

impl Role {
    /// How many bytes of the string are kept while it is decoded.
    fn limit(self) -> usize {
        match self {
            Self::Name(_) => MAX_NAME,
            Self::Value { name, .. } => name.value_limit(),
        }
    }
}

impl Coding {
    fn decode(self, octets: &[u8], text: &mut Text) -> Result<Self, CompressionError> {
        match self {
            Self::Raw => {
                text.extend(octets);
                Ok(self)
            }
            Self::Huffman(mut huffman) => {
                huffman.decode(octets, |symbol| text.push(symbol))?;
                Ok(Self::Huffman(huffman))
            }
        }
    }

    fn finish(self) -> Result<(), CompressionError> {
        match self {
            Self::Raw => Ok(()),
            Self::Huffman(huffman) => huffman.finish(),
        }
    }
}
