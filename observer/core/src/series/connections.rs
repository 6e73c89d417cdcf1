//! Counts connections, and bodies that were not read.

use super::family::Family;
use super::label::{Label, LabelSet};
use super::store::Series;
use super::words::{ProtocolWord, SenderWord, UnreadWord};
use crate::http::{Direction, Protocol};
use crate::observation::BodyNotRead;

impl Series {
    /// Counts a new connection.
    pub(crate) fn count_connection(&mut self, protocol: Option<Protocol>) {
        self.add(Family::Connections, &LabelSet::default().with(Label::Protocol, ProtocolWord::of(protocol).number()), 1);
    }

    /// Counts a frame that ends a connection, by its sender.
    pub(crate) fn count_goaway(&mut self, by: Direction) {
        self.add(Family::GoAways, &LabelSet::default().with(Label::Sender, SenderWord::of(by).number()), 1);
    }

    /// Counts a body that was not read.
    pub(crate) fn count_unread(&mut self, reason: &BodyNotRead) {
        self.add(Family::UnreadBodies, &LabelSet::default().with(Label::Unread, UnreadWord::of(reason).number()), 1);
    }
}
