//! The assembly: it keeps all connections, and assigns each record and each change of a socket to one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;

use observer_core::observation::CgroupOwner;
use observer_core::time::Timestamp;
use observer_ebpf::{CLOSE_NOTIFIED, ConnectionKey, Kind, LifetimeEvent, Opened, Record, UNREADABLE};

use super::both_ends::BothEnds;
use super::connection::{Connection, Waiting};
use super::followed::{Followed, Last, beginning};
use super::header_recovery::HeaderRecovery;
use super::limits::Limits;
use super::socket::Socket;
use super::transfer::{Plaintext, Transfer, Way};
use crate::api_server::UpstreamId;
use crate::intake::{EndManner, Intake};
use crate::tap::probe::addresses::Activity;
use crate::tap::probe::recorded_work::RecordedWork;

/// Maximum number of state changes of a socket after it is connected, plus one for its state when it became known.
const MAX_CHANGES: usize = 8;

/// Whether the programs need to record a connection any longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Recording {
    /// The programs record the connection as before.
    Continues,
    /// The connection is unwanted, or there is no room for it.
    Stops,
}

/// Turns records into feeds.
#[derive(Debug)]
pub struct Assembly {
    intake: Intake,
    /// The API server at each address.
    upstreams: BTreeMap<SocketAddr, UpstreamId>,
    activity: Activity,
    work: RecordedWork,
    limits: Limits,
    connections: HashMap<ConnectionKey, Connection>,
    /// Unwanted connections. The programs may still record them, until they find the verdict in their map.
    dismissed: HashSet<ConnectionKey>,
    /// The current connection at each address of a process.
    present: HashMap<(u32, u64), ConnectionKey>,
    /// The connection of each socket. The key is the socket's address and the time from which it is known, by the kernel's clock.
    /// The time is needed because the address of a closed socket may be reused.
    sockets: BTreeMap<(u64, u64), ConnectionKey>,
    both_ends: BothEnds,
    /// Recent changes of sockets without a known connection. A record is delayed while the program that writes it is interrupted.
    /// So the change of a socket may come before the record that assigns the socket to a connection.
    unclaimed: HashMap<u64, Vec<(Timestamp, LifetimeEvent)>>,
    header_recovery: HeaderRecovery,
    /// Number of records of unknown kinds, and of unreadable ones.
    ignored: u64,
    unplaced: u64,
    /// Number of connections that the programs forgot while they were followed.
    forgotten: u64,
    /// Number of bytes that wait now.
    waiting_bytes: u64,
}

impl Assembly {
    /// Creates an assembly that reports recorded connections to `intake`.
    pub fn new(intake: Intake, upstreams: BTreeMap<SocketAddr, UpstreamId>, limits: Limits) -> Self {
        Self {
            intake,
            activity: Activity::of(&upstreams),
            work: RecordedWork::none(),
            upstreams,
            limits,
            connections: HashMap::new(),
            dismissed: HashSet::new(),
            present: HashMap::new(),
            sockets: BTreeMap::new(),
            both_ends: BothEnds::default(),
            unclaimed: HashMap::new(),
            header_recovery: HeaderRecovery::new(limits.field_bytes),
            ignored: 0,
            unplaced: 0,
            forgotten: 0,
            waiting_bytes: 0,
        }
    }

    /// The same, but connections are reported at the server's end only.
    #[must_use]
    pub fn with_server_ends_alone(mut self) -> Self {
        self.both_ends = BothEnds::of_servers();
        self
    }

    /// How much is seen of each API server.
    pub(in crate::tap::probe) fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// How much is recorded of each file's connections.
    pub(in crate::tap::probe) fn work(&self) -> RecordedWork {
        self.work.clone()
    }

    /// Notes that the API servers are at these addresses from now on.
    pub fn readdress(&mut self, upstreams: BTreeMap<SocketAddr, UpstreamId>) {
        self.upstreams = upstreams;
    }

    /// The servers' addresses of all connections whose socket is known.
    pub fn connected(&self) -> BTreeSet<SocketAddr> {
        self.connections.values().filter_map(|connection| Some(connection.socket()?.endpoints.server)).collect()
    }

    /// Takes the next record. `at` is its time, and `owner` that of the client's cgroup if the record is an [`Opened`].
    pub fn take(&mut self, at: Timestamp, record: &Record, payload: &[u8], owner: Option<CgroupOwner>) -> Recording {
        match record.kind {
            kind if kind == Kind::Sent as u32 => self.transferred(at, record, Way::Sent, payload),
            kind if kind == Kind::Received as u32 => self.transferred(at, record, Way::Received, payload),
            kind if kind == Kind::Opened as u32 => self.opened(at, record, payload, owner),
            kind if kind == Kind::Closed as u32 => {
                self.closed(at, record, payload);
                Recording::Continues
            }
            kind if kind == Kind::Elsewhere as u32 => {
                self.discard(at, record.connection);
                Recording::Continues
            }
            _other => {
                let held = self.connections.get_mut(&record.connection).and_then(Connection::held_read);
                if self.header_recovery.take(record, payload, held) { Recording::Continues } else { self.ignore() }
            }
        }
    }

