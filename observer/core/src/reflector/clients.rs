//! Decides which connections and requests come from the same client.

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;

use super::client_requests::{ClientRequests, ClientRow};
use super::limits::ReflectorLimits;
use crate::exchange::{Client, ClientId, Exchange, MemoryUse, of_identity, of_process, of_structure, of_texts};
use crate::http::Identity;
use crate::observation::{ConnectionId, Process, RequestLine, first_product};
use crate::sorted_map::SortedMap;
use crate::time::Timestamp;

/// The facts that identify a client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// A process of this machine, without the owner of its cgroup.
    Process(Process),
    /// User agent and identity; several processes may share them.
    Words(Words),
}

/// User agent and identity, as a client's requests carry them. In a pod, also the container that its connection comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Words {
    user_agent: Option<String>,
    identity: Option<Identity>,
    container_name: Option<String>,
    /// In a log, the client's address.
    address: Option<String>,
}

/// A client and its connections.
#[derive(Clone, Debug)]
pub(super) struct KnownClient {
    key: Key,
    /// User agent and identity of the first request; `None` if `key` has them.
    words: Option<Words>,
    pub process: Option<Process>,
    /// The process with the same user agent and identity that was discovered before this one.
    pub before: Option<ClientId>,
    requests: ClientRequests,
    pub open_connections: u64,
    /// When its last connection ended; `None` while it has one.
    pub left: Option<Timestamp>,
    /// When it last connected again after it had left.
    pub returned: Option<Timestamp>,
}

impl KnownClient {
    /// Whether a connection of the client shows more than was known of the owner of its cgroup. Names may become known later than
    /// the container.
    fn learns_from(&self, process: &Process) -> bool {
        let Some(known) = &self.process else { return false };
        match (&known.container, &process.container) {
            (Some(known), Some(shown)) => known.id == shown.id && shown.known_names() > known.known_names(),
            (None, shown) => shown.is_some() || (known.unit.is_none() && process.unit.is_some()),
            (Some(_), None) => false,
        }
    }

    fn words(&self) -> Option<&Words> {
        match &self.key {
            Key::Words(words) => Some(words),
            Key::Process(_) => self.words.as_ref(),
        }
    }

    fn row(&self, id: ClientId) -> ClientRow {
        let words = self.words();
        let client = Client {
            container_name: words.and_then(|words| words.container_name.clone()),
            program: words.and_then(|words| words.user_agent.as_deref()).and_then(first_product).unwrap_or_default().to_owned(),
            identity: words.and_then(|words| words.identity.clone()),
            kubectl_command: None,
        };
        let address = words.and_then(|words| words.address.clone());
        ClientRow { client_id: id, client, process: self.process.clone(), address, requests: self.requests }
    }

    /// Estimated memory in bytes, with its entries in the indices.
    fn memory(&self) -> usize {
        let words = self.words().map_or(0, Words::memory);
        let process = self.process.as_ref().map_or(0, of_process);
        of_structure::<Self>() + of_structure::<Key>() + of_structure::<Words>() + 2 * words + 3 * process
    }
}

impl Words {
    fn memory(&self) -> usize {
        let Self { user_agent, identity, container_name, address } = self;
        of_texts([user_agent, container_name, address].map(|text| text.as_deref().unwrap_or_default()))
            + of_identity(identity.as_ref())
    }
}

/// All clients, bounded.
#[derive(Debug)]
pub(super) struct Clients {
    by_key: BTreeMap<Key, ClientId>,
    /// Known processes, by user agent and identity.
    by_words: BTreeMap<Words, Speakers>,
    /// Looked up several times for each request, and never in order.
    known: HashMap<ClientId, KnownClient, RandomState>,
    /// Clients without a connection, by the time when their last connection ended.
    gone: BTreeSet<(Timestamp, ClientId)>,
    connections: SortedMap<ConnectionId, Connection>,
    next: u64,
    limit: usize,
    most_connections: usize,
    memory: MemoryUse,
    /// Number of clients that were dropped, with the counts of their requests.
    forgotten: u64,
}

