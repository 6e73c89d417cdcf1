//! Ends the watches of a client that has left, although its connection is still half open.
//!
//! A client that closes its half can no longer read a watch from an API server: Go's server cancels the open requests of such a
//! connection (golang/go `net/http/server.go`, `connReader.handleReadError`; `net/http/h2_bundle.go`, `serverConn.serve`). If the
//! connection to the server is dead, the server's half may never end.

use super::event::Event;
use super::observe::Observer;
use crate::exchange::Exchange;
use crate::observation::{ConnectionEnd, ConnectionId, ExchangeEnd, ExchangeId};
use crate::time::Timestamp;

impl Observer {
    /// Ends the open watches of a connection whose client ended its half with `end`.
    pub(super) fn end_watches_of(
        &mut self,
        connection: ConnectionId,
        at: Timestamp,
        end: ConnectionEnd,
        emit: &mut dyn FnMut(Event),
    ) {
        let is_watch = |exchange: &Exchange| exchange.watch.is_some() && exchange.upgraded.is_none();
        let watches: Vec<ExchangeId> =
            self.open_on(connection).filter(|(_, exchange)| is_watch(exchange)).map(|(id, _)| id).collect();
        for watch in watches {
            self.end(watch, at, ExchangeEnd::Cut(Some(end)), emit);
        }
    }
}
