//! The common interface of the readers of documents and of watches.

use std::fmt::Debug;

use crate::wire::Fact;

/// Reads one body, in any chunking, and emits its facts.
pub(in crate::wire) trait Reader: Debug + Send {
    /// Reads the next bytes.
    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact));

    /// Notes `length` missing bytes. Emits no further facts, unless the place of the following bytes is known.
    fn gap(&mut self, length: u64);

    /// Notes the end of a message, if the body comes in messages.
    fn end_message(&mut self, _sink: &mut dyn FnMut(Fact)) {}

    /// Notes the end of the body.
    fn finish(&mut self, sink: &mut dyn FnMut(Fact));

    /// Emits an error, and then no further facts.
    fn malformed(&mut self, what: &'static str, sink: &mut dyn FnMut(Fact));

    /// Stops emitting facts.
    fn silence(&mut self);

    /// Whether no further facts will be emitted.
    fn is_silent(&self) -> bool;
}
