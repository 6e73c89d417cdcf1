//! Reads one field after another.

use super::message::{Message, Part};
use super::open::Open;
use super::parser::{BEFORE_FIELD, MAGIC, Protobuf, State, Step, Wrong, after};
use super::varint::{Taken, Varint};
use super::wanted::{Kind, Wanted, misshapen, wanted, wanted_number};
use crate::wire::kept;
use crate::wire::meaning::{Field, Interest, ValuePath};
use crate::wire::syntax::{Next, Receiver};

/// Longest map key that is read, in bytes; all interesting keys are shorter.
const MAX_KEY: usize = 64;

impl Protobuf {
    /// Reads fields that lie completely in `bytes`, up to the next message whose content is read; returns the rest. This is a fast
    /// path only: the caller reads the field at which it stops.
    pub(super) fn fields<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> &'a [u8] {
        let Some(Open { message, place, end, .. }) = self.opens.top().copied() else { return bytes };
        let room = usize::try_from(end.saturating_sub(self.position(bytes))).unwrap_or(usize::MAX);
        let (mut rest, beyond) = bytes.split_at_checked(room).unwrap_or((bytes, &[]));
        let rest_of_bytes = |rest: &[u8]| bytes.get(bytes.len() - beyond.len() - rest.len()..).unwrap_or_default();
        while let Some((number, value, after)) = short_field(rest) {
            match message.part(number) {
                Part::Nothing => {}
                Part::Scalar(name) => {
                    let Interest::Text(field) = place.member(name) else { break };
                    self.emit(field, &kept::text(value, field.limit()), receiver);
                    if self.state != BEFORE_FIELD {
                        return rest_of_bytes(after);
                    }
                }
                Part::Member(name, message) => {
                    if let Interest::Inside(place) = place.member(name) {
                        let end = self.position(rest_of_bytes(after));
                        self.open(message, place, end, receiver);
                        return bytes.get(bytes.len() - beyond.len() - after.len() - value.len()..).unwrap_or_default();
                    }
                }
                Part::More(_) | Part::Envelope | Part::Content | Part::Encoding | Part::Key | Part::Value => break,
            }
            rest = after;
        }
        rest_of_bytes(rest)
    }

    pub(super) fn field<'a>(&mut self, bytes: &'a [u8], varint: Varint, receiver: &mut impl Receiver) -> Step<'a> {
        let (tag, rest) = match self.varint(bytes, varint)? {
            (Ok(tag), rest) => (tag, rest),
            (Err(varint), rest) => {
                self.state = State::Field(varint);
                return Ok(rest);
            }
        };
        let Some(open) = self.opens.top().copied() else { return Ok(rest) };
        if tag >> 3 == 0 {
            return Err(Wrong(rest, "invalid field number"));
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
            _ => return Err(Wrong(rest, "unknown wire type")),
        };
        misshapen(part, open.place, receiver);
        let end = self.position(rest).saturating_add(fixed);
        self.state = State::Skip(end);
        if end > open.end { Err(Wrong(rest, TOO_LONG)) } else { Ok(rest) }
    }

    pub(super) fn length<'a>(&mut self, bytes: &'a [u8], wanted: Wanted, varint: Varint, receiver: &mut impl Receiver) -> Step<'a> {
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
            Wanted::ValuePath(message, place) => self.open(message, place, end, receiver),
            Wanted::More(message) => self.opens.push(Open { message, place: open.place, end, is_complete: false }),
            Wanted::Envelope | Wanted::Encoding if length == 0 => {}
            Wanted::Envelope if length < MAGIC.len() as u64 => return Err(Wrong(rest, "not a Kubernetes object in protobuf")),
            Wanted::Envelope => {
                self.content = None;
                self.opens.push(Open { message: Message::Unknown, place: open.place, end, is_complete: false });
                self.state = State::Magic { matched: 0 };
            }
            Wanted::Content => {
                let Some(message) = self.content else { return Err(Wrong(rest, "an object before its kind")) };
                self.has_content = true;
                self.opens.push(Open { message, place: open.place, end, is_complete: false });
            }
            Wanted::Encoding => return Err(Wrong(rest, "an object in an encoding other than protobuf")),
        }
        Ok(rest)
    }

    pub(super) fn number<'a>(
        &mut self,
        bytes: &'a [u8],
        field: Option<Field>,
        varint: Varint,
        receiver: &mut impl Receiver,
    ) -> Step<'a> {
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

    /// Continues reading a varint. Returns its value, or the varint so far if it needs more bytes, and the rest of `bytes`.
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
                Kind::Of(field) => self.emit(field, &kept::text(text, field.limit()), receiver),
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

    pub(super) fn text<'a>(&mut self, bytes: &'a [u8], kind: Kind, until: u64, receiver: &mut impl Receiver) -> &'a [u8] {
        let left = until.saturating_sub(self.position(bytes));
        let rest = after(bytes, left);
        let piece = bytes.get(..bytes.len() - rest.len()).unwrap_or_default();
        self.text.push(piece);
        if piece.len() as u64 == left {
            self.state = BEFORE_FIELD;
            let text = std::mem::take(&mut self.text);
            match kind {
                Kind::Of(field) => self.emit(field, &text.decoded(), receiver),
                Kind::Key => self.note_key(text.as_bytes()),
            }
        }
        rest
    }

    fn emit(&mut self, field: Field, text: &str, receiver: &mut impl Receiver) {
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

    /// Enters a message. An element of an array is entered by way of the array.
    pub(super) fn open(&mut self, message: Message, place: ValuePath, end: u64, receiver: &mut impl Receiver) {
        let element = match place.element() {
            Interest::Inside(element) if receiver.enter(place) == Next::Read => element,
            Interest::Inside(_) => {
                self.state = State::Skip(end);
                return;
            }
            Interest::Nothing | Interest::Text(_) | Interest::Number(_) => place,
        };
        self.entry = Interest::Nothing;
        self.opens.push(Open { message, place: element, end, is_complete: true });
        self.state = BEFORE_FIELD;
        let next = receiver.enter(element);
        self.proceed(next);
    }

    pub(super) fn proceed(&mut self, next: Next) {
        if let Next::SkipToEndOf(place) = next
            && let Some(end) = self.opens.unwind_to(place)
        {
            self.state = State::Skip(end);
        }
    }
}

/// The number and bytes of the field at the beginning of `bytes`, and the rest. `None` unless the number is below 16, the wire type
/// is that of strings and messages, and the length is below 2 MiB.
#[inline]
fn short_field(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
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
