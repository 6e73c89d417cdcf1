//! Who the clients are: which connections and requests come from the same one.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::limits::ReflectorLimits;
use crate::exchange::{MemoryUse, of_identity, of_structure, of_texts};
use crate::http::Identity;
use crate::observation::{ConnectionId, Process, RequestLine};
use crate::time::Timestamp;

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
    /// A process of this machine, without its container.
    Process(Process),
    /// What it says of itself; several processes may say the same.
    Words(Words),
}

/// What a client says of itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Words {
    user_agent: Option<String>,
    identity: Option<Identity>,
}

/// A client.
#[derive(Clone, Debug)]
pub(super) struct KnownClient {
    key: Key,
    /// Of a process, what it said first.
    words: Option<Words>,
    pub process: Option<Process>,
    pub open_connections: u64,
    /// When its last connection ended.
    pub left: Option<Timestamp>,
    /// When it came back after that.
    pub returned: Option<Timestamp>,
}

impl KnownClient {
    /// About how much memory it takes, in bytes, with its places in the indices.
    fn memory(&self) -> usize {
        let words = match (&self.key, &self.words) {
            (Key::Words(words), _) | (Key::Process(_), Some(words)) => words.memory(),
            (Key::Process(_), None) => 0,
        };
        of_structure::<Self>() + of_structure::<Key>() + of_structure::<Words>() + 2 * words
    }
}

impl Words {
    fn memory(&self) -> usize {
        let Self { user_agent, identity } = self;
        of_texts([user_agent.as_deref().unwrap_or_default()]) + of_identity(identity.as_ref())
    }
}

/// All clients, bounded.
#[derive(Debug)]
pub(super) struct Clients {
    by_key: BTreeMap<Key, ClientId>,
    /// Which processes said these words.
    by_words: BTreeMap<Words, Speakers>,
    known: BTreeMap<ClientId, KnownClient>,
    /// Those without a connection, by when the last ended.
    gone: BTreeSet<(Timestamp, ClientId)>,
    connections: BTreeMap<ConnectionId, Connection>,
    next: u64,
    limit: usize,
    most_connections: usize,
    memory: MemoryUse,
}

/// Processes that are known and say the same.
#[derive(Clone, Copy, Debug)]
struct Speakers {
    number: usize,
    /// The one that was first seen last.
    last: ClientId,
}

#[derive(Debug, Default)]
struct Connection {
    process: Option<Process>,
    /// Of a connection that carries several (a proxy in front of us may join them), the last.
    client: Option<ClientId>,
}

impl Clients {
    pub(super) const fn new(limits: &ReflectorLimits) -> Self {
        Self {
            by_key: BTreeMap::new(),
            by_words: BTreeMap::new(),
            known: BTreeMap::new(),
            gone: BTreeSet::new(),
            connections: BTreeMap::new(),
            next: 1,
            limit: limits.clients,
            most_connections: limits.connections,
            memory: MemoryUse::of(limits.clients_memory),
        }
    }

    pub(super) fn get(&self, id: ClientId) -> Option<&KnownClient> {
        self.known.get(&id)
    }

    pub(super) fn connected(&mut self, connection: ConnectionId, process: Option<Process>) {
        *self.connection(connection) = Connection { process, client: None };
    }

    /// A connection, new or known.
    fn connection(&mut self, id: ConnectionId) -> &mut Connection {
        if self.connections.len() >= self.most_connections && !self.connections.contains_key(&id) {
            // The oldest; a capture may have lost its end.
            self.connections.pop_first();
        }
        self.connections.entry(id).or_default()
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
        let words = Words { user_agent: request.user_agent.clone(), identity: request.identity.clone() };
        let id = match process {
            Some(process) => self.of_process(process, words)?,
            None => self.of_words(words, connection)?,
        };
        let before = self.connection(connection).client.replace(id);
        if before != Some(id) {
            if let Some(before) = before {
                self.leave(before, at);
            }
            self.arrive(id, at);
        }
        Some(id)
    }

    fn of_process(&mut self, process: Process, words: Words) -> Option<ClientId> {
        // Its container may be told on one connection and not on another.
        let key = Key::Process(Process { container: None, ..process.clone() });
        if let Some(id) = self.by_key.get(&key) {
            if let Some(known) = self.known.get_mut(id).and_then(|client| client.process.as_mut()) {
                known.container = known.container.take().or(process.container);
            }
            return Some(*id);
        }
        let id = match self.unfound(&words) {
            Some(id) => self.find(id, key, words.clone(), process),
            None => self.add(key, Some(words.clone()), Some(process))?,
        };
        let speakers = self.by_words.entry(words).or_insert(Speakers { number: 0, last: id });
        *speakers = Speakers { number: speakers.number.saturating_add(1), last: id };
        Some(id)
    }

    /// A client that is known by its words only, because its process was not found out, and that lost all its connections: it is the one that comes back
    /// with these words, unless processes are known that say them.
    fn unfound(&self, words: &Words) -> Option<ClientId> {
        let id = *self.by_key.get(&Key::Words(words.clone()))?;
        let is_away = self.known.get(&id).is_some_and(|client| client.open_connections == 0);
        (is_away && !self.by_words.contains_key(words)).then_some(id)
    }

    /// Which process a client is, is known now.
    fn find(&mut self, id: ClientId, key: Key, words: Words, process: Process) -> ClientId {
        if let Some(client) = self.known.get_mut(&id) {
            self.memory.remove(client.memory());
            self.by_key.remove(&client.key);
            client.key = key.clone();
            client.words = Some(words);
            client.process = Some(process);
            self.memory.add(client.memory());
            self.by_key.insert(key, id);
        }
        id
    }

    /// A process that lost all its connections is the one that comes back with its words, although it was not found out this time.
    fn of_words(&mut self, words: Words, connection: ConnectionId) -> Option<ClientId> {
        if let Some(Speakers { number: 1, last }) = self.by_words.get(&words)
            && (self.on(connection) == Some(*last) || self.known.get(last).is_some_and(|client| client.open_connections == 0))
        {
            return Some(*last);
        }
        let key = Key::Words(words);
        match self.by_key.get(&key) {
            Some(id) => Some(*id),
            None => self.add(key, None, None),
        }
    }

    fn add(&mut self, key: Key, words: Option<Words>, process: Option<Process>) -> Option<ClientId> {
        let client = KnownClient { key: key.clone(), words, process, open_connections: 0, left: None, returned: None };
        let memory = client.memory();
        while self.known.len() >= self.limit || !self.memory.has_room(memory) {
            if !self.forget_one() {
                return None;
            }
        }
        let id = ClientId(self.next);
        self.next = self.next.saturating_add(1);
        self.by_key.insert(key, id);
        self.known.insert(id, client);
        self.memory.add(memory);
        Some(id)
    }

    /// Drops the client that left first; whether there was one.
    fn forget_one(&mut self) -> bool {
        let Some((_, gone)) = self.gone.pop_first() else { return false };
        if let Some(client) = self.known.remove(&gone) {
            self.memory.remove(client.memory());
            self.by_key.remove(&client.key);
            if let Some(words) = client.words {
                self.forget_speaker(words);
            }
        }
        true
    }

    fn forget_speaker(&mut self, words: Words) {
        if let Entry::Occupied(mut speakers) = self.by_words.entry(words) {
            speakers.get_mut().number = speakers.get().number.saturating_sub(1);
            if speakers.get().number == 0 {
                speakers.remove();
            }
        }
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
