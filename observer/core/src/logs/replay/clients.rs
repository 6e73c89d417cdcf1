//! The clients in logs. All requests of one (user, user agent and address) count as those of one connection.

use std::collections::HashMap;

use crate::http::StreamId;
use crate::logs::audit::AuditEvent;
use crate::observation::{ConnectionId, ConnectionObservation, ExchangeId, LoggedClient, Observation, Subject, UpstreamName};
use crate::time::Timestamp;

/// Maximum number of clients that are distinguished.
const MOST_CLIENTS: usize = 64 << 10;

/// The clients so far, by their marks.
#[derive(Debug, Default)]
pub(super) struct Clients(HashMap<ClientKey, Connection>);

#[derive(Debug, PartialEq, Eq, Hash)]
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

impl ClientKey {
    fn of(event: &AuditEvent) -> Self {
        let AuditEvent { user, user_agent, address, .. } = event;
        Self { user: user.clone(), user_agent: user_agent.clone(), address: address.clone() }
    }
}

impl Clients {
    /// The connection of the event's client. `None` if it has sent nothing before.
    pub(super) fn connection(&self, event: &AuditEvent) -> Option<ConnectionId> {
        self.0.get(&ClientKey::of(event)).map(|connection| connection.id)
    }

    /// The identifier of a new exchange of the event's client. `None` if there are too many clients.
    pub(super) fn exchange(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) -> Option<ExchangeId> {
        let key = ClientKey::of(event);
        let number = self.0.len();
        if number >= MOST_CLIENTS && !self.0.contains_key(&key) {
            return None;
        }
        let connection = self.0.entry(key).or_insert_with(|| {
            let id = ConnectionId(number as u64 + 1);
            let opened = ConnectionObservation::Opened {
                upstream: UpstreamName::default(),
                protocol: None,
                process: None,
                container_name: None,
                attached_late: false,
                logged: Some(LoggedClient { address: event.address.clone() }),
            };
            emit(Observation { at, subject: Subject::Connection(id, opened) });
            Connection { id, next_stream: 1 }
        });
        let stream = StreamId(connection.next_stream);
        connection.next_stream = connection.next_stream.saturating_add(1);
        Some(ExchangeId { connection: connection.id, stream })
    }
}
