//! The open messages, from the outermost to the innermost.

use super::message::Message;
use crate::wire::meaning::{Shape, ValuePath};

/// A message that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// Type of the message.
    pub message: Message,
    /// The place of its members.
    pub place: ValuePath,
    /// Offset in the body at which it ends.
    pub end: u64,
    /// Whether it is the complete value of its place, rather than a further part of it.
    pub is_complete: bool,
}

impl Open {
    /// Whether the end of this message is the end of `place`. An array has no message of its own, so each element counts as the
    /// complete array.
    pub(super) fn ends(&self, place: ValuePath) -> bool {
        self.is_complete && (self.place == place || place.shape() == Shape::Array && self.place.parent() == Some(place))
    }
}

/// The open messages. No message that is read contains one of its own type, so there are at most seven.
#[derive(Debug, Default)]
pub(super) struct Stack(Vec<Open>);

impl Stack {
    pub(super) fn push(&mut self, open: Open) {
        self.0.push(open);
    }

    pub(super) fn pop(&mut self) -> Option<Open> {
        self.0.pop()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The innermost message.
    pub(super) fn top(&self) -> Option<&Open> {
        self.0.last()
    }

    /// The outermost message.
    pub(super) fn bottom(&self) -> Option<&Open> {
        self.0.first()
    }

    /// Whether only an event is open.
    pub(super) fn is_event_alone(&self) -> bool {
        matches!(self.0[..], [Open { place: ValuePath::Event, .. }])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Closes all messages within the innermost one that ends `place`, and returns the end of that one. If there is none, returns
    /// the end of the innermost message.
    pub(super) fn unwind_to(&mut self, place: ValuePath) -> Option<u64> {
        if let Some(index) = self.0.iter().rposition(|open| open.ends(place)) {
            self.0.truncate(index + 1);
        }
        self.top().map(|open| open.end)
    }

    /// Drops an item, or the metadata of a list or an object, that contains all bytes up to `after`; returns its place and end. The
    /// metadata of a `Status` is not dropped, because its continue token would be missing.
    pub(super) fn lose(&mut self, after: u64) -> Option<(ValuePath, u64)> {
        let of_status = self.0.iter().any(|open| open.message == Message::Status);
        let is_loss = |place| place == ValuePath::Item || place == ValuePath::Metadata && !of_status;
        let index = self.0.iter().rposition(|open| is_loss(open.place) && after <= open.end)?;
        let Open { place, end, .. } = *self.0.get(index)?;
        self.0.truncate(index);
        Some((place, end))
    }
}