/// The known processes with the same user agent and identity.
#[derive(Clone, Copy, Debug)]
struct Speakers {
    number: usize,
    /// The process that was discovered last.
    last: ClientId,
}

/// The origin of a connection: the facts about its client that are known before the first request.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// The process that has it open, if it is on this machine.
    pub process: Option<Process>,
    /// In a pod, the name of its container.
    pub container_name: Option<String>,
    /// In a log, its address.
    pub address: Option<String>,
}

#[derive(Debug, Default)]
struct Connection {
    origin: Origin,
    /// The last client on the connection. A proxy in front of watchtap may join several clients in one connection.
    client: Option<ClientId>,
}

impl Clients {
    pub(super) fn new(limits: &ReflectorLimits) -> Self {
        Self {
            by_key: BTreeMap::new(),
            by_words: BTreeMap::new(),
            known: HashMap::default(),
            gone: BTreeSet::new(),
            connections: SortedMap::default(),
            next: 1,
            limit: limits.clients,
            most_connections: limits.connections,
            memory: MemoryUse::of(limits.clients_memory),
            forgotten: 0,
        }
    }

    /// Number of clients that were dropped to make room.
    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// Counts a request of `id` that begins.
    pub(super) fn begin(&mut self, id: ClientId, exchange: &Exchange) {
        if let Some(client) = self.known.get_mut(&id) {
            client.requests.begin(exchange);
        }
    }

    /// Counts a request of `id` that has ended.
    pub(super) fn end(&mut self, id: ClientId, exchange: &Exchange) {
        if let Some(client) = self.known.get_mut(&id) {
            client.requests.end(exchange);
        }
    }

    /// The clients whose requests took longest in total, the longest first; at most `most`.
    pub(super) fn rows(&self, most: usize) -> Vec<ClientRow> {
        let mut all: Vec<(ClientId, &KnownClient)> = self.known.iter().map(|(id, client)| (*id, client)).collect();
        all.sort_unstable_by_key(|(id, client)| (Reverse((client.requests.total_us, client.requests.requests)), *id));
        all.into_iter().take(most).map(|(id, client)| client.row(id)).collect()
    }

    /// Number of known clients.
    pub(super) fn number(&self) -> usize {
        self.known.len()
    }

    pub(super) fn get(&self, id: ClientId) -> Option<&KnownClient> {
        self.known.get(&id)
    }

    pub(super) fn connected(&mut self, connection: ConnectionId, origin: Origin, at: Timestamp) {
        *self.connection(connection, None, at) = Connection { origin, client: None };
    }

    /// The entry of a connection, created if it is missing. To make room, the oldest connection is dropped. If it is a connection
    /// of `stays`, that client does not count as disconnected.
    fn connection(&mut self, id: ConnectionId, stays: Option<ClientId>, at: Timestamp) -> &mut Connection {
        if self.connections.len() >= self.most_connections && !self.connections.contains(id) {
            // Drops the oldest connection. Its end may be missing from the capture.
            let client = self.connections.pop_first().and_then(|connection| connection.client);
            if let Some(client) = client.filter(|client| Some(*client) != stays) {
                self.leave(client, at);
            }
        }
        self.connections.get_or_default(id)
    }

    pub(super) fn disconnected(&mut self, connection: ConnectionId, at: Timestamp) {
        let Some(client) = self.connections.remove(connection).and_then(|connection| connection.client) else { return };
        self.leave(client, at);
    }

    /// The client of the last request on `connection`.
    pub(super) fn on(&self, connection: ConnectionId) -> Option<ClientId> {
        self.connections.get(connection)?.client
    }

