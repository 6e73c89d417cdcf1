//! Open connections, and what the server's end of one proves.
//!
//! A restart of the API server loses its snapshots, so a verdict that takes one for granted would be wrong after it. Where the listener refuses,
//! a restart is seen. Behind a load balancer nobody refuses, and the end of one connection may be all that is seen: each connection may lead to
//! another API server, so that others live on proves nothing. Therefore one connection is evidence enough, unless its end is explained otherwise:
//!
//! - The client asked for it: `Connection: close`, HTTP/1.0 without `keep-alive`, its own GOAWAY, or its own half ended first.
//! - The connection was upgraded (exec, port-forward, a WebSocket), and ended with what it was upgraded to.
//! - Nothing was under way for 90 s: that is the API server's idle timeout (kubernetes/apiserver `pkg/server/secure_serving.go`, `IdleTimeout`).
//!
//! A response that the server broke off is explained by none of these. To forget needlessly costs little: what is shown afterwards counts again.

use std::sync::Arc;
use std::time::Duration;

use super::owner::Observer;
use crate::http::{Direction, StreamId};
use crate::observation::{Blockage, ConnectionEnd, ConnectionId, ExchangeEnd, ExchangeId, UpstreamName};
use crate::routing::ServerProfile;
use crate::time::Timestamp;

/// After so long without a request the server ends a connection.
const IDLE: Duration = Duration::from_secs(90);

/// An open connection.
#[derive(Debug, Default)]
pub(super) struct Connection {
    pub(super) upstream: UpstreamName,
    /// What keeps the server from sending on all of it.
    pub(super) blocked: Vec<Blockage>,
    pub(super) first_end: Option<ConnectionEnd>,
    /// Whether it was open before it was observed.
    pub(super) attached_late: bool,
    /// Of the server that it leads to, where that is of another version than others at the same address.
    pub(super) profile: Option<Arc<ServerProfile>>,
    /// Whether it is to end with a response, as the client asked.
    ends_with_response: bool,
    /// When its latest response ended, or it was opened.
    idle_since: Timestamp,
}

impl Connection {
    pub(super) fn opened(upstream: UpstreamName, at: Timestamp, attached_late: bool) -> Self {
        Self { upstream, attached_late, idle_since: at, ..Self::default() }
    }
}

impl Observer {
    /// A connection, new or known.
    pub(super) fn connection(&mut self, id: ConnectionId) -> &mut Connection {
        if self.connections.len() >= self.limits.connections && !self.connections.contains_key(&id) {
            // The oldest; a capture may have lost its end.
            self.connections.pop_first();
            self.missed.connections_forgotten = self.missed.connections_forgotten.saturating_add(1);
        }
        self.connections.entry(id).or_default()
    }

    /// The client asked for the end of a connection, or for what ends it.
    pub(super) fn expect_end(&mut self, connection: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(&connection) {
            connection.ends_with_response = true;
        }
    }

    pub(super) fn note_goaway(&mut self, connection: ConnectionId, at: Timestamp, by: Direction) {
        match by {
            Direction::Request => self.expect_end(connection),
            Direction::Response => self.forget_unless_explained(connection, at),
        }
    }

    pub(super) fn half_ended(&mut self, connection: ConnectionId, at: Timestamp, end: ConnectionEnd) {
        let first_end = &mut self.connection(connection).first_end;
        if first_end.get_or_insert(end).direction == Direction::Response {
            self.forget_unless_explained(connection, at);
        }
    }

    /// An exchange is over: its connection is idle, or the server broke the response off.
    pub(super) fn note_cut(&mut self, exchange: ExchangeId, at: Timestamp, end: ExchangeEnd) {
        let Some(connection) = self.connections.get_mut(&exchange.connection) else { return };
        connection.idle_since = at;
        let by_server = matches!(end, ExchangeEnd::Cut(Some(end)) if end.direction == Direction::Response);
        if by_server && self.open.get(&exchange).is_some_and(|exchange| exchange.upgraded.is_none()) {
            self.upstreams.forget(&connection.upstream);
        }
    }

    fn forget_unless_explained(&mut self, id: ConnectionId, at: Timestamp) {
        let Some(connection) = self.connections.get(&id) else { return };
        let stream = |number| ExchangeId { connection: id, stream: StreamId(number) };
        let is_busy = self.open.range(stream(0)..=stream(u64::MAX)).next().is_some();
        let is_idle = !is_busy && at.since(connection.idle_since) >= IDLE;
        if !connection.ends_with_response && !is_idle {
            self.upstreams.forget(&connection.upstream);
        }
    }
}
