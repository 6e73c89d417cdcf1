//! Collects field lines into the head of a message.

use super::super::headers::printable;
use super::super::{Field, Headers, Identity, RequestHead, ResponseHead, Target, TraceParent};
use super::hpack::{FieldLine, Name, Value};

/// The fields of one header block, so far.
#[derive(Debug, Default)]
pub(super) struct Fields {
    method: Field<String>,
    target: Field<Target>,
    status: Field<u16>,
    identity: Field<Identity>,
    traceparent: Field<Box<TraceParent>>,
    headers: Headers,
    pseudo_header: bool,
    unknown_names: bool,
}

/// The `:status` of a block in the direction of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusField {
    /// The status of an interim or final head.
    Known(u16),
    /// The block may contain a `:status`.
    Unknown,
    /// The block has no `:status`: it is trailers.
    Absent,
}

impl Fields {
    /// The fields of a complete block.
    pub(super) fn of(lines: &[FieldLine]) -> Self {
        let mut fields = Self::default();
        for line in lines {
            fields.add(line);
        }
        fields
    }

    /// Adds a field line. Of several with one name, the first one counts.
    pub(super) fn add(&mut self, line: &FieldLine) {
        match line.name {
            Name::Method => fill(&mut self.method, || text(&line.value).map(printable)),
            Name::Path => fill(&mut self.target, || target(&line.value)),
            Name::Status => fill(&mut self.status, || status(&line.value)),
            Name::Authorization => fill(&mut self.identity, || identity(&line.value)),
            // Of several, none is valid.
            Name::TraceParent if self.traceparent != Field::Absent => self.traceparent = Field::Unknown,
            Name::TraceParent => fill(&mut self.traceparent, || traceparent(&line.value)),
            Name::Listed(name) => self.headers.insert(name, text(&line.value).map_or(Field::Unknown, Field::Known)),
            Name::OtherPseudo | Name::OffList => {}
            Name::Unknown => self.note_unknown_name(),
        }
        self.pseudo_header |= match line.name {
            Name::Method | Name::Path | Name::Status | Name::OtherPseudo => true,
            Name::Authorization | Name::TraceParent | Name::Listed(_) | Name::OffList | Name::Unknown => false,
        };
    }

    /// Notes fields with unknown names.
    pub(super) fn note_unknown_name(&mut self) {
        self.unknown_names = true;
        self.headers.note_unknown_name();
    }

    /// Whether a pseudo-header field is certainly present, so that these are not trailers.
    pub(super) fn has_pseudo_header(&self) -> bool {
        self.pseudo_header
    }

    /// The `:status` among the fields so far.
    pub(super) fn status(&self) -> StatusField {
        match self.status {
            Field::Known(status) => StatusField::Known(status),
            Field::Unknown => StatusField::Unknown,
            Field::Absent if self.unknown_names => StatusField::Unknown,
            Field::Absent => StatusField::Absent,
        }
    }

    pub(super) fn into_request(self) -> RequestHead {
        let unknown_names = self.unknown_names;
        RequestHead {
            method: settle(self.method, unknown_names),
            target: settle(self.target, unknown_names),
            identity: settle(self.identity, unknown_names),
            // One of those with unknown names could be another one.
            traceparent: self.traceparent.known().filter(|_| !unknown_names),
            headers: self.headers,
            closes: false,
        }
    }

    pub(super) fn into_response(self) -> ResponseHead {
        ResponseHead { status: settle(self.status, self.unknown_names), headers: self.headers }
    }
}

/// The head of a request of which nothing else is known.
pub(super) fn unknown_request() -> RequestHead {
    let mut fields = Fields::default();
    fields.note_unknown_name();
    fields.into_request()
}

/// The head of a response of which nothing else is known.
pub(super) fn unknown_response() -> ResponseHead {
    let mut fields = Fields::default();
    fields.note_unknown_name();
    fields.into_response()
}

/// A field that was not found may be one of those with unknown names.
fn settle<T>(field: Field<T>, unknown_names: bool) -> Field<T> {
    match field {
        Field::Absent if unknown_names => Field::Unknown,
        Field::Absent | Field::Known(_) | Field::Unknown => field,
    }
}

fn fill<T>(slot: &mut Field<T>, value: impl FnOnce() -> Option<T>) {
    if matches!(slot, Field::Absent) {
        *slot = value().map_or(Field::Unknown, Field::Known);
    }
}

fn text(value: &Value) -> Option<&[u8]> {
    match value {
        Value::Text(text) => Some(text),
        Value::NotKept | Value::Unknown | Value::Target(_) | Value::Status(_) | Value::Identity(_) | Value::TraceParent(_) => None,
    }
}

fn target(value: &Value) -> Option<Target> {
    match value {
        Value::Target(target) => Some(Target::clone(target)),
        Value::NotKept | Value::Unknown | Value::Text(_) | Value::Status(_) | Value::Identity(_) | Value::TraceParent(_) => None,
    }
}

fn status(value: &Value) -> Option<u16> {
    match value {
        Value::Status(status) => Some(*status),
        Value::NotKept | Value::Unknown | Value::Text(_) | Value::Target(_) | Value::Identity(_) | Value::TraceParent(_) => None,
    }
}

fn identity(value: &Value) -> Option<Identity> {
    match value {
        Value::Identity(identity) => Some(Identity::clone(identity)),
        Value::NotKept | Value::Unknown | Value::Text(_) | Value::Target(_) | Value::Status(_) | Value::TraceParent(_) => None,
    }
}

fn traceparent(value: &Value) -> Option<Box<TraceParent>> {
    match value {
        Value::TraceParent(parent) => Some(Box::clone(parent)),
        Value::NotKept | Value::Unknown | Value::Text(_) | Value::Target(_) | Value::Status(_) | Value::Identity(_) => None,
    }
}
