//! Parses CBOR, and passes the values at the interesting places (`ValuePath`) to a receiver.

use super::head::{Head, HeadReader};
use super::nesting::{Level, Nesting, STRAY_BREAK, TOO_MANY};
use crate::wire::kept::{self, Kept};
use crate::wire::meaning::{Field, Interest, Shape, ValuePath};
use crate::wire::syntax::{AfterGap, Ending, Instead, Next, Progress, Receiver, Root, Syntax};

/// Longest key that is read, in bytes; all interesting keys are shorter.
const MAX_KEY: usize = 64;

/// Reads a document or watch events in CBOR.
#[derive(Debug)]
pub(in crate::wire) struct Cbor {
    root: ValuePath,
    place: ValuePath,
    /// Number of items left at each open place, from the outermost to the innermost; pairs, for a map. Places nest at most eight
    /// deep.
    open: Vec<Level>,
    state: State,
    head: HeadReader,
    nesting: Nesting,
    text: Kept,
}

/// Position of the parser in the bytes.
///
/// ```text
/// Start ─ a map ─► Entry ─ a key ─► Text ─► Value ─► … ─► Entry
/// ```
///
/// `…` is one of `Text`, `Ignored`, or the `Entry` of an inner place. In an array, an `Entry` is a value. After the last one, the
/// next `Entry` is that of the enclosing place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the outermost map, or between its tag and the map.
    Start { tagged: bool },
    /// Before a key of a map or an element of an array, or their end.
    Entry,
    /// Before the value of a key.
    Value(Interest),
    /// In a string that is cut by the chunk, or that comes in chunks of its own.
    Text { kind: Kind, left: u64, more: bool },
    /// In a skipped item.
    Ignored(Ignored),
    /// After the outermost map.
    Ended,
}

/// The use of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Of(Field),
    Key,
}

/// How far skipping goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ignored {
    Key,
    Value,
    RestOf(ValuePath),
}

/// Bytes that begin with an invalid one, and the reason.
struct Wrong<'a>(&'a [u8], &'static str);

/// The rest of the bytes after a step.
type Step<'a> = Result<&'a [u8], Wrong<'a>>;

impl Syntax for Cbor {
    fn new(root: Root) -> Self {
        let root = root.place();
        Self {
            root,
            place: root,
            open: Vec::new(),
            state: State::Start { tagged: false },
            head: HeadReader::default(),
            nesting: Nesting::default(),
            text: Kept::default(),
        }
    }

