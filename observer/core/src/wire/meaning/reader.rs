//! What the readers of documents and of watches have in common.

use std::fmt::Debug;

use crate::wire::Fact;

/// Reads one body, in any chunking, and tells its facts.
pub(in crate::wire) trait Reader: Debug + Send {
    /// Reads the next bytes.
    fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Fact));

    /// Notes `length` missing bytes, and falls silent unless what follows can be placed.
    fn gap(&mut self, length: u64);

    /// Notes the end of a message, where the body comes in messages.
    fn end_message(&mut self, _sink: &mut dyn FnMut(Fact)) {}

    /// Notes the end of the body.
    fn finish(&mut self, sink: &mut dyn FnMut(Fact));

    /// Falls silent with a reason.
    fn malformed(&mut self, what: &'static str, sink: &mut dyn FnMut(Fact));

    /// Falls silent.
    fn silence(&mut self);

    /// Whether nothing more will be said.
    fn is_silent(&self) -> bool;
}
