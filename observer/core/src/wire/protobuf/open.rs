//! The messages that are open, from the outermost in.

use super::message::Message;
use crate::wire::meaning::{Place, Shape};

/// A message that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// Which.
    pub message: Message,
    /// Where its members are.
    pub place: Place,
    /// The offset in the body at which it ends.
    pub end: u64,
    /// Whether it is all of its place, not only more of it.
    pub is_whole: bool,
}

impl Open {
    /// Whether nothing more is read of `place` where this message ends. Of an array each message is a piece, and stands for all.
    pub(super) fn ends(&self, place: Place) -> bool {
        self.is_whole && (self.place == place || place.shape() == Shape::Array && self.place.parent() == Some(place))
    }
}

/// The open messages. As no message that is read holds one of its own kind, they are never more than seven.
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

    /// Whether nothing but an event is open.
    pub(super) fn is_event_alone(&self) -> bool {
        matches!(self.0[..], [Open { place: Place::Event, .. }])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Closes what is open within the innermost message that ends `place`, and says where that ends. Where there is none, the innermost of
    /// all.
    pub(super) fn unwind_to(&mut self, place: Place) -> Option<u64> {
        if let Some(index) = self.0.iter().rposition(|open| open.ends(place)) {
            self.0.truncate(index + 1);
        }
        self.top().map(|open| open.end)
    }

    /// Forgets an item, or a list's or an object's metadata, within which the bytes up to `after` are, and says which and where it ends. A `Status`
    /// without its metadata would be another one.
    pub(super) fn lose(&mut self, after: u64) -> Option<(Place, u64)> {
        let of_status = self.0.iter().any(|open| open.message == Message::Status);
        let is_loss = |place| place == Place::Item || place == Place::Metadata && !of_status;
        let index = self.0.iter().rposition(|open| is_loss(open.place) && after <= open.end)?;
        let Open { place, end, .. } = *self.0.get(index)?;
        self.0.truncate(index);
        Some((place, end))
    }
}
