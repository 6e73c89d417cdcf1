//! The clients in logs. All requests of one (user, user agent and address) count as those of one connection.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::http::StreamId;
use crate::logs::audit::AuditEvent;
use crate::observation::{ConnectionId, ConnectionObservation, ExchangeId, LoggedClient, Observation, Subject, UpstreamName};
use crate::time::Timestamp;

/// Maximum number of clients that are distinguished.
const MOST_CLIENTS: usize = 64 << 10;

/// The clients so far.
#[derive(Debug, Default)]
pub(super) struct Clients {
    known: HashMap<ClientKey, Connection, RandomState>,
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

    /// The identifier of a new exchange of the event's client. `None` if there are too many clients.
    pub(super) fn exchange(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) -> Option<ExchangeId> {
        let Self { known, present } = self;
        present.set(event);
        if !known.contains_key(present) {
            if known.len() >= MOST_CLIENTS {
                return None;
            }
            let id = ConnectionId(known.len() as u64 + 1);
            let opened = ConnectionObservation::Opened {
                upstream: UpstreamName::default(),
                protocol: None,
                process: None,
                container_name: None,
                attached_late: false,
                logged: Some(LoggedClient { address: event.address.clone() }),
            };
            emit(Observation { at, subject: Subject::Connection(id, opened) });
            known.insert(present.clone(), Connection { id, next_stream: 1 });
        }
        let connection = known.get_mut(present)?;
        let stream = StreamId(connection.next_stream);
        connection.next_stream = connection.next_stream.saturating_add(1);
        Some(ExchangeId { connection: connection.id, stream })
    }
}
