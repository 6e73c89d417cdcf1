//! The events of a decoder as text.

use super::super::super::{
    Blocks, Direction, Event, Field, Gap, HeaderFields, HeaderName, Headers, RequestHead, ResponseHead, Start,
};
use super::super::Decoder;

/// One event; adjacent parts of one body are joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Emitted {
    Line(String),
    Body(Direction, u64, Vec<u8>),
    Missing(Direction, u64, u64),
    Opaque(Direction, u64, u64),
}

/// A decoder and its events.
pub(super) struct Tap {
    pub(super) decoder: Decoder,
    emitted: Vec<Emitted>,
}

impl Tap {
    pub(super) fn new(start: Start) -> Self {
        Self { decoder: Decoder::new(start), emitted: Vec::new() }
    }

    pub(super) fn bytes(&mut self, direction: Direction, bytes: &[u8]) {
        self.decoder.bytes(direction, bytes, &mut |event| push(&mut self.emitted, of(event)));
    }

    pub(super) fn fields(&mut self, direction: Direction, blocks: Blocks, all: &[(&str, &str)]) {
        let mut fields = HeaderFields::new(blocks);
        for (name, value) in all {
            fields.push(name.as_bytes(), value.as_bytes()).unwrap();
        }
        self.decoder.fields(direction, &fields);
    }

    pub(super) fn gap(&mut self, direction: Direction, stream: Option<u32>, length: usize) {
        let gap = Gap { stream, length: u64::try_from(length).unwrap() };
        self.decoder.gap(direction, gap, &mut |event| push(&mut self.emitted, of(event)));
    }

    pub(super) fn end(&mut self, direction: Direction) {
        self.decoder.end(direction, &mut |event| push(&mut self.emitted, of(event)));
    }

    pub(super) fn emitted(self) -> Vec<Emitted> {
        self.emitted
    }

    /// All events except bodies.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.emitted.iter().filter_map(|emitted| match emitted {
            Emitted::Line(line) => Some(line.clone()),
            Emitted::Body(..) | Emitted::Missing(..) | Emitted::Opaque(..) => None,
        });
        lines.collect()
    }

    /// One line per event.
    pub(super) fn text(self) -> String {
        let lines = self.emitted.into_iter().map(|emitted| match emitted {
            Emitted::Line(line) => line,
            Emitted::Body(direction, stream, bytes) => {
                format!("{} {stream} body {:?}", arrow(direction), String::from_utf8_lossy(&bytes))
            }
            Emitted::Missing(direction, stream, length) => format!("{} {stream} missing {length}", arrow(direction)),
            Emitted::Opaque(direction, stream, length) => format!("{} {stream} opaque {length}", arrow(direction)),
        });
        lines.map(|line| line + "\n").collect()
    }
}

/// Adds an event, joined with the last one if both are parts of one body.
pub(super) fn push(all: &mut Vec<Emitted>, emitted: Emitted) {
    match (all.last_mut(), emitted) {
        (Some(Emitted::Body(direction, stream, bytes)), Emitted::Body(next, on, more)) if (*direction, *stream) == (next, on) => {
            bytes.extend(more);
        }
        (Some(Emitted::Missing(direction, stream, length)), Emitted::Missing(next, on, more))
        | (Some(Emitted::Opaque(direction, stream, length)), Emitted::Opaque(next, on, more))
            if (*direction, *stream) == (next, on) =>
        {
            *length += more;
        }
        (_, emitted) => all.push(emitted),
    }
}

/// The sender: `>` for the client, `<` for the server.
pub(super) fn arrow(direction: Direction) -> char {
    match direction {
        Direction::Request => '>',
        Direction::Response => '<',
    }
}

fn of(event: Event<'_>) -> Emitted {
    Emitted::Line(match event {
        Event::Request { stream, head } => format!("> {} request {}", stream.0, request(&head)),
        Event::Informational { stream, status } => format!("< {} interim {status}", stream.0),
        Event::Response { stream, head } => format!("< {} response {}", stream.0, response(&head)),
        Event::Body { stream, direction, bytes } => {
            assert!(!bytes.is_empty());
            return Emitted::Body(direction, stream.0, bytes.to_vec());
        }
        Event::BodyGap { stream, direction, length } => {
            assert!(length > 0);
            return Emitted::Missing(direction, stream.0, length);
        }
        Event::MessageEnd { stream, direction } => format!("{} {} end", arrow(direction), stream.0),
        Event::MessageCut { stream, direction } => format!("{} {} cut", arrow(direction), stream.0),
        Event::Reset { stream, by, code } => format!("{} {} reset {code}", arrow(by), stream.0),
        Event::Upgraded { stream, protocol } => format!("< {} upgraded {protocol:?}", stream.0),
        Event::Opaque { stream, direction, bytes } => {
            return Emitted::Opaque(direction, stream.0, u64::try_from(bytes.len()).unwrap());
        }
        Event::OpaqueGap { stream, direction, length } => return Emitted::Opaque(direction, stream.0, length),
        Event::Window { stream, direction, used_up } => {
            let whose = stream.map_or_else(|| "connection".to_owned(), |stream| stream.0.to_string());
            format!("{} {whose} window {}", arrow(direction), if used_up { "used up" } else { "open" })
        }
        Event::GoAway { by, last_stream, code } => format!("{} goaway last={last_stream} code={code}", arrow(by)),
        Event::Malformed { direction, at, what } => format!("{} malformed at {at}: {what}", arrow(direction)),
        Event::DecodingStopped { direction, loss } => format!("{} stopped {loss:?}", arrow(direction)),
    })
}

fn request(head: &RequestHead) -> String {
    let target = match head.target.as_ref() {
        Field::Known(target) if target.query.is_empty() => target.path.clone(),
        Field::Known(target) => format!("{}?{}", target.path, target.query),
        Field::Absent => "-".to_owned(),
        Field::Unknown => "?".to_owned(),
    };
    let identity = match head.identity.as_ref() {
        Field::Known(identity) => format!("{identity:?}"),
        Field::Absent => "-".to_owned(),
        Field::Unknown => "?".to_owned(),
    };
    let trace = head.traceparent.as_ref().map(|trace| format!(" traceparent={trace}")).unwrap_or_default();
    format!("{} {target} identity={identity}{}{trace}", text(&head.method), fields(&head.headers))
}

fn response(head: &ResponseHead) -> String {
    let status = match head.status {
        Field::Known(status) => status.to_string(),
        Field::Absent => "-".to_owned(),
        Field::Unknown => "?".to_owned(),
    };
    format!("{status}{}", fields(&head.headers))
}

/// The fields that the tests send.
fn fields(headers: &Headers) -> String {
    [HeaderName::Accept, HeaderName::AuditId, HeaderName::ContentType, HeaderName::UserAgent]
        .into_iter()
        .filter_map(|name| match headers.get(name) {
            Field::Absent => None,
            Field::Known(value) => Some(format!(" {}={value}", name.as_str())),
            Field::Unknown => Some(format!(" {}=?", name.as_str())),
        })
        .collect()
}

fn text(field: &Field<String>) -> &str {
    match field {
        Field::Known(text) => text,
        Field::Absent => "-",
        Field::Unknown => "?",
    }
}