    /// Notes whether header fields of this process are recorded from now on. Only its connections that are older than the probe
    /// need these fields.
    pub fn record_fields(&mut self, process: u32, is_on: bool) {
        let own = self.connections.iter_mut().filter(|(key, _)| key.process == process);
        let own = own.filter_map(|(_, connection)| connection.followed_mut());
        if is_on {
            self.header_recovery.begin(process);
            // These connections had traffic before the recording of fields began.
            own.for_each(Followed::recover_fields);
        } else if self.header_recovery.end(process) {
            own.for_each(Followed::recover_no_fields);
        }
    }

    /// Notes that all records up to `taken` were taken, so that bytes do not wait for fields too long.
    pub fn release_overdue(&mut self, taken: Timestamp) {
        if !self.header_recovery.is_off() {
            let wait = self.limits.decoding;
            self.all_followed().for_each(|followed| followed.release_overdue(taken, wait));
        }
    }

    /// Notes that no more records will come. Everything that waits is passed on or given up, and the remaining connections continue
    /// unobserved.
    pub fn finish(&mut self, at: Timestamp) {
        self.expire(Timestamp::from_nanos(u64::MAX));
        for key in self.connections.keys().copied().collect::<Vec<_>>() {
            self.forget(at, key, Last::NotObserved);
        }
    }

    /// Takes a change of a socket.
    pub fn socket_changed(&mut self, at: Timestamp, event: &LifetimeEvent) {
        let Some(key) = self.owner(event) else {
            if self.unclaimed.len() < self.limits.connections {
                let changes = self.unclaimed.entry(event.socket).or_default();
                // No socket has more changes than this.
                if changes.len() < MAX_CHANGES {
                    changes.push((at, *event));
                }
            }
            return;
        };
        let is_over = match self.connections.get_mut(&key) {
            Some(Connection::Followed(followed)) => {
                followed.ends.changed(at, event);
                followed.abandoned.is_some() && followed.ends.has_own()
            }
            // The connection's first bytes come later.
            Some(Connection::Waiting(waiting)) => {
                waiting.ends.changed(at, event);
                false
            }
            None => false,
        };
        if is_over {
            self.forget(at, key, Last::Ended(EndManner::Fin));
        }
    }

    /// Notes that a process has exited. A connection of the process ends once the connection's socket has reported an end (FIN,
    /// reset or close).
    pub fn exited(&mut self, at: Timestamp, process: u32) {
        self.record_fields(process, false);
        let of_process: Vec<ConnectionKey> = self.connections.keys().filter(|key| key.process == process).copied().collect();
        for key in of_process {
            self.abandon(at, key);
        }
        self.dismissed.retain(|key| key.process != process);
    }

    /// Notes that a file is no longer probed and all its records were taken. Its connections continue unobserved.
    pub fn detached(&mut self, at: Timestamp, file: u16) {
        let is_of_file = |socket: &Socket| socket.file == u32::from(file);
        let of_file = self.connections.iter().filter(|(_, connection)| connection.socket().is_some_and(is_of_file));
        for key in of_file.map(|(key, _)| *key).collect::<Vec<_>>() {
            self.forget(at, key, Last::NotObserved);
        }
    }

    /// Gives up everything that has waited too long by now.
    pub fn expire(&mut self, now: Timestamp) {
        let linger = self.limits.linger;
        let overdue = self.connections.iter().filter_map(|(key, connection)| Some((*key, connection.overdue(now, linger)?)));
        for (key, since) in overdue.collect::<Vec<_>>() {
            self.forget(since, key, Last::Ended(EndManner::Fin));
        }
        self.both_ends.expire(now, linger);
        self.unclaimed.retain(|_, changes| changes.last().is_some_and(|(at, _)| at.plus(linger) > now));
    }

    /// Number of connections followed now.
    pub fn followed(&self) -> usize {
        self.connections.values().filter(|connection| matches!(connection, Connection::Followed(_))).count()
    }

    /// Number of header fields that could not be joined with their bytes.
    pub const fn unused_fields(&self) -> u64 {
        self.header_recovery.unused()
    }

    /// Number of records of unknown kinds, and of unreadable ones.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Number of bytes lost because the socket of their connection did not become known in time.
    pub const fn unplaced(&self) -> u64 {
        self.unplaced
    }

