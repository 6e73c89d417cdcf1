//! Parses protobuf, and passes the values at the interesting places (`ValuePath`) to a receiver.

use super::message::Message;
use super::open::{Open, Stack};
use super::varint::Varint;
use super::wanted::{Kind, Wanted};
use crate::wire::kept::Kept;
use crate::wire::meaning::{Field, Interest, Shape, ValuePath};
use crate::wire::syntax::{AfterGap, Ending, Progress, Receiver, Root, Syntax};

/// The bytes before every object (kubernetes/apimachinery `pkg/runtime/serializer/protobuf/protobuf.go`).
pub(super) const MAGIC: &[u8; 4] = b"k8s\0";

/// Reads a document or watch events in protobuf.
#[derive(Debug)]
pub(in crate::wire) struct Protobuf {
    root: Root,
    pub(super) state: State,
    /// Offset in the body after all bytes read or missed; while a chunk is read, the end of the chunk.
    end: u64,
    pub(super) opens: Stack,
    /// The message for the object's kind; `None` until the kind is read.
    pub(super) content: Option<Message>,
    /// Whether the content of the document's envelope has begun.
    pub(super) has_content: bool,
    /// The use of the value of the current map entry.
    pub(super) entry: Interest,
    pub(super) text: Kept,
}

/// Position of the parser in the bytes.
///
/// ```text
/// Prefix (of an event) ─┐            ┌─ varint ──► Number ─┐
///                       ├─► Field ───┤                     ├─► Field, or the end of one or several messages
/// Magic (of an object) ─┘     ▲      └─ length ──► Length ─┼─► Text, Skip ─► the same
///                             └──────── a message ─────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// In the length of an event.
    Prefix { read: u8, length: u32 },
    /// In the bytes before an envelope.
    Magic { matched: usize },
    /// In the number and wire type of a field, or before it.
    Field(Varint),
    /// In the length of a value.
    Length(Wanted, Varint),
    /// In a number that goes to this field, or is skipped.
    Number(Option<Field>, Varint),
    /// In a text that is cut by the chunk, up to this offset.
    Text(Kind, u64),
    /// In skipped bytes, up to this offset.
    Skip(u64),
    /// After a gap: in the rest of an event, up to this offset.
    Lost(u64),
}

/// Bytes that begin with an invalid one, and the reason.
pub(super) struct Wrong<'a>(pub &'a [u8], pub &'static str);

/// The rest of the bytes after a step.
pub(super) type Step<'a> = Result<&'a [u8], Wrong<'a>>;

const BEFORE_EVENT: State = State::Prefix { read: 0, length: 0 };
pub(super) const BEFORE_FIELD: State = State::Field(Varint::EMPTY);

/// The outermost message that ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// None, or messages within others.
    Inner,
    Event,
    /// The event that contains a gap.
    LostEvent,
}

impl Syntax for Protobuf {
    fn new(root: Root) -> Self {
        Self {
            root,
            state: match root {
                Root::Document => State::Magic { matched: 0 },
                Root::Events | Root::Messages => BEFORE_EVENT,
            },
            end: 0,
            opens: Stack::default(),
            content: None,
            has_content: false,
            entry: Interest::Nothing,
            text: Kept::default(),
        }
    }

    fn push(&mut self, bytes: &[u8], receiver: &mut impl Receiver) -> Progress {
        self.end = self.end.saturating_add(bytes.len() as u64);
        let mut rest = bytes;
        loop {
            let position = self.position(rest);
            let offset = bytes.len() - rest.len();
            match self.close_ended(position, receiver) {
                Ended::Inner => {}
                Ended::Event => {
                    self.end = position;
                    return Progress::Complete(offset);
                }
                Ended::LostEvent => {
                    self.end = position;
                    return Progress::Resumed { offset, begun: 0 };
                }
            }
            if rest.is_empty() {
                return Progress::Pending;
            }
            match self.step(rest, receiver) {
                Ok(left) => rest = left,
                Err(Wrong(left, what)) => return Progress::Malformed(bytes.len() - left.len(), what),
            }
        }
    }

    fn gap(&mut self, length: u64) -> AfterGap {
        let Some(after) = self.end.checked_add(length) else { return AfterGap::Blind };
        self.end = after;
        if let State::Skip(until) | State::Lost(until) = self.state
            && after <= until
        {
            return AfterGap::Reading;
        }
        match self.root {
            Root::Document => {
                let Some((place, end)) = self.opens.lose(after) else { return AfterGap::Blind };
                self.state = State::Skip(end);
                AfterGap::Without(place)
            }
            Root::Messages => {
                self.opens.clear();
                self.state = State::Lost(u64::MAX);
                AfterGap::Lost
            }
            Root::Events => {
                let Some(end) = self.opens.bottom().map(|event| event.end).filter(|end| after <= *end) else {
                    return AfterGap::Blind;
                };
                self.opens.clear();
                self.state = State::Lost(end);
                AfterGap::Lost
            }
        }
    }

