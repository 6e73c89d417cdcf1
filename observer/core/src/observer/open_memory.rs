//! Bounds the memory of requests under way.
//!
//! A request is counted when it begins, and again when its answer may have added strings. If this raises the total above the bound,
//! the request is no longer followed.

use super::event::Event;
use super::observe::Observer;
use crate::exchange::Exchange;
use crate::http::StreamId;
use crate::observation::{ConnectionId, ExchangeEnd, ExchangeId, ExchangeObservation};
use crate::time::Timestamp;

impl Observer {
    /// Follows a new request, if there is room. Returns whether it is followed.
    pub(super) fn admit(&mut self, mut exchange: Box<Exchange>) -> bool {
        let memory = exchange.memory();
        if self.open.len() >= self.limits.open_exchanges || !self.open_memory.has_room(memory) {
            self.missed.exchanges_dropped = self.missed.exchanges_dropped.saturating_add(1);
            return false;
        }
        exchange.counted_memory = memory;
        self.open_memory.add(memory);
        let process = self.connections.get(exchange.id.connection).and_then(|connection| connection.process.as_ref());
        self.series.begin(&mut exchange, process);
        self.open.insert(exchange.id, exchange);
        true
    }

    /// Counts the memory of a request again, and stops following it if the bound is exceeded.
    pub(super) fn count_memory(&mut self, id: ExchangeId, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        let Some(open) = self.open.get_mut(id) else { return };
        let memory = open.memory();
        self.open_memory.recount(&mut open.counted_memory, memory);
        if self.open_memory.is_exceeded() {
            self.missed.exchanges_dropped = self.missed.exchanges_dropped.saturating_add(1);
            self.leave(id, at, emit);
        }
    }

    /// Stops following the open exchanges on `connection`, which continue unobserved.
    pub(super) fn lose_sight_of(&mut self, connection: ConnectionId, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        let lost: Vec<ExchangeId> = self.open_on(connection).map(|(id, _)| id).collect();
        for exchange in lost {
            self.leave(exchange, at, emit);
        }
    }

    /// The open exchanges of a connection, in the order of their streams.
    pub(super) fn open_on(&self, connection: ConnectionId) -> impl Iterator<Item = (ExchangeId, &Exchange)> {
        let stream = |number| ExchangeId { connection, stream: StreamId(number) };
        self.open.keys(stream(0)..=stream(u64::MAX)).filter_map(|id| Some((id, self.open.get(id)?.as_ref())))
    }

    /// Ends an exchange. If the exchange is not open, nothing happens.
    pub(super) fn end(&mut self, exchange: ExchangeId, at: Timestamp, end: ExchangeEnd, emit: &mut dyn FnMut(Event)) {
        self.on(exchange, at, &ExchangeObservation::Ended { end });
        self.finish(exchange, at, emit);
    }

    /// Stops following an open exchange, which may continue.
    pub(super) fn leave(&mut self, exchange: ExchangeId, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        self.end(exchange, at, ExchangeEnd::NotObserved, emit);
    }
}
