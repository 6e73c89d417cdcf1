//! Parses JSON text, and passes the values at the interesting places (`ValuePath`) to a receiver.
//!
//! At interesting places the grammar is checked (RFC 8259); in skipped values only strings and brackets are tracked. A step reads
//! one token and leaves only a few words of state, so text may be cut anywhere.

use std::str;

use super::nesting::Nesting;
use super::text::{self, Taken, Text};
use crate::wire::kept;
use crate::wire::meaning::{Field, Interest, Shape, ValuePath};
use crate::wire::syntax::{Instead, Next, Progress, Receiver};

/// Longest member name that is unescaped, in bytes; all interesting names are shorter.
const MAX_NAME: usize = 64;

/// Longest number or literal that is kept, in bytes; an `i64` has at most 20 characters.
const MAX_SCALAR: usize = 32;

/// Position of the parser in the text.
///
/// ```text
///                   ┌───────────────────────── , ──────────────────────────┐
///                   ▼                                                      │
/// Start ─ { ─► AfterOpen ─ " ─► Name ─ " ─► Colon ─ : ─► Value ──► … ─► AfterValue ─ } or ] ─► AfterValue of the enclosing place
/// ```
///
/// `…` is one of `Text`, `IgnoredString`, `Scalar`, `Ignored`, or the `AfterOpen` of an inner place. In an array, a `Value`
/// directly follows a `[` or a comma.
#[derive(Clone, Copy, Debug)]
enum State {
    /// Before the outermost object.
    Start,
    /// After the opening bracket of the place.
    AfterOpen,
    /// After a comma in an object.
    BeforeName,
    /// In a member name that has escapes or is cut by the chunk.
    Name,
    /// After a member name.
    Colon(Interest),
    /// Before a value.
    Value(Interest),
    /// In a kept string that has escapes or is cut by the chunk.
    Text(Field),
    /// In a string that is not kept.
    IgnoredString { escaped: bool },
    /// In a number or a literal.
    Scalar(Interest),
    /// In a skipped value; with a place, up to the end of that place.
    Ignored(Option<ValuePath>),
    /// After a member or an element.
    AfterValue,
}

/// Reads one JSON object after another.
#[derive(Debug)]
pub(super) struct Parser {
    root: ValuePath,
    place: ValuePath,
    state: State,
    text: Text,
    nesting: Nesting,
}

