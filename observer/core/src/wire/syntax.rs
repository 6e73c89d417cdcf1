//! The interface between the syntaxes, which know how values are written, and `meaning`, which interprets them.

use super::meaning::{Field, ValuePath};

/// A notation of values: JSON, CBOR, protobuf. It reads the values at the interesting places of its input ([`ValuePath`]) and skips
/// everything else.
///
/// A syntax reads one document, or a series of watch events, from chunks that may be cut anywhere. It keeps a few words and at most
/// one string.
pub(super) trait Syntax: Send + std::fmt::Debug {
    /// A reader of one document, or of watch events.
    fn new(root: Root) -> Self;

    /// Reads a chunk, at most up to the end of the document or the event.
    fn push(&mut self, bytes: &[u8], receiver: &mut impl Receiver) -> Progress;

    /// Notes `length` missing bytes; adding them to an offset may overflow.
    fn gap(&mut self, length: u64) -> AfterGap;

    /// Notes the end of a message that contains an event ([`Root::Messages`]). By default, for values that contain their own
    /// length, it has no effect.
    fn end_message(&mut self, _receiver: &mut impl Receiver) -> Progress {
        Progress::Pending
    }

    /// Notes the end of the body.
    fn finish(&mut self, receiver: &mut impl Receiver) -> Ending;

    /// Number of leading `bytes` that may follow a document because they have no meaning, such as whitespace.
    fn meaningless(bytes: &[u8]) -> usize;
}

/// The structure of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A list, a single object or a `Status`.
    Document,
    /// Watch events, one after another.
    Events,
    /// Watch events, one after another, each in a message whose end the caller notes.
    Messages,
}

impl Root {
    /// The outermost place of the body.
    pub(super) const fn place(self) -> ValuePath {
        match self {
            Self::Document => ValuePath::Object,
            Self::Events | Self::Messages => ValuePath::Event,
        }
    }
}

/// The result of reading a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The chunk was read to its end.
    Pending,
    /// The document or event ended at this offset.
    Complete(usize),
    /// After a gap, an event has provably begun. Up to `offset` was read. Of the bytes read so far, `begun` belong to the event;
    /// some may lie in the chunk before.
    Resumed {
        /// Bytes of the chunk that were read.
        offset: usize,
        /// Bytes of the event among those that were read so far.
        begun: u64,
    },
    /// The byte at this offset is invalid, for this reason.
    Malformed(usize, &'static str),
}

/// The effect of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterGap {
    /// The gap lay in skipped bytes, and reading continues.
    Reading,
    /// An item or the metadata of a document is lost completely, and reading continues after it.
    Without(ValuePath),
    /// The event is lost; reading resumes at a later one whose beginning can be proved.
    Lost,
    /// The place of the following bytes is unknown.
    Blind,
}

/// Where the body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Before the document, or between two events.
    Between,
    /// Within a document or an event.
    Inside,
    /// At the end of a document that does not mark its own end, or of an event whose missing last bytes have no meaning.
    Complete,
}

/// Takes the values that a syntax finds.
pub(super) trait Receiver {
    /// The value at `place` begins.
    fn enter(&mut self, place: ValuePath) -> Next;
    /// The value at `place` ended.
    fn leave(&mut self, place: ValuePath) -> Next;
    /// A string in `place`, cut at the limit of its field.
    fn text(&mut self, place: ValuePath, field: Field, text: &str) -> Next;
    /// An integer.
    fn number(&mut self, field: Field, number: i64);
    /// The value at `place` does not have the shape of the place.
    fn misshapen(&mut self, place: ValuePath, instead: Instead);
}

/// The value found instead of one with the right shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// `null`, which Go writes for an empty slice or map.
    Null,
    /// Any other value.
    Value,
}

/// How a syntax continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Read the next value.
    Read,
    /// Skip to the end of this place, which is the current one or one around it.
    SkipToEndOf(ValuePath),
}
