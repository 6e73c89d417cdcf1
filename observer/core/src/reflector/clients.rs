//! Who the clients are: which connections and requests come from the same one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::http::Identity;
use crate::observation::{ConnectionId, Process, RequestLine};
use crate::time::Timestamp;

/// Open connections that are followed, as many as the Observer follows.
const MAX_CONNECTIONS: usize = 65_536;

/// A client, numbered from 1 in the order in which they were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClientId(pub u64);

impl fmt::Display for ClientId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// By what a client is known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A process of this machine.
    Process(Process),
    /// What it says of itself; several processes may say the same.
    Words { user_agent: Option<String>, identity: Option<Identity> },
}

/// A client.
#[derive(Clone, Debug)]
pub(super) struct KnownClient {
    key: Key,
    pub process: Option<Process>,
    pub open_connections: u64,
    /// When its last connection ended.
    pub left: Option<Timestamp>,
    /// When it came back after that.
    pub returned: Option<Timestamp>,
}

/// All clients, bounded.
#[derive(Debug)]
pub(super) struct Clients {
    by_key: BTreeMap<Key, ClientId>,
    known: BTreeMap<ClientId, KnownClient>,
    /// Those without a connection, by when the last ended.
    gone: BTreeSet<(Timestamp, ClientId)>,
    connections: BTreeMap<ConnectionId, Connection>,
    next: u64,
    limit: usize,
}

#[derive(Debug, Default)]
struct Connection {
    process: Option<Process>,
    /// Of a connection that carries several (a proxy in front of us may join them), the last.
    client: Option<ClientId>,
}

impl Clients {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            by_key: BTreeMap::new(),
            known: BTreeMap::new(),
            gone: BTreeSet::new(),
            connections: BTreeMap::new(),
            next: 1,
            limit,
        }
    }

    pub(super) fn get(&self, id: ClientId) -> Option<&KnownClient> {
        self.known.get(&id)
    }

    pub(super) fn connected(&mut self, connection: ConnectionId, process: Option<Process>) {
        if self.connections.len() >= MAX_CONNECTIONS {
            // The oldest; a capture may have lost its end.
            self.connections.pop_first();
        }
        self.connections.insert(connection, Connection { process, client: None });
    }

    pub(super) fn disconnected(&mut self, connection: ConnectionId, at: Timestamp) {
        let Some(client) = self.connections.remove(&connection).and_then(|connection| connection.client) else { return };
        self.leave(client, at);
    }

    /// Who last made a request on `connection`.
    pub(super) fn on(&self, connection: ConnectionId) -> Option<ClientId> {
        self.connections.get(&connection)?.client
    }

    /// Who makes a request; nothing when there is no room for another client.
    pub(super) fn of(&mut self, connection: ConnectionId, request: &RequestLine, at: Timestamp) -> Option<ClientId> {
        let process = self.connections.get(&connection).and_then(|connection| connection.process.clone());
        let process = process.filter(|_| !is_of_one_command(request));
        let key = match process.clone() {
            Some(process) => Key::Process(process),
            None => Key::Words { user_agent: request.user_agent.clone(), identity: request.identity.clone() },
        };
        let id = match self.by_key.get(&key) {
            Some(id) => *id,
            None => self.add(key, process)?,
        };
        let before = self.connections.entry(connection).or_default().client.replace(id);
        if before != Some(id) {
            if let Some(before) = before {
                self.leave(before, at);
            }
            self.arrive(id, at);
        }
        Some(id)
    }

    fn add(&mut self, key: Key, process: Option<Process>) -> Option<ClientId> {
        if self.known.len() >= self.limit && !self.forget_one() {
            return None;
        }
        let id = ClientId(self.next);
        self.next = self.next.saturating_add(1);
        self.by_key.insert(key.clone(), id);
        self.known.insert(id, KnownClient { key, process, open_connections: 0, left: None, returned: None });
        Some(id)
    }

    /// Drops the client that left first; whether there was one.
    fn forget_one(&mut self) -> bool {
        let Some((_, gone)) = self.gone.pop_first() else { return false };
        if let Some(client) = self.known.remove(&gone) {
            self.by_key.remove(&client.key);
        }
        true
    }

    fn arrive(&mut self, id: ClientId, at: Timestamp) {
        if let Some(client) = self.known.get_mut(&id) {
            client.open_connections = client.open_connections.saturating_add(1);
            if let Some(left) = client.left.take() {
                client.returned = Some(at);
                self.gone.remove(&(left, id));
            }
        }
    }

    fn leave(&mut self, id: ClientId, at: Timestamp) {
        if let Some(client) = self.known.get_mut(&id) {
            client.open_connections = client.open_connections.saturating_sub(1);
            if client.open_connections == 0 && client.left.is_none() {
                client.left = Some(at);
                self.gone.insert((at, id));
            }
        }
    }
}
/// kubectl is a process of its own for each command: who calls it again and again is one client, and may be a poller.
fn is_of_one_command(request: &RequestLine) -> bool {
    request.kubectl_command.is_some() || request.user_agent.as_deref().is_some_and(|user_agent| user_agent.starts_with("kubectl"))
}
