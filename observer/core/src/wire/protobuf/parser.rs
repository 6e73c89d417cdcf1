//! Protobuf in, the values of the interesting places out.

use super::message::{Message, Part};
use super::open::{Open, Stack};
use super::varint::{Taken, Varint};
use super::wanted::{Kind, Wanted, misshapen, wanted, wanted_number};
use crate::wire::kept::{self, Kept};
use crate::wire::meaning::{Field, Interest, Place, Shape};
use crate::wire::syntax::{AfterGap, Ending, Next, Progress, Receiver, Root, Syntax};

/// What precedes every object (kubernetes/apimachinery `pkg/runtime/serializer/protobuf/protobuf.go`).
const MAGIC: &[u8; 4] = b"k8s\0";

/// Longest key of a map that is looked at; those of interest are shorter.
const MAX_KEY: usize = 64;

/// Reads a document or watch events in protobuf.
#[derive(Debug)]
pub(in crate::wire) struct Protobuf {
    root: Root,
    state: State,
    /// The offset in the body of the end of what was read or missed; within a chunk, of the end of the chunk.
    end: u64,
    opens: Stack,
    /// The message that the kind of the object stands for.
    content: Option<Message>,
    /// Whether the envelope of the document has said what it is around.
    has_content: bool,
    /// What is wanted of the value of the map's entry that is being read.
    entry: Interest,
    text: Kept,
}

/// Where in the bytes the parser stands.
///
/// ```text
/// Prefix (of an event) ─┐            ┌─ varint ──► Number ─┐
///                       ├─► Field ───┤                     ├─► Field, or the end of one or several messages
/// Magic (of an object) ─┘     ▲      └─ length ──► Length ─┼─► Text, Skip ─► the same
///                             └──────── a message ─────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the length of an event.
    Prefix { read: u8, length: u32 },
    /// In the bytes before an envelope.
    Magic { matched: usize },
    /// In the number and wire type of a field, or before it.
    Field(Varint),
    /// In the length of a value.
    Length(Wanted, Varint),
    /// In a number.
    Number(Option<Field>, Varint),
    /// In a text that the chunk cut, up to this offset.
    Text(Kind, u64),
    /// In what is not read, up to this offset.
    Skip(u64),
    /// After a gap: in the rest of an event, up to this offset.
    Lost(u64),
}

/// Bytes that begin with one that cannot be there, and why.
struct Wrong<'a>(&'a [u8], &'static str);

/// What follows a step.
type Step<'a> = Result<&'a [u8], Wrong<'a>>;

const BEFORE_FIELD: State = State::Field(Varint::EMPTY);

