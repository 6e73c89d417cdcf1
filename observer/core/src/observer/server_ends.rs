//! Decides whether a connection closed by the server proves that the server's snapshots are gone.
//!
//! A restart of the API server loses its snapshots, so a verdict that relies on a snapshot would be wrong after the restart.
//! Refused connections show a restart. Behind a load balancer, no connection is refused, and one closed connection may be the only
//! sign. Other connections that stay open prove nothing, since each may lead to another API server. So one closed connection is
//! enough evidence, unless there is another explanation:
//!
//! - The client asked for it: `Connection: close`, HTTP/1.0 without `keep-alive`, its own GOAWAY, or its own half ended first.
//! - The connection was upgraded (exec, port-forward, a WebSocket), and ended with the upgraded exchange.
//! - No request was under way for 90 s, the API server's idle timeout (kubernetes/apiserver `pkg/server/secure_serving.go`,
//!   `IdleTimeout`).
//!
//! None of these explains a response that the server did not complete. Forgetting snapshots needlessly costs little, because
//! revisions shown afterwards count again.

use std::time::Duration;

use super::connection::Connection;
use super::event::Event;
use super::observe::Observer;
use crate::http::Direction;
use crate::observation::{ConnectionEnd, ConnectionId, ExchangeEnd, ExchangeId};
use crate::time::Timestamp;

/// The server closes a connection after this time without a request.
const IDLE: Duration = Duration::from_secs(90);

impl Observer {
    /// The connection with this ID; added if it is new.
    pub(super) fn connection(&mut self, id: ConnectionId) -> &mut Connection {
        if self.connections.len() >= self.limits.connections && !self.connections.contains(id) {
            // Drops the oldest connection. Its end may be missing from the capture.
            self.connections.pop_first();
            self.missed.connections_forgotten = self.missed.connections_forgotten.saturating_add(1);
        }
        self.connections.get_or_default(id)
    }

    /// Notes that the client asked the server to close a connection, or asked for an upgrade, after which it closes.
    pub(super) fn expect_end(&mut self, connection: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(connection) {
            connection.ends_with_response = true;
        }
    }

    pub(super) fn note_goaway(&mut self, connection: ConnectionId, at: Timestamp, by: Direction) {
        match by {
            Direction::Request => self.expect_end(connection),
            Direction::Response => self.forget_unless_explained(connection, at),
        }
    }

    pub(super) fn half_ended(&mut self, connection: ConnectionId, at: Timestamp, end: ConnectionEnd, emit: &mut dyn FnMut(Event)) {
        let first_end = &mut self.connection(connection).first_end;
        match first_end.get_or_insert(end).direction {
            Direction::Response => self.forget_unless_explained(connection, at),
            Direction::Request => self.end_watches_of(connection, at, end, emit),
        }
    }

    /// Notes the end of an exchange: its connection may be idle now, or the server did not complete the response.
    pub(super) fn note_cut(&mut self, exchange: ExchangeId, at: Timestamp, end: ExchangeEnd) {
        let Some(connection) = self.connections.get_mut(exchange.connection) else { return };
        connection.idle_since = at;
        let by_server = matches!(end, ExchangeEnd::Cut(Some(end)) if end.direction == Direction::Response);
        if by_server && self.open.get(exchange).is_some_and(|exchange| exchange.upgraded.is_none()) {
            self.upstreams.forget(&connection.upstream);
        }
    }

    fn forget_unless_explained(&mut self, id: ConnectionId, at: Timestamp) {
        let Some(connection) = self.connections.get(id) else { return };
        let is_busy = self.open_on(id).next().is_some();
        let is_idle = !is_busy && at.since(connection.idle_since) >= IDLE;
        if !connection.ends_with_response && !is_idle {
            self.upstreams.forget(&connection.upstream);
        }
    }
}