    /// Number of connections that the programs forgot while they were followed, because their map was full. Each was reported as no
    /// longer observed, and is followed again as one whose beginning was not seen.
    pub const fn forgotten(&self) -> u64 {
        self.forgotten
    }

    fn transferred(&mut self, at: Timestamp, record: &Record, way: Way, payload: &[u8]) -> Recording {
        let key = record.connection;
        if self.dismissed.contains(&key) {
            return Recording::Continues;
        }
        let bytes = match record.flags & UNREADABLE {
            0 => Plaintext::Known(Cow::Borrowed(payload)),
            _ => Plaintext::Unreadable(record.length.into()),
        };
        let fields = match way {
            Way::Sent => self.header_recovery.sent(key.process, key.address),
            Way::Received => Vec::new(),
        };
        let transfer = Transfer { at, way, offset: record.offset, bytes, fields };
        let length = transfer.bytes.length();
        self.work.note(self.connections.get(&key).and_then(Connection::socket).map(|socket| socket.file), length);
        let waiting_bytes = self.waiting_bytes.saturating_add(length);
        let has_room = waiting_bytes <= self.limits.waiting_bytes;
        match self.connection(at, key) {
            Some(Connection::Followed(followed)) => {
                let upstream = followed.upstream;
                followed.take(transfer);
                if let Some(upstream) = upstream {
                    self.activity.note(upstream);
                }
            }
            Some(Connection::Waiting(waiting)) => {
                // With a known socket, nothing has to wait.
                let has_socket = waiting.socket.is_some();
                if !(has_socket || has_room) || !waiting.hold(transfer) {
                    self.unplaced = self.unplaced.saturating_add(length);
                    return Recording::Continues;
                }
                self.waiting_bytes = waiting_bytes;
                if has_socket {
                    return self.follow(key);
                }
            }
            None => self.unplaced = self.unplaced.saturating_add(length),
        }
        Recording::Continues
    }

    fn opened(&mut self, at: Timestamp, record: &Record, payload: &[u8], owner: Option<CgroupOwner>) -> Recording {
        let key = record.connection;
        let socket = Opened::read(payload).and_then(|opened| Socket::of(key.process, record.time, &opened, owner));
        let Some(socket) = socket else { return self.ignore() };
        if self.connections.get(&key).is_some_and(|connection| connection.socket().is_some()) {
            // Two threads of the process found the socket at the same time.
            return Recording::Continues;
        }
        if !self.both_ends.take(at, key, &socket) {
            return self.stop_recording(at, key);
        }
        let (address, known, endpoints) = (socket.address, socket.known, socket.endpoints);
        let has_bytes = match self.connection(at, key) {
            Some(Connection::Waiting(waiting)) => {
                waiting.socket = Some(socket);
                let (has_bytes, is_forgotten_one) = (!waiting.held.is_empty(), waiting.is_forgotten_one());
                self.forgotten = self.forgotten.saturating_add(u64::from(is_forgotten_one));
                has_bytes
            }
            Some(Connection::Followed(_)) => return Recording::Continues,
            None => {
                self.both_ends.over(at, key, &endpoints);
                self.intake.decline();
                return self.stop_recording(at, key);
            }
        };
        self.sockets.insert((address, known), key);
        let recording = if has_bytes { self.follow(key) } else { Recording::Continues };
        let changes = self.unclaimed.remove(&address).unwrap_or_default();
        // Earlier changes belong to another connection, whose socket had this address.
        for (at, event) in changes.iter().filter(|(_, event)| event.time >= known) {
            self.socket_changed(*at, event);
        }
        recording
    }

    fn closed(&mut self, at: Timestamp, record: &Record, payload: &[u8]) {
        if let Some(Connection::Followed(followed)) = self.connections.get_mut(&record.connection) {
            followed.lack_up_to(at, Way::Sent, record.offset);
            let received = payload.first_chunk().copied().map(u64::from_ne_bytes);
            followed.lack_up_to(at, Way::Received, received.unwrap_or_default());
        }
        self.dismissed.remove(&record.connection);
        if record.flags & CLOSE_NOTIFIED != 0 {
            self.forget(at, record.connection, Last::Ended(EndManner::CloseNotify));
        } else {
            self.abandon(at, record.connection);
        }
    }

    /// Notes that the process has given a connection up. It is over as soon as its socket reports how it ended.
    fn abandon(&mut self, at: Timestamp, key: ConnectionKey) {
        match self.connections.get_mut(&key) {
            Some(Connection::Followed(followed)) if !followed.ends.has_own() => followed.abandoned = Some(at),
            Some(_) | None => self.forget(at, key, Last::Ended(EndManner::Fin)),
        }
    }

