//! Responses that wait for their client to read, and the effect on its reflectors.

use super::event::Event;
use super::following::Emitter;
use super::observe::Observer;
use crate::http::StreamId;
use crate::observation::{ConnectionId, ExchangeId, What};
use crate::time::Timestamp;

impl Observer {
    /// Applies the start or end of a blockage to the open exchanges on `stream`, or on all of `connection`.
    pub(super) fn note_blockage(
        &mut self,
        connection: ConnectionId,
        stream: Option<StreamId>,
        at: Timestamp,
        what: &What,
        emit: &mut dyn FnMut(Event),
    ) {
        if stream.is_none() {
            self.note_connection(connection, what);
        }
        let several = self.upstreams.several();
        let (first, last) = stream.map_or((StreamId(0), StreamId(u64::MAX)), |stream| (stream, stream));
        let of = |stream| ExchangeId { connection, stream };
        for (_, open) in self.open.range_mut(of(first)..=of(last)) {
            open.apply(at, what);
            self.following.blockage_changed(open, at, Emitter { emit, several });
        }
    }

    /// Applies the blockages of its connection to a new exchange, which waits from the beginning.
    pub(super) fn inherit_blockage(&mut self, id: ExchangeId, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        let blocked = self.connections.get(&id.connection).map(|connection| connection.blocked.clone()).unwrap_or_default();
        let Some(open) = self.open.get_mut(&id).filter(|_| !blocked.is_empty()) else { return };
        for by in blocked {
            open.apply(at, &What::Blocked { connection: id.connection, stream: None, by, since: at });
        }
        self.following.blockage_changed(open, at, Emitter { emit, several: self.upstreams.several() });
    }

    fn note_connection(&mut self, connection: ConnectionId, what: &What) {
        let Some(connection) = self.connections.get_mut(&connection) else { return };
        if let What::Blocked { by, .. } | What::Unblocked { by, .. } = what {
            connection.blocked.retain(|blocked| blocked != by);
        }
        if let What::Blocked { by, .. } = what {
            connection.blocked.push(*by);
        }
    }
}
