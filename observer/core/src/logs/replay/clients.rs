//! The clients in logs. All requests of one (user, user agent and address) count as those of one connection.

use super::lately_used::LatelyUsed;
use crate::http::StreamId;
use crate::logs::audit::AuditEvent;
use crate::observation::{ConnectionId, ConnectionObservation, ExchangeId, LoggedClient, Observation, Subject, UpstreamName};
use crate::time::Timestamp;

/// Maximum number of clients that are remembered. One that returns later counts as another connection.
const MOST_CLIENTS: usize = 128 << 10;

/// The clients that have sent a request lately.
#[derive(Debug)]
pub(super) struct Clients {
    known: LatelyUsed<ClientKey, Connection>,
    /// Number of connections so far.
    opened: u64,
    /// The client of the present event. It keeps its room, since each event has one.
    present: ClientKey,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct ClientKey {
    user: String,
    user_agent: String,
    address: String,
}

#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    next_stream: u64,
}

impl Default for Clients {
    fn default() -> Self {
        Self { known: LatelyUsed::of(MOST_CLIENTS), opened: 0, present: ClientKey::default() }
    }
}

impl ClientKey {
    fn of(event: &AuditEvent) -> Self {
        let AuditEvent { user, user_agent, address, .. } = event;
        Self { user: user.clone(), user_agent: user_agent.clone(), address: address.clone() }
    }

    fn set(&mut self, event: &AuditEvent) {
        self.user.clone_from(&event.user);
        self.user_agent.clone_from(&event.user_agent);
        self.address.clone_from(&event.address);
    }
}

impl Clients {
    /// The connection of the event's client. `None` if it has sent nothing before.
    pub(super) fn connection(&self, event: &AuditEvent) -> Option<ConnectionId> {
        self.known.get(&ClientKey::of(event)).map(|connection| connection.id)
    }

    /// The identifier of a new exchange of the event's client.
    pub(super) fn exchange(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) -> ExchangeId {
        let Self { known, opened: number, present } = self;
        present.set(event);
        if let Some(connection) = known.touch(present) {
            return connection.next();
        }
        *number = number.saturating_add(1);
        let id = ConnectionId(*number);
        let opened = ConnectionObservation::Opened {
            upstream: UpstreamName::default(),
            protocol: None,
            process: None,
            container_name: None,
            attached_late: false,
            logged: Some(LoggedClient { address: event.address.clone() }),
        };
        emit(Observation { at, subject: Subject::Connection(id, opened) });
        let mut connection = Connection { id, next_stream: 1 };
        let exchange = connection.next();
        known.insert(present.clone(), connection);
        exchange
    }
}

impl Connection {
    /// The next exchange on it.
    const fn next(&mut self) -> ExchangeId {
        let stream = StreamId(self.next_stream);
        self.next_stream = self.next_stream.saturating_add(1);
        ExchangeId { connection: self.id, stream }
    }
}