    /// The entry of a connection, new if there is none; `None` if there is no room.
    fn connection(&mut self, at: Timestamp, key: ConnectionKey) -> Option<&mut Connection> {
        if !self.connections.contains_key(&key) {
            let mut former_socket = None;
            // Its end was not seen: another connection uses its memory now, or the programs have forgotten it.
            if let Some(former) = self.present.get(&(key.process, key.address)).copied() {
                let connection = self.connections.get(&former);
                let is_abandoned = connection.is_some_and(Connection::is_abandoned);
                former_socket = connection.and_then(Connection::socket).map(|socket| (socket.address, socket.endpoints));
                self.forget(at, former, if is_abandoned { Last::Ended(EndManner::Fin) } else { Last::NotObserved });
            }
            if self.connections.len() >= self.limits.connections {
                return None;
            }
            self.connections.insert(key, Connection::Waiting(Box::new(Waiting::new(at, former_socket))));
            self.present.insert((key.process, key.address), key);
        }
        self.connections.get_mut(&key)
    }

    /// Reports a connection whose socket and first bytes are known.
    fn follow(&mut self, key: ConnectionKey) -> Recording {
        let Some(Connection::Waiting(waiting)) = self.connections.get_mut(&key) else { return Recording::Continues };
        self.waiting_bytes = self.waiting_bytes.saturating_sub(waiting.held.bytes());
        let (transfers, ends) = (waiting.held.take(), std::mem::take(&mut waiting.ends));
        let (Some(socket), Some(first)) = (waiting.socket.clone(), transfers.first()) else { return Recording::Continues };
        let (protocol, start) = beginning(socket.role, first);
        let upstream = self.upstreams.get(&socket.endpoints.server).copied();
        let info = socket.info(upstream, protocol, start, self.both_ends.client(&socket.endpoints));
        let feed = if info.process.is_none() && socket.is_on_one_machine() {
            let registered = self.intake.register_before_process(first.at, info);
            registered.map(|(feed, pending)| {
                self.both_ends.await_client(first.at, &socket.endpoints, pending);
                feed
            })
        } else {
            self.intake.register(first.at, info)
        };
        let Some(feed) = feed else {
            return self.stop_recording(first.at, key);
        };
        if let Some(upstream) = upstream {
            self.activity.note(upstream);
        }
        let mut followed = Box::new(Followed::new(socket, upstream, start, feed, ends));
        if self.header_recovery.is_on(key.process) {
            followed.recover_fields();
        }
        for transfer in transfers {
            followed.take(transfer);
        }
        self.connections.insert(key, Connection::Followed(followed));
        Recording::Continues
    }

    fn all_followed(&mut self) -> impl Iterator<Item = &mut Followed> {
        self.connections.values_mut().filter_map(Connection::followed_mut)
    }

    /// The connection whose socket changed. A change after the socket was closed belongs to another socket at its address.
    fn owner(&self, event: &LifetimeEvent) -> Option<ConnectionKey> {
        let (_, key) = self.sockets.range((event.socket, 0)..=(event.socket, event.time)).next_back()?;
        self.connections.get(key).filter(|connection| connection.ends().over().is_none()).map(|_| *key)
    }

    fn ignore(&mut self) -> Recording {
        self.ignored = self.ignored.saturating_add(1);
        Recording::Continues
    }

    fn stop_recording(&mut self, at: Timestamp, key: ConnectionKey) -> Recording {
        self.discard(at, key);
        if self.dismissed.len() >= self.limits.connections {
            self.dismissed.clear();
        }
        self.dismissed.insert(key);
        Recording::Stops
    }

    /// Forgets an unwanted connection, and discards its held bytes without counting them.
    fn discard(&mut self, at: Timestamp, key: ConnectionKey) {
        if let Some(Connection::Waiting(waiting)) = self.connections.get_mut(&key) {
            self.waiting_bytes = self.waiting_bytes.saturating_sub(waiting.held.bytes());
            waiting.held.take();
        }
        self.forget(at, key, Last::NotObserved);
    }

    fn forget(&mut self, at: Timestamp, key: ConnectionKey, last: Last) {
        let Some(connection) = self.connections.remove(&key) else { return };
        if self.present.get(&(key.process, key.address)) == Some(&key) {
            self.present.remove(&(key.process, key.address));
        }
        if let Some(socket) = connection.socket() {
            if self.sockets.get(&(socket.address, socket.known)) == Some(&key) {
                self.sockets.remove(&(socket.address, socket.known));
            }
            self.both_ends.over(at, key, &socket.endpoints);
        }
        match connection {
            Connection::Waiting(waiting) => {
                self.waiting_bytes = self.waiting_bytes.saturating_sub(waiting.held.bytes());
                self.unplaced = self.unplaced.saturating_add(waiting.held.bytes());
            }
            Connection::Followed(followed) => followed.close(at, last),
        }
    }
}