    fn end_message(&mut self, receiver: &mut impl Receiver) -> Progress {
        if self.root != Root::Messages {
            return Progress::Pending;
        }
        // Messages within the event whose end a gap has reached are closed here; the event itself ends only here.
        self.close_ended(self.end, receiver);
        let is_lost = matches!(self.state, State::Lost(_));
        let is_complete = self.state == BEFORE_FIELD && self.opens.is_event_alone();
        if self.state == BEFORE_EVENT {
            return Progress::Pending;
        }
        self.opens.clear();
        self.state = BEFORE_EVENT;
        if is_complete {
            receiver.leave(ValuePath::Event);
            Progress::Complete(0)
        } else if is_lost {
            Progress::Resumed { offset: 0, begun: 0 }
        } else {
            Progress::Malformed(0, "message ends in the middle of a watch event")
        }
    }

    fn finish(&mut self, receiver: &mut impl Receiver) -> Ending {
        if self.close_ended(self.end, receiver) == Ended::Event {
            return Ending::Complete;
        }
        match (self.root, self.state) {
            (Root::Events | Root::Messages, BEFORE_EVENT | State::Lost(_)) => Ending::Between,
            (Root::Document, _) if self.end == 0 => Ending::Between,
            (Root::Document, BEFORE_FIELD) if self.has_content && self.opens.top().is_some_and(|open| open.end == u64::MAX) => {
                receiver.leave(ValuePath::Object);
                Ending::Complete
            }
            _ => Ending::Inside,
        }
    }

    /// No bytes may follow the envelope of a document.
    fn meaningless(_bytes: &[u8]) -> usize {
        0
    }
}

impl Protobuf {
    /// Offset in the body at which `rest` of the chunk begins.
    pub(super) fn position(&self, rest: &[u8]) -> u64 {
        self.end.saturating_sub(rest.len() as u64)
    }

    /// Closes the messages that end here.
    fn close_ended(&mut self, position: u64, receiver: &mut impl Receiver) -> Ended {
        loop {
            match self.state {
                State::Field(varint) if varint.is_empty() => {}
                State::Skip(until) if until == position => self.state = BEFORE_FIELD,
                State::Lost(until) if until == position => {
                    self.state = BEFORE_EVENT;
                    return Ended::LostEvent;
                }
                State::Prefix { .. }
                | State::Magic { .. }
                | State::Field(_)
                | State::Length(..)
                | State::Number(..)
                | State::Text(..)
                | State::Skip(_)
                | State::Lost(_) => return Ended::Inner,
            }
            let Some(ended) = self.opens.top().copied().filter(|open| open.end == position) else { return Ended::Inner };
            self.opens.pop();
            if ended.is_complete {
                let next = receiver.leave(ended.place);
                if let Some(array) = ended.place.parent().filter(|parent| parent.shape() == Shape::Array) {
                    receiver.leave(array);
                }
                self.proceed(next);
            }
            if self.opens.is_empty() {
                self.state = BEFORE_EVENT;
                return Ended::Event;
            }
        }
    }

    fn step<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Step<'a> {
        match self.state {
            State::Prefix { .. } if self.root == Root::Messages => {
                self.open(Message::WatchEvent, ValuePath::Event, u64::MAX, receiver);
                Ok(bytes)
            }
            State::Prefix { read, length } => Ok(self.prefix(bytes, read, length, receiver)),
            State::Magic { matched } => self.magic(bytes, matched, receiver),
            State::Field(varint) => {
                let rest = if varint.is_empty() { self.fields(bytes, receiver) } else { bytes };
                if rest.len() < bytes.len() { Ok(rest) } else { self.field(bytes, varint, receiver) }
            }
            State::Length(wanted, varint) => self.length(bytes, wanted, varint, receiver),
            State::Number(field, varint) => self.number(bytes, field, varint, receiver),
            State::Text(kind, until) => Ok(self.text(bytes, kind, until, receiver)),
            State::Skip(until) | State::Lost(until) => Ok(after(bytes, until.saturating_sub(self.position(bytes)))),
        }
    }

    fn prefix<'a>(&mut self, bytes: &'a [u8], read: u8, length: u32, receiver: &mut impl Receiver) -> &'a [u8] {
        let Some((byte, rest)) = bytes.split_first() else { return bytes };
        let length = length << 8 | u32::from(*byte);
        self.state = State::Prefix { read: read + 1, length };
        if read == 3 {
            let end = self.position(rest).saturating_add(u64::from(length));
            self.open(Message::WatchEvent, ValuePath::Event, end, receiver);
        }
        rest
    }

    fn magic<'a>(&mut self, bytes: &'a [u8], matched: usize, receiver: &mut impl Receiver) -> Step<'a> {
        let (Some((byte, rest)), Some(expected)) = (bytes.split_first(), MAGIC.get(matched)) else { return Ok(bytes) };
        if byte != expected {
            return Err(Wrong(bytes, "not a Kubernetes object in protobuf"));
        }
        self.state = State::Magic { matched: matched + 1 };
        if matched + 1 == MAGIC.len() {
            self.state = BEFORE_FIELD;
            if self.opens.is_empty() {
                receiver.enter(ValuePath::Object);
                self.opens.push(Open { message: Message::Unknown, place: ValuePath::Object, end: u64::MAX, is_complete: true });
            }
        }
        Ok(rest)
    }
}

/// `bytes` without the first `length`; empty if there are fewer.
pub(super) fn after(bytes: &[u8], length: u64) -> &[u8] {
    usize::try_from(length).ok().and_then(|length| bytes.get(length..)).unwrap_or_default()
}
