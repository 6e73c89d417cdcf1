//! Responses that are blocked because the client does not read. Each blockage is passed on to the client's reflectors.

use super::event::Event;
use super::following::Emitter;
use super::observe::Observer;
use crate::exchange::Exchange;
use crate::http::StreamId;
use crate::observation::{Blockage, ConnectionId, ExchangeId};
use crate::time::Timestamp;

impl Observer {
    /// Notes that `stream`, or every stream of `connection`, has waited for the client since `since`.
    pub(super) fn blocked(
        &mut self,
        (connection, stream): (ConnectionId, Option<StreamId>),
        at: Timestamp,
        (by, since): (Blockage, Timestamp),
        emit: &mut dyn FnMut(Event),
    ) {
        if let (None, Some(connection)) = (stream, self.connections.get_mut(connection)) {
            connection.blocked.retain(|blocked| *blocked != by);
            connection.blocked.push(by);
        }
        self.change_blockage((connection, stream), emit, |open| open.block(at, by, since));
    }

    /// Notes that the blockage `by` of `stream`, or of all streams of `connection`, is over.
    pub(super) fn unblocked(
        &mut self,
        (connection, stream): (ConnectionId, Option<StreamId>),
        at: Timestamp,
        by: Blockage,
        emit: &mut dyn FnMut(Event),
    ) {
        if let (None, Some(connection)) = (stream, self.connections.get_mut(connection)) {
            connection.blocked.retain(|blocked| *blocked != by);
        }
        self.change_blockage((connection, stream), emit, |open| open.unblock(at, by));
    }

    /// Applies the ongoing blockages of a connection to a new exchange on it.
    pub(super) fn inherit_blockage(&mut self, id: ExchangeId, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        let blocked = self.connections.get(id.connection).map(|connection| connection.blocked.clone()).unwrap_or_default();
        let now = self.now();
        let Some(open) = self.open.get_mut(id).filter(|_| !blocked.is_empty()) else { return };
        for by in blocked {
            open.block(at, by, at);
        }
        self.following.blockage_changed(open, now, Emitter { emit, several: self.upstreams.several(), series: &mut self.series });
    }

    fn change_blockage(
        &mut self,
        (connection, stream): (ConnectionId, Option<StreamId>),
        emit: &mut dyn FnMut(Event),
        change: impl Fn(&mut Exchange),
    ) {
        let (several, now) = (self.upstreams.several(), self.now());
        let (first, last) = stream.map_or((StreamId(0), StreamId(u64::MAX)), |stream| (stream, stream));
        let of = |stream| ExchangeId { connection, stream };
        let ids: Vec<ExchangeId> = self.open.keys(of(first)..=of(last)).collect();
        for id in ids {
            let Some(open) = self.open.get_mut(id) else { continue };
            change(open);
            self.following.blockage_changed(open, now, Emitter { emit, several, series: &mut self.series });
        }
    }
}
