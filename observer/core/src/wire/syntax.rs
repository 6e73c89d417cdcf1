//! Between the syntaxes, which know how values are written, and the meaning, which knows what they say.

use super::meaning::{Field, Place};

/// How values are written: JSON, CBOR, protobuf. It walks the interesting places of what it is fed and skips everything else.
///
/// A syntax reads one document, or one watch event after another, from chunks that may be cut anywhere; it keeps a few words and
/// at most one string.
pub(super) trait Syntax: Send + std::fmt::Debug {
    /// A reader of one document, or of watch events.
    fn new(root: Root) -> Self;

    /// Reads a chunk, at most up to the end of the document or the event.
    fn push(&mut self, bytes: &[u8], receiver: &mut impl Receiver) -> Progress;

    /// Notes `length` missing bytes. They may reach beyond anything that can be counted.
    fn gap(&mut self, length: u64) -> AfterGap;

    /// Notes the end of a message that holds an event ([`Root::Messages`]). Where values say themselves how long they are, it tells nothing.
    fn end_message(&mut self, _receiver: &mut impl Receiver) -> Progress {
        Progress::Pending
    }

    /// Notes the end of the body.
    fn finish(&mut self, receiver: &mut impl Receiver) -> Ending;

    /// How many of the first `bytes` mean nothing behind a document.
    fn meaningless(bytes: &[u8]) -> usize;
}

/// What a body is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// One document.
    Document,
    /// Watch events, one after another.
    Events,
    /// Watch events, one after another, each in a message whose end is told.
    Messages,
}

impl Root {
    /// The outermost place.
    pub(super) const fn place(self) -> Place {
        match self {
            Self::Document => Place::Object,
            Self::Events | Self::Messages => Place::Event,
        }
    }
}

/// What became of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It was read to its end.
    Pending,
    /// The document or event ended at this offset.
    Complete(usize),
    /// After a gap: an event has proved to begin. Up to `offset` was read; of that, `begun` bytes are the event's, and may lie in the
    /// chunk before.
    Resumed {
        /// Bytes of the chunk that were read.
        offset: usize,
        /// Bytes of the event among those that were read so far.
        begun: u64,
    },
    /// The byte at this offset cannot be there.
    Malformed(usize, &'static str),
}

/// What a gap has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterGap {
    /// It was in what means nothing, and what follows can be read.
    Reading,
    /// An item or the metadata of a document is lost, as a whole, and what follows can be read.
    Without(Place),
    /// The event is lost; a later one will be found, if its beginning can be proved.
    Lost,
    /// Where what follows belongs cannot be known.
    Blind,
}

/// Where the end of the body came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Before the document, or between two events.
    Between,
    /// In the middle.
    Inside,
    /// At the end of the document, which does not say so itself, or of an event whose last bytes are missing and mean nothing.
    Complete,
}

/// Takes what a syntax finds.
pub(super) trait Receiver {
    /// The value at `place` begins.
    fn enter(&mut self, place: Place) -> Next;
    /// The value at `place` ended.
    fn leave(&mut self, place: Place) -> Next;
    /// A string in `place`, cut at the limit of its field.
    fn text(&mut self, place: Place, field: Field, text: &str) -> Next;
    /// A whole number.
    fn number(&mut self, field: Field, number: i64);
    /// There is a value where `place` should be, but none of its shape.
    fn misshapen(&mut self, place: Place, instead: Instead);
}

/// What is there instead of a value of the right shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// `null`.
    Null,
    /// Anything else.
    Value,
}

/// How to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Read on.
    Read,
    /// Nothing more is wanted of `Place`, which is the current one or one around it: go to its end.
    SkipToEndOf(Place),
}
