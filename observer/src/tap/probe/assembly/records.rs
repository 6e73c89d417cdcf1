//! All connections, by what the programs call them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::net::SocketAddr;
use std::time::Instant;

use observer_core::http::Start;
use observer_core::observation::Process;
use observer_core::time::Timestamp;
use observer_ebpf::{ConnectionKey, Kind, Record, UNREADABLE, Verdict};

use super::followed::{Followed, Role, Way, beginning};
use super::sent_fields::SentFields;
use crate::intake::{ConnectionInfo, EndManner, Intake};

/// Where a socket of a process leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionEnds {
    /// The process.
    pub process: Option<Process>,
    /// Its own address.
    pub local: SocketAddr,
    /// The other side's.
    pub remote: SocketAddr,
}

/// Finds out where sockets lead.
pub trait Whereabouts {
    /// Where the TCP socket leads that is this descriptor of the process; nothing when it is none, or either is gone.
    fn of(&mut self, process: u32, descriptor: i32) -> Option<ConnectionEnds>;
}

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections that are followed at once, and connections that lead elsewhere and are remembered for that; more are not followed, and
    /// counted.
    pub connections: usize,
}

/// Puts records together.
#[derive(Debug)]
pub struct Assembly<W> {
    intake: Intake,
    api_servers: Vec<SocketAddr>,
    whereabouts: W,
    limits: Limits,
    connections: HashMap<ConnectionKey, Followed>,
    /// Those that lead elsewhere: their records come until the programs know it, too.
    elsewhere: HashSet<ConnectionKey>,
    /// The followed connection that lives at an address of a process now.
    present: HashMap<(u32, u64), ConnectionKey>,
    /// Processes whose header fields are told, for the connections that were open before.
    explained: BTreeSet<u32>,
    sent_fields: SentFields,
    /// Decoded fields that came too late, or behind one that is missing.
    late_fields: u64,
    /// What has no meaning here: kinds that are not known, connections that are not followed.
    ignored: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 16_384 }
    }
}

impl<W: Whereabouts> Assembly<W> {
    /// Of connections that lead to one of `api_servers`.
    pub fn new(intake: Intake, api_servers: Vec<SocketAddr>, whereabouts: W, limits: Limits) -> Self {
        Self {
            intake,
            api_servers,
            whereabouts,
            limits,
            connections: HashMap::new(),
            elsewhere: HashSet::new(),
            present: HashMap::new(),
            explained: BTreeSet::new(),
            sent_fields: SentFields::default(),
            late_fields: 0,
            ignored: 0,
        }
    }

    /// Takes the next record; `at` is its time. What it answers is to be told to the programs, of the connection of the record.
    pub fn take(&mut self, at: Timestamp, record: &Record, payload: &[u8]) -> Option<Verdict> {
        let way = match record.kind {
            kind if kind == Kind::Sent as u32 => Way::Sent,
            kind if kind == Kind::Received as u32 => Way::Received,
            kind if kind == Kind::Closed as u32 => {
                self.close(at, record);
                return None;
            }
            _other => {
                self.take_fields(record, payload);
                return None;
            }
        };
        let is_readable = record.flags & UNREADABLE == 0;
        let payload = if is_readable { payload } else { &[] };
        let is_new = !self.connections.contains_key(&record.connection);
        let sent_fields = match way {
            Way::Sent => self.sent_fields.take((record.connection.process, record.connection.address)),
            Way::Received => Vec::new(),
        };
        if is_new && !self.begin(at, record, way, payload) {
            return Some(Verdict::Elsewhere);
        }
        let followed = self.connections.get_mut(&record.connection)?;
        if is_readable {
            followed.take(at, way, record.offset, payload, sent_fields);
        } else {
            followed.lack_up_to(at, way, record.offset.saturating_add(record.length.into()));
        }
        is_new.then_some(Verdict::Wanted)
    }

    /// Header fields of this process are told from now on, or not any more: those of connections that were open before are wanted.
    pub fn explain(&mut self, process: u32, is_told: bool) {
        if is_told {
            self.explained.insert(process);
        } else if self.explained.remove(&process) {
            self.sent_fields.forget(process);
            let own = self.connections.iter_mut().filter(|(key, _)| key.process == process);
            own.for_each(|(_, followed)| followed.explain_no_more());
        }
    }

    /// All that was recorded was taken by `now`. What waits for fields does not wait for long.
    pub fn look(&mut self, now: Instant) {
        if !self.explained.is_empty() {
            self.connections.values_mut().for_each(|followed| followed.look(now));
        }
    }

    /// Nothing more will come: what waits for fields has waited long enough.
    pub fn finish(&mut self) {
        self.connections.values_mut().for_each(Followed::release);
    }

