//! Responses that wait for their reader, and what follows for the reflectors that read them.

use super::event::Event;
use super::following::Telling;
use super::owner::Observer;
use crate::http::StreamId;
use crate::observation::{ConnectionId, ExchangeId, What};
use crate::time::Timestamp;

impl Observer {
    /// What is open on `stream`, or on all of `connection`, has to wait, or can go on.
    pub(super) fn note_blockage(
        &mut self,
        connection: ConnectionId,
        stream: Option<StreamId>,
        at: Timestamp,
        what: &What,
        told: &mut dyn FnMut(Event),
    ) {
        let several = self.upstreams.several();
        let (first, last) = stream.map_or((StreamId(0), StreamId(u64::MAX)), |stream| (stream, stream));
        let of = |stream| ExchangeId { connection, stream };
        for (_, open) in self.open.range_mut(of(first)..=of(last)) {
            open.apply(at, what);
            self.following.blockage_changed(open, at, Telling { told, several });
        }
    }
}