    fn push(&mut self, bytes: &[u8], receiver: &mut impl Receiver) -> Progress {
        let mut rest = bytes;
        loop {
            if self.close_ended(receiver) {
                return Progress::Complete(bytes.len() - rest.len());
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

    fn gap(&mut self, _length: u64) -> AfterGap {
        AfterGap::Blind
    }

    fn finish(&mut self, _receiver: &mut impl Receiver) -> Ending {
        if self.state == Self::STARTING && self.head.is_empty() { Ending::Between } else { Ending::Inside }
    }

    /// No bytes may follow: a sequence has nothing between its items, and a document is one item.
    fn meaningless(_bytes: &[u8]) -> usize {
        0
    }
}

impl Cbor {
    const STARTING: State = State::Start { tagged: false };

    /// Closes the places that end here without a further byte; returns whether that includes the outermost map.
    fn close_ended(&mut self, receiver: &mut impl Receiver) -> bool {
        loop {
            match self.state {
                State::Entry if self.open.last() == Some(&Level::Items(0)) => self.leave(receiver),
                State::Ignored(ignored) if self.nesting.is_at_end() => self.end_ignored(ignored, receiver),
                State::Ended => {
                    self.open.clear();
                    self.state = Self::STARTING;
                    return true;
                }
                State::Start { .. } | State::Entry | State::Value(_) | State::Text { .. } | State::Ignored(_) => return false,
            }
        }
    }

    fn step<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Step<'a> {
        match self.state {
            State::Start { .. } => self.start(bytes, receiver),
            State::Entry => self.entry(bytes, receiver),
            State::Value(interest) => self.value(bytes, interest, receiver),
            State::Text { kind, left: 0, more: true } => self.chunk(bytes, kind, receiver),
            State::Text { kind, left, more } => Ok(self.text(bytes, kind, left, more, receiver)),
            State::Ignored(_) => self.ignored(bytes),
            State::Ended => Ok(bytes),
        }
    }

    fn start<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Step<'a> {
        let is_map_or_tag = |byte: &u8| matches!(byte >> 5, 5 | 6);
        if self.head.is_empty() && !bytes.first().is_some_and(is_map_or_tag) {
            return Err(Wrong(bytes, "not a CBOR map"));
        }
        let (head, rest) = self.head(bytes)?;
        self.state = State::Start { tagged: true };
        if let Some(Head::Map(pairs)) = head {
            self.enter(self.root, pairs, rest, receiver)?;
        }
        Ok(rest)
    }

    fn entry<'a>(&mut self, bytes: &'a [u8], receiver: &mut impl Receiver) -> Step<'a> {
        let (Some(head), rest) = self.head(bytes)? else { return Ok(&[]) };
        match (head, self.open.last_mut()) {
            (Head::Tag, _) => return Ok(rest),
            (Head::Break, Some(Level::Indefinite)) => {
                self.leave(receiver);
                return Ok(rest);
            }
            (Head::Break, _) => return Err(Wrong(bytes, STRAY_BREAK)),
            (_, Some(Level::Items(left))) => *left = left.saturating_sub(1),
            (_, Some(Level::Indefinite) | None) => {}
        }
        match (self.place.shape(), head) {
            (Shape::Array, _) => self.value_of(head, rest, self.place.element(), receiver),
            (Shape::Object, Head::String(length)) => Ok(self.begin_text(rest, Kind::Key, length, receiver)),
            (Shape::Object, _) => self.ignore(head, Ignored::Key, rest),
        }
    }

    fn value<'a>(&mut self, bytes: &'a [u8], interest: Interest, receiver: &mut impl Receiver) -> Step<'a> {
        match self.head(bytes)? {
            (None, _) => Ok(&[]),
            (Some(Head::Tag), rest) => Ok(rest),
            (Some(Head::Break), _) => Err(Wrong(bytes, STRAY_BREAK)),
            (Some(head), rest) => self.value_of(head, rest, interest, receiver),
        }
    }

    fn value_of<'a>(&mut self, head: Head, rest: &'a [u8], interest: Interest, receiver: &mut impl Receiver) -> Step<'a> {
        match (head, interest) {
            (Head::String(length), Interest::Text(field)) => Ok(self.begin_text(rest, Kind::Of(field), length, receiver)),
            (Head::Integer(Some(number)), Interest::Number(field)) => {
                receiver.number(field, number);
                self.state = State::Entry;
                Ok(rest)
            }
            (Head::Map(length), Interest::Inside(place)) if place.shape() == Shape::Object => {
                self.enter(place, length, rest, receiver)?;
                Ok(rest)
            }
            (Head::Array(length), Interest::Inside(place)) if place.shape() == Shape::Array => {
                self.enter(place, length, rest, receiver)?;
                Ok(rest)
            }
            _ => {
                if let Interest::Inside(place) = interest {
                    receiver.misshapen(place, if head == Head::Null { Instead::Null } else { Instead::Value });
                }
                self.ignore(head, Ignored::Value, rest)
            }
        }
    }

    fn begin_text<'a>(&mut self, bytes: &'a [u8], kind: Kind, length: Option<u64>, receiver: &mut impl Receiver) -> &'a [u8] {
        let whole = length.and_then(|length| usize::try_from(length).ok()).and_then(|length| bytes.split_at_checked(length));
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
        self.state = State::Text { kind, left: length.unwrap_or_default(), more: length.is_none() };
        bytes
    }

    fn text<'a>(&mut self, bytes: &'a [u8], kind: Kind, left: u64, more: bool, receiver: &mut impl Receiver) -> &'a [u8] {
        let piece = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
        let (piece, rest) = bytes.split_at_checked(piece).unwrap_or((bytes, &[]));
        self.text.push(piece);
        let left = left - piece.len() as u64;
        self.state = State::Text { kind, left, more };
        if left == 0 && !more {
            self.end_text(kind, receiver);
        }
        rest
    }

    /// Reads the head of the next chunk of a string without a length, or the string's end.
    fn chunk<'a>(&mut self, bytes: &'a [u8], kind: Kind, receiver: &mut impl Receiver) -> Step<'a> {
        match self.head(bytes)? {
            (None, _) => {}
            (Some(Head::String(Some(left))), rest) => {
                self.state = State::Text { kind, left, more: true };
                return Ok(rest);
            }
            (Some(Head::Break), rest) => {
                self.end_text(kind, receiver);
                return Ok(rest);
            }
            (Some(_), rest) => return Err(Wrong(rest, "an indefinite-length string with something other than a chunk")),
        }
        Ok(&[])
    }

    fn end_text(&mut self, kind: Kind, receiver: &mut impl Receiver) {
        let text = std::mem::take(&mut self.text);
        match kind {
            Kind::Of(field) => self.emit(field, &text.decoded(), receiver),
            Kind::Key => self.note_key(text.as_bytes()),
        }
    }

    fn emit(&mut self, field: Field, text: &str, receiver: &mut impl Receiver) {
        let next = receiver.text(self.place, field, text);
        self.proceed(next);
    }

    fn note_key(&mut self, key: &[u8]) {
        self.state = State::Value(self.place.member(key));
    }

    /// Skips the item whose head was read.
    fn ignore<'a>(&mut self, head: Head, ignored: Ignored, rest: &'a [u8]) -> Step<'a> {
        self.nesting.begin_after(head).map_err(|what| Wrong(rest, what))?;
        self.state = State::Ignored(ignored);
        Ok(rest)
    }

    fn ignored<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        let rest = self.nesting.end_within(bytes).map_err(|(rest, what)| Wrong(rest, what))?;
        Ok(rest.unwrap_or_default())
    }

    fn end_ignored(&mut self, ignored: Ignored, receiver: &mut impl Receiver) {
        match ignored {
            Ignored::Key => self.state = State::Value(Interest::Nothing),
            Ignored::Value => self.state = State::Entry,
            Ignored::RestOf(place) => {
                let within = self.levels_within(place) - 1;
                self.open.truncate(self.open.len().saturating_sub(within));
                self.place = place;
                self.leave(receiver);
            }
        }
    }

    fn enter<'a>(
        &mut self,
        place: ValuePath,
        length: Option<u64>,
        rest: &'a [u8],
        receiver: &mut impl Receiver,
    ) -> Result<(), Wrong<'a>> {
        if length.is_some_and(|length| length > u64::MAX / 2) {
            return Err(Wrong(rest, TOO_MANY));
        }
        self.open.push(length.map_or(Level::Indefinite, Level::Items));
        self.place = place;
        self.state = State::Entry;
        let next = receiver.enter(place);
        self.proceed(next);
        Ok(())
    }

    fn leave(&mut self, receiver: &mut impl Receiver) {
        let left = self.place;
        self.open.pop();
        let next = receiver.leave(left);
        match left.parent() {
            Some(parent) if left != self.root => {
                self.place = parent;
                self.proceed(next);
            }
            Some(_) | None => self.state = State::Ended,
        }
    }

    /// Continues after a value in the current place.
    fn proceed(&mut self, next: Next) {
        self.state = State::Entry;
        if let Next::SkipToEndOf(place) = next {
            let levels = self.levels_within(place);
            let shapes = std::iter::successors(Some(self.place), |place| place.parent()).map(ValuePath::shape).take(levels);
            let mut left: Vec<Level> = self.open.iter().rev().zip(shapes).map(|(level, shape)| items(*level, shape)).collect();
            left.reverse();
            self.nesting.begin(left);
            self.state = State::Ignored(Ignored::RestOf(place));
        }
    }

    /// Number of open places from `place` to the innermost.
    fn levels_within(&self, place: ValuePath) -> usize {
        let around = |inner: &ValuePath| inner.parent();
        1 + std::iter::successors(Some(self.place), around).take_while(|inner| *inner != place).count()
    }

    fn head<'a>(&mut self, bytes: &'a [u8]) -> Result<(Option<Head>, &'a [u8]), Wrong<'a>> {
        self.head.take(bytes).map_err(|what| Wrong(bytes, what))
    }
}

/// The items left at a place; a pair counts as two.
fn items(level: Level, shape: Shape) -> Level {
    match (level, shape) {
        (Level::Items(pairs), Shape::Object) => Level::Items(pairs.saturating_mul(2)),
        (Level::Items(_) | Level::Indefinite, _) => level,
    }
}