    /// A process is gone, and with it its connections.
    pub fn exited(&mut self, at: Timestamp, process: u32) {
        self.explain(process, false);
        let gone: Vec<ConnectionKey> = self.connections.keys().filter(|key| key.process == process).copied().collect();
        for key in gone {
            self.forget(at, key, EndManner::Fin);
        }
    }

    /// How many connections are followed now.
    pub fn followed(&self) -> usize {
        self.connections.len()
    }

    /// Header fields that could not be joined with the bytes that have them.
    pub const fn unused_fields(&self) -> u64 {
        self.late_fields.saturating_add(self.sent_fields.lost())
    }

    /// Records that meant nothing here.
    pub const fn ignored(&self) -> u64 {
        self.ignored
    }

    #[cfg(test)]
    pub(super) const fn whereabouts_mut(&mut self) -> &mut W {
        &mut self.whereabouts
    }

    fn take_fields(&mut self, record: &Record, payload: &[u8]) {
        let process = record.connection.process;
        let is_told = self.explained.contains(&process);
        let address = (process, record.connection.address);
        match record.kind {
            kind if kind == Kind::SentField as u32 => {
                if is_told {
                    self.sent_fields.encoded(address, name_and_value(record, payload));
                }
            }
            kind if kind == Kind::Headers as u32 => {
                if let Some((goroutine, stream)) = payload.first_chunk().copied().zip(u32::try_from(record.offset).ok()) {
                    self.sent_fields.announced((process, u64::from_ne_bytes(goroutine)), address, stream);
                }
            }
            kind if kind == Kind::ReceivedField as u32 => {
                let number = u64::try_from(record.descriptor).unwrap_or(u64::MAX);
                let followed = self.connections.get_mut(&record.connection);
                // One that is missing lets the number of the next one tell.
                let is_taken = followed
                    .zip(name_and_value(record, payload))
                    .is_some_and(|(followed, (name, value))| followed.received_field(record.offset, number, name, value));
                self.late_fields = self.late_fields.saturating_add(u64::from(is_told && !is_taken));
            }
            _unknown => self.ignored = self.ignored.saturating_add(1),
        }
    }

    fn begin(&mut self, at: Timestamp, record: &Record, way: Way, payload: &[u8]) -> bool {
        let key = record.connection;
        if self.elsewhere.contains(&key) {
            return false;
        }
        // Its end was not seen: the library's memory has another connection now.
        if let Some(former) = self.present.remove(&(key.process, key.address)) {
            self.forget(at, former, EndManner::ByTap);
        }
        if let Some(followed) = self.follow(at, record, way, payload) {
            self.connections.insert(key, followed);
            self.present.insert((key.process, key.address), key);
            return true;
        }
        if self.elsewhere.len() >= self.limits.connections {
            self.elsewhere.clear();
        }
        self.elsewhere.insert(key);
        false
    }

    fn follow(&mut self, at: Timestamp, record: &Record, way: Way, payload: &[u8]) -> Option<Followed> {
        let (role, info) = self.introduce(record, way, payload)?;
        if self.connections.len() >= self.limits.connections {
            self.intake.decline();
            return None;
        }
        let is_late = info.start == Start::Middle && self.explained.contains(&record.connection.process);
        let followed = Followed::new(role, self.intake.register(at, info)?);
        Some(if is_late { followed.explained() } else { followed })
    }

    fn introduce(&mut self, record: &Record, way: Way, payload: &[u8]) -> Option<(Role, ConnectionInfo)> {
        let ConnectionEnds { process, local, remote } = self.whereabouts.of(record.connection.process, record.descriptor)?;
        let is_api_server = |address: &SocketAddr| self.api_servers.contains(address);
        let role = match (is_api_server(&remote), is_api_server(&local)) {
            (true, _) => Role::Client,
            (false, true) => Role::Server,
            (false, false) => return None,
        };
        let (protocol, start) = beginning(role, way, record.offset, payload);
        let (client, upstream) = if role == Role::Client { (local, remote) } else { (remote, local) };
        let process = process.filter(|_| role == Role::Client);
        Some((role, ConnectionInfo { client, listener: upstream, upstream, process, protocol, start }))
    }

    fn close(&mut self, at: Timestamp, record: &Record) {
        if let Some(followed) = self.connections.get_mut(&record.connection) {
            followed.lack_up_to(at, Way::Sent, record.offset);
        }
        self.elsewhere.remove(&record.connection);
        self.forget(at, record.connection, EndManner::CloseNotify);
    }

    fn forget(&mut self, at: Timestamp, key: ConnectionKey, manner: EndManner) {
        if let Some(followed) = self.connections.remove(&key) {
            self.present.remove(&(key.process, key.address));
            followed.close(at, manner);
        }
    }
}

fn name_and_value<'p>(record: &Record, payload: &'p [u8]) -> Option<(&'p [u8], &'p [u8])> {
    let is_readable = record.flags & UNREADABLE == 0;
    payload.split_at_checked(usize::try_from(record.name_length).ok()?).filter(|_| is_readable)
}