impl Syntax for Protobuf {
    fn new(root: Root) -> Self {
        Self {
            root,
            state: match root {
                Root::Document => State::Magic { matched: 0 },
                Root::Events => State::Prefix { read: 0, length: 0 },
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
            if self.state == State::Lost(position) {
                self.state = State::Prefix { read: 0, length: 0 };
                self.end = position;
                return Progress::Resumed { offset, begun: 0 };
            }
            if self.close_ended(position, receiver) {
                self.end = position;
                return Progress::Complete(offset);
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
                let Some(end) = self.opens.lose(after) else { return AfterGap::Blind };
                self.state = State::Skip(end);
                AfterGap::Reading
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

    fn finish(&mut self, receiver: &mut impl Receiver) -> Ending {
        if self.close_ended(self.end, receiver) {
            return Ending::Complete;
        }
        match (self.root, self.state) {
            (Root::Events, State::Prefix { read: 0, .. } | State::Lost(_)) => Ending::Between,
            (Root::Document, _) if self.end == 0 => Ending::Between,
            (Root::Document, BEFORE_FIELD) if self.has_content && self.opens.top().is_some_and(|open| open.end == u64::MAX) => {
                receiver.leave(Place::Object);
                Ending::Complete
            }
            _ => Ending::Inside,
        }
    }

    /// The envelope of a document is all that there is.
    fn meaningless(_bytes: &[u8]) -> usize {
        0
    }
}

impl Protobuf {
    /// The offset in the body at which `rest` of the chunk begins.
    fn position(&self, rest: &[u8]) -> u64 {
        self.end.saturating_sub(rest.len() as u64)
    }

    /// Closes the messages that end here; whether the event did.
    fn close_ended(&mut self, position: u64, receiver: &mut impl Receiver) -> bool {
        while self.has_ended(position) {
            self.state = BEFORE_FIELD;
            let Some(ended) = self.opens.top().copied().filter(|open| open.end == position) else { return false };
            self.opens.pop();
            if ended.is_whole {
                let next = receiver.leave(ended.place);
                if let Some(array) = ended.place.parent().filter(|parent| parent.shape() == Shape::Array) {
                    receiver.leave(array);
                }
                self.proceed(next);
            }
            if self.opens.is_empty() {
                self.state = State::Prefix { read: 0, length: 0 };
                return true;
            }
        }
        false
    }

    /// Whether a value ended here, and perhaps the message around it.
    fn has_ended(&self, position: u64) -> bool {
        match self.state {
            State::Field(varint) => varint.is_empty() && self.opens.top().is_some_and(|open| open.end == position),
            State::Skip(until) => until == position,
            State::Prefix { .. }
            | State::Magic { .. }
            | State::Length(..)
            | State::Number(..)
            | State::Text(..)
            | State::Lost(_) => false,
        }
    }

    fn step<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Step<'a> {
        match self.state {
            State::Prefix { read, length } => Ok(self.prefix(bytes, read, length, receiver)),
            State::Magic { matched } => self.magic(bytes, matched, receiver),
            State::Field(varint) => {
                let rest = if varint.is_empty() { self.strings(bytes, receiver) } else { bytes };
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
            self.open(Message::WatchEvent, Place::Event, end, receiver);
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
                receiver.enter(Place::Object);
                self.opens.push(Open { message: Message::Unknown, place: Place::Object, end: u64::MAX, is_whole: true });
            }
        }
        Ok(rest)
    }

    /// Reads the strings, and passes the messages that nobody wants, as long as they lie wholly in `bytes`; what follows them. It is
    /// the quick way only: what it stops at, the slow way reads.
    fn strings<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> &'a [u8] {
        let Some(Open { message, place, end, .. }) = self.opens.top().copied() else { return bytes };
        let room = usize::try_from(end.saturating_sub(self.position(bytes))).unwrap_or(usize::MAX);
        let (mut rest, beyond) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        let rest_of_bytes = |rest: &[u8]| bytes.get(bytes.len() - beyond.len() - rest.len()..).unwrap_or_default();
        while let Some((number, value, after)) = short_string(rest) {
            match message.part(number) {
                Part::Nothing => {}
                Part::Scalar(name) => {
                    let Interest::Text(field) = place.member(name) else { break };
                    self.tell(field, &kept::text(value, field.limit()), receiver);
                    if self.state != BEFORE_FIELD {
                        return rest_of_bytes(after);
                    }
                }
                Part::Member(..) | Part::More(_) | Part::Envelope | Part::Content | Part::Encoding | Part::Key | Part::Value => {
                    break;
                }
            }
            rest = after;
        }
        rest_of_bytes(rest)
    }

    fn field<'a>(&mut self, bytes: &'a [u8], varint: Varint, receiver: &mut impl Receiver) -> Step<'a> {
        let (tag, rest) = match self.varint(bytes, varint)? {
            (Ok(tag), rest) => (tag, rest),
            (Err(varint), rest) => {
                self.state = State::Field(varint);
                return Ok(rest);
            }
        };
        let Some(open) = self.opens.top().copied() else { return Ok(rest) };
        if tag >> 3 == 0 {
            return Err(Wrong(rest, "no such field"));
        }
        let part = open.message.part(tag >> 3);
        let fixed = match tag & 7 {
            0 => {
                self.state = State::Number(wanted_number(part, open.place, receiver), Varint::EMPTY);
                return Ok(rest);
            }
            2 => {
                return self.length(rest, wanted(part, open.place, self.entry, receiver), Varint::EMPTY, receiver);
            }
            1 => 8,
            5 => 4,
            3 | 4 => return Err(Wrong(rest, "a group, which Kubernetes does not write")),
            _ => return Err(Wrong(rest, "no such wire type")),
        };
        misshapen(part, open.place, receiver);
        let end = self.position(rest).saturating_add(fixed);
        self.state = State::Skip(end);
        if end > open.end { Err(Wrong(rest, TOO_LONG)) } else { Ok(rest) }
    }