    /// The client of a request; `None` if there is no room for another client.
    pub(super) fn of(&mut self, connection: ConnectionId, request: &RequestLine, at: Timestamp) -> Option<ClientId> {
        if let Some(same) = self.same(connection, request) {
            return Some(same);
        }
        let known = self.connections.get(connection);
        let Origin { process, container_name, address } = known.map(|known| known.origin.clone()).unwrap_or_default();
        let process = process.filter(|_| !is_of_one_command(request));
        let words = Words { user_agent: request.user_agent.clone(), identity: request.identity.clone(), container_name, address };
        let id = match process {
            Some(process) => self.of_process(process, words)?,
            None => self.of_words(words, connection)?,
        };
        let before = self.connection(connection, Some(id), at).client.replace(id);
        if before != Some(id) {
            if let Some(before) = before {
                self.leave(before, at);
            }
            self.arrive(id, at);
        }
        Some(id)
    }

    /// The client of the last request on a connection, if it certainly made this request, too: no process is known, and the words are the
    /// same.
    fn same(&self, connection: ConnectionId, request: &RequestLine) -> Option<ClientId> {
        let Connection { origin, client } = self.connections.get(connection)?;
        let id = (*client).filter(|_| origin.process.is_none() && self.by_words.is_empty())?;
        let Key::Words(Words { user_agent, identity, container_name, address }) = &self.known.get(&id)?.key else { return None };
        let are_same = (user_agent, identity) == (&request.user_agent, &request.identity)
            && (container_name, address) == (&origin.container_name, &origin.address);
        are_same.then_some(id)
    }

    fn of_process(&mut self, process: Process, words: Words) -> Option<ClientId> {
        // The owner of its cgroup may be known on one connection and unknown on another.
        let key = Key::Process(Process::new(process.pid, process.started, process.name.clone()));
        if let Some(id) = self.by_key.get(&key) {
            if let Some(client) = self.known.get_mut(id).filter(|client| client.learns_from(&process)) {
                self.memory.remove(client.memory());
                client.process = Some(process);
                self.memory.add(client.memory());
            }
            return Some(*id);
        }
        let before = self.by_words.get(&words).map(|speakers| speakers.last);
        let id = match self.unfound(&words) {
            Some(id) => self.find(id, key, words.clone(), process),
            None => self.add(key, Some(words.clone()), Some(process))?,
        };
        if let Some(client) = self.known.get_mut(&id) {
            client.before = before;
        }
        let speakers = self.by_words.entry(words).or_insert(Speakers { number: 0, last: id });
        *speakers = Speakers { number: speakers.number.saturating_add(1), last: id };
        Some(id)
    }

    /// The client with these [`Words`] whose process is unknown, if it has no open connection. A process that is new counts as this
    /// client, unless another process with the same words is known.
    fn unfound(&self, words: &Words) -> Option<ClientId> {
        let id = *self.by_key.get(&Key::Words(words.clone()))?;
        let is_away = self.known.get(&id).is_some_and(|client| client.open_connections == 0);
        (is_away && !self.by_words.contains_key(words)).then_some(id)
    }

    /// Assigns a process to the client `id`, whose process was unknown.
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

    /// The client of a request whose process is unknown. If exactly one process with these [`Words`] is known, the request may come
    /// from it. The request is attributed to that process if it has no open connection, or made the last request on `connection`.
    /// Otherwise the client is identified by the words alone.
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
        let client = KnownClient {
            key: key.clone(),
            words,
            process,
            before: None,
            requests: ClientRequests::NONE,
            open_connections: 0,
            left: None,
            returned: None,
        };
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

    /// Drops the client that left first. Returns whether there was one.
    fn forget_one(&mut self) -> bool {
        let Some((_, gone)) = self.gone.pop_first() else { return false };
        self.forgotten = self.forgotten.saturating_add(1);
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

/// Whether a request comes from kubectl. Each kubectl command is a process of its own. A user or script that repeats commands
/// counts as one client, which may be a poller.
pub(super) fn is_of_one_command(request: &RequestLine) -> bool {
    request.kubectl_command.is_some() || request.user_agent.as_deref().is_some_and(|user_agent| user_agent.starts_with("kubectl"))
}