/// The rest of the text after a step, which may have ended the outermost object.
enum Step<'a> {
    Read(&'a [u8]),
    Complete(&'a [u8]),
}

/// Text that begins with an invalid byte, and the reason.
struct Wrong<'a>(&'a [u8], &'static str);

impl Parser {
    /// A parser of `root` objects.
    pub(super) fn new(root: ValuePath) -> Self {
        Self { root, place: root, state: State::Start, text: Text::default(), nesting: Nesting::new(0) }
    }

    /// Discards the current object, if there is one.
    pub(super) fn restart(&mut self) {
        (self.place, self.state) = (self.root, State::Start);
    }

    /// Whether an object is being read.
    pub(super) fn is_inside(&self) -> bool {
        !matches!(self.state, State::Start)
    }

    /// Reads a chunk, at most up to the end of an outermost object.
    pub(super) fn push(&mut self, bytes: &[u8], receiver: &mut impl Receiver) -> Progress {
        let mut rest = bytes;
        while !rest.is_empty() {
            let step = match self.next_member(rest) {
                Some((interest, value)) => self.value(value, interest, receiver),
                None => self.step(rest, receiver),
            };
            match step {
                Ok(Step::Read(left)) => rest = left,
                Ok(Step::Complete(left)) => {
                    self.restart();
                    return Progress::Complete(bytes.len() - left.len());
                }
                Err(Wrong(left, what)) => return Progress::Malformed(bytes.len() - left.len(), what),
            }
        }
        Progress::Pending
    }

    /// Fast path from [`State::AfterValue`] to [`State::Value`], with which most steps begin. If `bytes` begins with a comma and a
    /// complete name, returns the interest in that member, and the bytes of its value.
    fn next_member<'a>(&self, bytes: &'a [u8]) -> Option<(Interest, &'a [u8])> {
        let (State::AfterValue, Shape::Object, [b',', b'"', name @ ..]) = (self.state, self.place.shape(), bytes) else {
            return None;
        };
        match text::split_plain(name)? {
            (name, [b':', value @ ..]) => Some((self.place.member(name), value)),
            _ => None,
        }
    }

    fn step<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Result<Step<'a>, Wrong<'a>> {
        match self.state {
            State::Start => self.start(bytes, receiver),
            State::AfterOpen => self.after_open(bytes, receiver),
            State::BeforeName => self.before_name(bytes),
            State::Name => self.name(bytes),
            State::Colon(interest) => self.colon(bytes, interest),
            State::Value(interest) => self.value(bytes, interest, receiver),
            State::Text(field) => self.text(bytes, field, receiver),
            State::IgnoredString { escaped } => Ok(self.ignored_string(bytes, escaped)),
            State::Scalar(interest) => self.scalar(bytes, interest, receiver),
            State::Ignored(end_of) => Ok(self.ignored(bytes, end_of, receiver)),
            State::AfterValue => self.after_value(bytes, receiver),
        }
    }

    fn start<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Result<Step<'a>, Wrong<'a>> {
        match without_space(bytes) {
            [b'{', rest @ ..] => {
                self.enter(self.root, receiver);
                Ok(Step::Read(rest))
            }
            [] => Ok(Step::Read(&[])),
            wrong => Err(Wrong(wrong, "not a JSON object")),
        }
    }

    fn after_open<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Result<Step<'a>, Wrong<'a>> {
        match (self.place.shape(), without_space(bytes)) {
            (_, []) => Ok(Step::Read(&[])),
            (Shape::Object, [b'}', rest @ ..]) | (Shape::Array, [b']', rest @ ..]) => Ok(self.leave(rest, receiver)),
            (Shape::Object, rest) => self.before_name(rest),
            (Shape::Array, rest) => {
                self.state = State::Value(self.place.element());
                Ok(Step::Read(rest))
            }
        }
    }

    fn before_name<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, Wrong<'a>> {
        self.state = State::BeforeName;
        match without_space(bytes) {
            [] => Ok(Step::Read(&[])),
            [b'"', rest @ ..] => {
                let Some((name, rest)) = text::split_plain(rest) else {
                    self.text.begin(MAX_NAME);
                    self.state = State::Name;
                    return Ok(Step::Read(rest));
                };
                self.state = State::Colon(self.place.member(name));
                Ok(Step::Read(rest))
            }
            wrong => Err(Wrong(wrong, "a member name is expected")),
        }
    }

    fn name<'a>(&mut self, bytes: &'a [u8]) -> Result<Step<'a>, Wrong<'a>> {
        let rest = take(&mut self.text, bytes)?;
        if rest.is_some() {
            self.state = State::Colon(self.place.member(self.text.as_bytes()));
        }
        Ok(Step::Read(rest.unwrap_or_default()))
    }

    fn colon<'a>(&mut self, bytes: &'a [u8], interest: Interest) -> Result<Step<'a>, Wrong<'a>> {
        match without_space(bytes) {
            [] => Ok(Step::Read(&[])),
            [b':', rest @ ..] => {
                self.state = State::Value(interest);
                Ok(Step::Read(rest))
            }
            wrong => Err(Wrong(wrong, "a colon is expected")),
        }
    }

    fn value<'a>(&mut self, bytes: &'a [u8], interest: Interest, receiver: &mut impl Receiver) -> Result<Step<'a>, Wrong<'a>> {
        self.state = State::Value(interest);
        let bytes = without_space(bytes);
        let Some((first, rest)) = bytes.split_first() else { return Ok(Step::Read(&[])) };
        let opened = match first {
            b'{' => Shape::Object,
            b'[' => Shape::Array,
            b'"' => return Ok(self.string(rest, interest, receiver)),
            b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
                self.text.begin(MAX_SCALAR);
                self.state = State::Scalar(interest);
                return self.scalar(bytes, interest, receiver);
            }
            _ => return Err(Wrong(bytes, "a value is expected")),
        };
        match interest {
            Interest::Inside(place) if place.shape() == opened => self.enter(place, receiver),
            Interest::Inside(_) | Interest::Nothing | Interest::Text(_) | Interest::Number(_) => {
                not_as_wanted(interest, Instead::Value, receiver);
                self.nesting = Nesting::new(1);
                self.state = State::Ignored(None);
            }
        }
        Ok(Step::Read(rest))
    }

    /// Begins a string; `bytes` begins after its opening quote.
    fn string<'a>(&mut self, bytes: &'a [u8], interest: Interest, receiver: &mut impl Receiver) -> Step<'a> {
        let Interest::Text(field) = interest else {
            not_as_wanted(interest, Instead::Value, receiver);
            return self.ignored_string(bytes, false);
        };
        if let Some((text, rest)) = text::split_plain(bytes) {
            let next = receiver.text(self.place, field, &kept::text(text, field.limit()));
            self.proceed(next);
            return Step::Read(rest);
        }
        self.text.begin(field.limit());
        self.state = State::Text(field);
        Step::Read(bytes)
    }

    fn text<'a>(&mut self, bytes: &'a [u8], field: Field, receiver: &mut impl Receiver) -> Result<Step<'a>, Wrong<'a>> {
        let rest = take(&mut self.text, bytes)?;
        if rest.is_some() {
            let next = receiver.text(self.place, field, &self.text.decoded());
            self.proceed(next);
        }
        Ok(Step::Read(rest.unwrap_or_default()))
    }

    fn ignored_string<'a>(&mut self, bytes: &'a [u8], escaped: bool) -> Step<'a> {
        self.state = State::IgnoredString { escaped: false };
        let mut rest = if escaped { bytes.get(1..).unwrap_or_default() } else { bytes };
        while let Some(stop) = text::stop(rest) {
            match rest.get(stop..).unwrap_or_default() {
                [b'\\', _, after @ ..] => rest = after,
                [b'\\'] => {
                    self.state = State::IgnoredString { escaped: true };
                    return Step::Read(&[]);
                }
                closed => {
                    self.state = State::AfterValue;
                    return Step::Read(closed.get(1..).unwrap_or_default());
                }
            }
        }
        Step::Read(&[])
    }

    fn scalar<'a>(&mut self, bytes: &'a [u8], interest: Interest, receiver: &mut impl Receiver) -> Result<Step<'a>, Wrong<'a>> {
        let end = bytes.iter().position(|byte| !matches!(byte, b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z'));
        let (part, rest) = bytes.split_at_checked(end.unwrap_or(bytes.len())).unwrap_or((bytes, &[]));
        self.text.append(part);
        if rest.is_empty() {
            return Ok(Step::Read(rest));
        }
        match (self.text.as_bytes(), interest) {
            ([b'-' | b'0'..=b'9', ..], Interest::Number(field)) => {
                if let Some(number) = str::from_utf8(self.text.as_bytes()).ok().and_then(|digits| digits.parse().ok()) {
                    receiver.number(field, number);
                }
            }
            ([b'-' | b'0'..=b'9', ..] | b"true" | b"false", _) => not_as_wanted(interest, Instead::Value, receiver),
            (b"null", _) => not_as_wanted(interest, Instead::Null, receiver),
            _ => return Err(Wrong(rest, "a value is expected")),
        }
        self.state = State::AfterValue;
        Ok(Step::Read(rest))
    }

    fn ignored<'a>(&mut self, bytes: &'a [u8], end_of: Option<ValuePath>, receiver: &mut impl Receiver) -> Step<'a> {
        let rest = self.nesting.end_within(bytes).and_then(|end| bytes.get(end..));
        match (rest, end_of) {
            (None, _) => Step::Read(&[]),
            (Some(rest), None) => {
                self.state = State::AfterValue;
                Step::Read(rest)
            }
            (Some(rest), Some(place)) => {
                self.place = place;
                self.leave(rest, receiver)
            }
        }
    }

    fn after_value<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Result<Step<'a>, Wrong<'a>> {
        match (self.place.shape(), without_space(bytes)) {
            (_, []) => Ok(Step::Read(&[])),
            (Shape::Object, [b'}', rest @ ..]) | (Shape::Array, [b']', rest @ ..]) => Ok(self.leave(rest, receiver)),
            (Shape::Object, [b',', rest @ ..]) => self.before_name(rest),
            (Shape::Array, [b',', rest @ ..]) => {
                self.state = State::Value(self.place.element());
                Ok(Step::Read(rest))
            }
            (_, wrong) => Err(Wrong(wrong, "a comma or a closing bracket is expected")),
        }
    }

    fn enter(&mut self, place: ValuePath, receiver: &mut impl Receiver) {
        self.place = place;
        let next = receiver.enter(place);
        self.proceed(next);
        if next == Next::Read {
            self.state = State::AfterOpen;
        }
    }

    fn leave<'a>(&mut self, rest: &'a [u8], receiver: &mut impl Receiver) -> Step<'a> {
        let left = self.place;
        let next = receiver.leave(left);
        match left.parent() {
            Some(parent) if left != self.root => {
                self.place = parent;
                self.proceed(next);
                Step::Read(rest)
            }
            Some(_) | None => Step::Complete(rest),
        }
    }

    /// Continues after a value in the current place.
    fn proceed(&mut self, next: Next) {
        self.state = match next {
            Next::Read => State::AfterValue,
            Next::SkipToEndOf(end_of) => {
                let around = |place: &ValuePath| place.parent();
                let levels =
                    std::iter::successors(Some(self.place), around).take_while(|place| *place != end_of).fold(1, |n, _| n + 1);
                self.nesting = Nesting::new(levels);
                State::Ignored(Some(end_of))
            }
        };
    }
}

/// Continues reading `text`. Returns the bytes after it, or `None` if it needs more bytes.
fn take<'a>(text: &mut Text, bytes: &'a [u8]) -> Result<Option<&'a [u8]>, Wrong<'a>> {
    match text.take(bytes) {
        Taken::All => Ok(None),
        Taken::UpTo(end) => Ok(bytes.get(end..)),
        Taken::Malformed(at) => Err(Wrong(bytes.get(at..).unwrap_or_default(), "unknown escape in a string")),
    }
}

fn not_as_wanted(interest: Interest, instead: Instead, receiver: &mut impl Receiver) {
    if let Interest::Inside(place) = interest {
        receiver.misshapen(place, instead);
    }
}

/// `bytes` without leading insignificant whitespace (RFC 8259 §2).
#[inline]
pub(super) fn without_space(bytes: &[u8]) -> &[u8] {
    let space = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
    bytes.get(space..).unwrap_or_default()
}