    fn length<'a>(&mut self, bytes: &'a [u8], wanted: Wanted, varint: Varint, receiver: &mut impl Receiver) -> Step<'a> {
        let (length, rest) = match self.varint(bytes, varint)? {
            (Ok(length), rest) => (length, rest),
            (Err(varint), rest) => {
                self.state = State::Length(wanted, varint);
                return Ok(rest);
            }
        };
        let (Some(end), Some(open)) = (self.position(rest).checked_add(length), self.opens.top().copied()) else {
            return Err(Wrong(rest, TOO_LONG));
        };
        if end > open.end {
            return Err(Wrong(rest, TOO_LONG));
        }
        self.state = BEFORE_FIELD;
        match wanted {
            Wanted::Nothing => self.state = State::Skip(end),
            Wanted::Text(kind) => return Ok(self.begin_text(rest, kind, length, end, receiver)),
            Wanted::Place(message, place) => self.open(message, place, end, receiver),
            Wanted::More(message) => self.opens.push(Open { message, place: open.place, end, is_whole: false }),
            Wanted::Envelope | Wanted::Encoding if length == 0 => {}
            Wanted::Envelope if length < MAGIC.len() as u64 => return Err(Wrong(rest, "not a Kubernetes object in protobuf")),
            Wanted::Envelope => {
                self.content = None;
                self.opens.push(Open { message: Message::Unknown, place: open.place, end, is_whole: false });
                self.state = State::Magic { matched: 0 };
            }
            Wanted::Content => {
                let Some(message) = self.content else { return Err(Wrong(rest, "an object before its kind")) };
                self.has_content = true;
                self.opens.push(Open { message, place: open.place, end, is_whole: false });
            }
            Wanted::Encoding => return Err(Wrong(rest, "an object in another encoding than protobuf")),
        }
        Ok(rest)
    }

    fn number<'a>(&mut self, bytes: &'a [u8], field: Option<Field>, varint: Varint, receiver: &mut impl Receiver) -> Step<'a> {
        let (number, rest) = self.varint(bytes, varint)?;
        match (number, field) {
            (Err(varint), _) => self.state = State::Number(field, varint),
            (Ok(number), field) => {
                self.state = BEFORE_FIELD;
                if let Some(field) = field {
                    receiver.number(field, number.cast_signed());
                }
            }
        }
        Ok(rest)
    }

    /// Reads on in a varint: its value, or as much as there is of it, and what follows.
    fn varint<'a>(&self, bytes: &'a [u8], mut varint: Varint) -> Result<(Result<u64, Varint>, &'a [u8]), Wrong<'a>> {
        let end = self.opens.top().map_or(u64::MAX, |open| open.end);
        let mut room = end.saturating_sub(self.position(bytes));
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            if room == 0 {
                return Err(Wrong(rest, TOO_LONG));
            }
            match varint.take(*byte) {
                Taken::Part => (room, rest) = (room - 1, after),
                Taken::Whole(value) => return Ok((Ok(value), after)),
                Taken::TooLong => return Err(Wrong(rest, "a number of more than ten bytes")),
            }
        }
        Ok((Err(varint), rest))
    }

    fn begin_text<'a>(&mut self, bytes: &'a [u8], kind: Kind, length: u64, end: u64, receiver: &mut impl Receiver) -> &'a [u8] {
        let whole = usize::try_from(length).ok().and_then(|length| bytes.split_at_checked(length));
        if let Some((text, rest)) = whole {
            match kind {
                Kind::Of(field) => self.tell(field, &kept::text(text, field.limit()), receiver),
                Kind::Key => self.note_key(text),
            }
            return rest;
        }
        self.text.begin(match kind {
            Kind::Of(field) => field.limit(),
            Kind::Key => MAX_KEY,
        });
        self.state = State::Text(kind, end);
        bytes
    }

    fn text<'a>(&mut self, bytes: &'a [u8], kind: Kind, until: u64, receiver: &mut impl Receiver) -> &'a [u8] {
        let left = until.saturating_sub(self.position(bytes));
        let rest = after(bytes, left);
        let piece = bytes.get(..bytes.len() - rest.len()).unwrap_or_default();
        self.text.push(piece);
        if piece.len() as u64 == left {
            self.state = BEFORE_FIELD;
            let text = std::mem::take(&mut self.text);
            match kind {
                Kind::Of(field) => self.tell(field, &text.decoded(), receiver),
                Kind::Key => self.note_key(text.as_bytes()),
            }
        }
        rest
    }

    fn tell(&mut self, field: Field, text: &str, receiver: &mut impl Receiver) {
        let Some(open) = self.opens.top() else { return };
        if field == Field::Kind {
            self.content = Message::of_kind(text);
        }
        let next = receiver.text(open.place, field, text);
        self.proceed(next);
    }

    fn note_key(&mut self, key: &[u8]) {
        self.entry = self.opens.top().map_or(Interest::Nothing, |open| open.place.member(key));
    }

    /// Goes into a message; into one of an array's elements by way of the array.
    fn open(&mut self, message: Message, place: Place, end: u64, receiver: &mut impl Receiver) {
        let element = match place.element() {
            Interest::Inside(element) if receiver.enter(place) == Next::Read => element,
            Interest::Inside(_) => {
                self.state = State::Skip(end);
                return;
            }
            Interest::Nothing | Interest::Text(_) | Interest::Number(_) => place,
        };
        self.entry = Interest::Nothing;
        self.opens.push(Open { message, place: element, end, is_whole: true });
        self.state = BEFORE_FIELD;
        let next = receiver.enter(element);
        self.proceed(next);
    }

    fn proceed(&mut self, next: Next) {
        if let Next::SkipToEndOf(place) = next
            && let Some(end) = self.opens.unwind_to(place)
        {
            self.state = State::Skip(end);
        }
    }
}

/// The number and the bytes of the field at the beginning of `bytes`, and what follows it, if the number is less than 16, the wire type is
/// that of strings and messages, and the length less than 2 MiB.
#[inline]
fn short_string(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first().filter(|(tag, _)| **tag & 0x87 == 2 && **tag > 7)?;
    let (length, rest) = match *rest {
        [a @ ..0x80, ref rest @ ..] => (usize::from(a), rest),
        [a, b @ ..0x80, ref rest @ ..] => (usize::from(a & 0x7f) | usize::from(b) << 7, rest),
        [a, b, c @ ..0x80, ref rest @ ..] => (usize::from(a & 0x7f) | usize::from(b & 0x7f) << 7 | usize::from(c) << 14, rest),
        _ => return None,
    };
    let (value, rest) = rest.split_at_checked(length)?;
    Some((u64::from(tag >> 3), value, rest))
}

const TOO_LONG: &str = "a field is longer than its message";

/// `bytes` without the first `length`, as far as they go.
fn after(bytes: &[u8], length: u64) -> &[u8] {
    usize::try_from(length).ok().and_then(|length| bytes.get(length..)).unwrap_or_default()
}
