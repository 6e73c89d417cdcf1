//! The fixture of the tests of the assembly.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use observer_core::http::{Direction, Protocol, Start};
use observer_core::k8s::Container;
use observer_core::observation::CgroupOwner;
use observer_core::time::Timestamp;
use observer_ebpf::{
    CLOSE_NOTIFIED, ConnectionKey, Endpoint, Kind, LifetimeEvent, LifetimeKind, Opened, Record, Role, UNREADABLE, UNWANTED,
};

use super::super::{Assembly, Limits, Recording};
use crate::intake::{Delivery, EndManner, Intake, IntakeLimits, IntakeReceiver, TapEvent};

pub(super) const CLIENT: u32 = 100;
pub(super) const SERVER: u32 = 200;
pub(super) const SENT: Kind = Kind::Sent;
pub(super) const RECEIVED: Kind = Kind::Received;
pub(super) const GET: &[u8] = b"GET /api/v1/pods HTTP/1.1\r\n\r\n";

pub(super) const ESTABLISHED: u16 = 1;
pub(super) const FIN_WAIT1: u16 = 4;
pub(super) const FIN_WAIT2: u16 = 5;
pub(super) const CLOSE: u16 = 7;
pub(super) const CLOSE_WAIT: u16 = 8;
pub(super) const LAST_ACK: u16 = 9;
pub(super) const CLOSING: u16 = 11;
pub(super) const EPIPE: i32 = 32;
pub(super) const ECONNRESET: i32 = 104;

/// An assembly, and its output.
pub(super) struct Stage {
    pub(super) assembly: Assembly,
    pub(super) intake: Intake,
    pub(super) receiver: IntakeReceiver,
    encoded: BTreeMap<u64, i32>,
}

impl Stage {
    pub(super) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(super) fn with(limits: Limits) -> Self {
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        Self { assembly: Assembly::new(intake.clone(), BTreeMap::new(), limits), intake, receiver, encoded: BTreeMap::new() }
    }

    /// An assembly that reports connections at the server's end only.
    pub(super) fn of_server_ends() -> Self {
        let Self { assembly, intake, receiver, encoded } = Self::new();
        Self { assembly: assembly.with_server_ends_alone(), intake, receiver, encoded }
    }

    /// A client with recorded header fields.
    pub(super) fn recovering() -> Self {
        Self::recovering_with(Limits::default())
    }

    pub(super) fn recovering_with(limits: Limits) -> Self {
        let mut stage = Self::with(limits);
        stage.assembly.record_fields(CLIENT, true);
        stage.open(CLIENT, 1);
        stage
    }

    pub(super) fn sent_field(&mut self, goroutine: u64, name: &[u8], value: &[u8]) {
        let sent = record(CLIENT, 0, Kind::SentField, 0, name.len() + value.len());
        let connection = ConnectionKey { address: goroutine, ..sent.connection };
        let descriptor = self.next_number(goroutine);
        let field = Record { connection, descriptor, name_length: name.len().try_into().unwrap(), ..sent };
        self.take_record(&field, &[name, value].concat());
    }

    pub(super) fn unreadable_field(&mut self, goroutine: u64) {
        let sent = record(CLIENT, 0, Kind::SentField, 0, 4);
        let connection = ConnectionKey { address: goroutine, ..sent.connection };
        let descriptor = self.next_number(goroutine);
        self.take_record(&Record { connection, descriptor, flags: UNREADABLE, name_length: 1, ..sent }, b"????");
    }

    /// A field that finds no room in the ring buffer.
    pub(super) fn lost_field(&mut self, goroutine: u64) {
        self.next_number(goroutine);
    }

    pub(super) fn headers(&mut self, goroutine: u64, stream: u64) {
        self.headers_with(0, goroutine, stream);
    }

    pub(super) fn unwanted_headers(&mut self, goroutine: u64, stream: u64) {
        self.headers_with(UNWANTED, goroutine, stream);
    }

    /// The record of a header block that finds no room in the ring buffer; the goroutine continues.
    pub(super) fn lost_headers(&mut self, goroutine: u64) -> i32 {
        self.encoded.remove(&goroutine).unwrap_or_default()
    }

    fn headers_with(&mut self, flags: u32, goroutine: u64, stream: u64) {
        let descriptor = self.lost_headers(goroutine);
        let headers = Record { descriptor, flags, ..record(CLIENT, 0, Kind::Headers, stream, 8) };
        self.take_record(&headers, &goroutine.to_ne_bytes());
    }

    /// The number of the next field: how many the goroutine has encoded since its last block.
    fn next_number(&mut self, goroutine: u64) -> i32 {
        let next = self.encoded.entry(goroutine).or_default();
        *next += 1;
        *next - 1
    }

    pub(super) fn received_field(&mut self, received: u64, number: i32) {
        let field = record(CLIENT, 1, Kind::ReceivedField, received, 2);
        self.take_record(&Record { descriptor: number, name_length: 1, ..field }, b"ab");
    }

    pub(super) fn take_record(&mut self, record: &Record, payload: &[u8]) {
        assert_eq!(self.assembly.take(Timestamp::from_nanos(1), record, payload, None), Recording::Continues);
    }

    /// Opens the client's end of a connection, or its server's; the two belong together.
    pub(super) fn opens(&mut self, process: u32, since: u64) -> Recording {
        let (client, server) = ("10.0.0.7:40000", "10.0.0.1:6443");
        if process == SERVER {
            self.open_between(process, since, server, client)
        } else {
            self.open_between(process, since, client, server)
        }
    }

    /// The socket has the same number as the connection.
    pub(super) fn open_between(&mut self, process: u32, since: u64, local: &str, remote: &str) -> Recording {
        self.open_at(1, since, (process, since), [local, remote])
    }

    pub(super) fn open_at(
        &mut self,
        time: u64,
        socket: u64,
        (process, since): (u32, u64),
        [local, remote]: [&str; 2],
    ) -> Recording {
        let opened = Opened {
            socket,
            cgroup: 1,
            started: 1_234_567_890,
            name: *b"kubectl\0leftover",
            local: endpoint(local),
            remote: endpoint(remote),
            role: if process == SERVER { Role::Server } else { Role::Client } as u32,
            // Each process has a file of its own.
            file: process,
        };
        let payload = bytes(&opened);
        let record = Record { time, ..record(process, since, Kind::Opened, 0, payload.len()) };
        self.assembly.take(Timestamp::from_nanos(1), &record, &payload, Some(CgroupOwner::Container(container())))
    }

    pub(super) fn open(&mut self, process: u32, since: u64) {
        assert_eq!(self.opens(process, since), Recording::Continues);
    }

    /// Opens a connection and sends its first bytes.
    pub(super) fn begin(&mut self, process: u32, since: u64) {
        self.open(process, since);
        self.take(process, since, SENT, 0, GET);
    }

    pub(super) fn begin_between(&mut self, process: u32, since: u64, local: &str, remote: &str) {
        assert_eq!(self.open_between(process, since, local, remote), Recording::Continues);
        self.take(process, since, SENT, 0, GET);
    }

    pub(super) fn take(&mut self, process: u32, since: u64, kind: Kind, offset: u64, bytes: &[u8]) {
        let record = record(process, since, kind, offset, bytes.len());
        assert_eq!(self.assembly.take(Timestamp::from_nanos(1), &record, bytes, None), Recording::Continues);
    }

    pub(super) fn unreadable(&mut self, process: u32, since: u64, kind: Kind, offset: u64, length: usize) {
        let record = Record { flags: UNREADABLE, ..record(process, since, kind, offset, length) };
        assert_eq!(self.assembly.take(Timestamp::from_nanos(1), &record, &vec![b'?'; length], None), Recording::Continues);
    }

    pub(super) fn close(&mut self, process: u32, since: u64, sent: u64) {
        self.close_after(process, since, sent, 0);
    }

    /// Closes a connection after these numbers of sent and received bytes.
    pub(super) fn close_after(&mut self, process: u32, since: u64, sent: u64, received: u64) {
        let record = Record { flags: CLOSE_NOTIFIED, ..record(process, since, Kind::Closed, sent, 8) };
        let taken = self.assembly.take(Timestamp::from_nanos(2), &record, &received.to_ne_bytes(), None);
        assert_eq!(taken, Recording::Continues);
    }

    pub(super) fn changes(&mut self, socket: u64, before: u16, after: u16, error: i32) {
        self.changes_at(2, socket, before, after, error);
    }

    pub(super) fn changes_at(&mut self, time: u64, socket: u64, before: u16, after: u16, error: i32) {
        let event = LifetimeEvent { time, kind: LifetimeKind::Socket as u32, process: 0, socket, before, after, error };
        self.assembly.socket_changed(Timestamp::from_nanos(time), &event);
    }

    /// The processes of the clients whose connections were opened since the last call.
    pub(super) fn opened_by(&mut self) -> Vec<Option<u32>> {
        let opened = self.receiver.drain(Duration::ZERO).filter_map(|delivered| match delivered.delivery {
            Delivery::Connection(_, TapEvent::Opened { info, .. }) => Some(info.process.map(|process| process.pid)),
            Delivery::Connection(..) | Delivery::Process(..) | Delivery::Notice(_) => None,
        });
        opened.collect()
    }

    /// All reports since the last call, one line each.
    pub(super) fn reports(&mut self) -> Vec<String> {
        let delivered: Vec<Delivery> = self.receiver.drain(Duration::ZERO).map(|delivered| delivered.delivery).collect();
        delivered.iter().map(line).collect()
    }
}

/// The container of all processes.
pub(super) fn container() -> Container {
    Container::nameless("c".repeat(64), "d".repeat(32))
}

fn endpoint(address: &str) -> Endpoint {
    let address: SocketAddr = address.parse().unwrap();
    let IpAddr::V4(ip) = address.ip() else { panic!("{address}") };
    Endpoint { address: ip.to_ipv6_mapped().octets(), port: address.port(), reserved: 0 }
}

/// The bytes as the programs write them.
fn bytes(opened: &Opened) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [opened.socket, opened.cgroup, opened.started] {
        bytes.extend(number.to_ne_bytes());
    }
    bytes.extend(opened.name);
    bytes.extend(opened.local.to_bytes());
    bytes.extend(opened.remote.to_bytes());
    bytes.extend(opened.role.to_ne_bytes());
    bytes.extend(opened.file.to_ne_bytes());
    bytes
}

pub(super) fn record(process: u32, since: u64, kind: Kind, offset: u64, length: usize) -> Record {
    Record {
        connection: ConnectionKey { address: 0xc000_1000, since, process, reserved: 0 },
        time: 1,
        offset,
        length: length.try_into().unwrap(),
        kind: kind as u32,
        thread: process,
        descriptor: 7,
        flags: 0,
        name_length: 0,
    }
}

fn line(delivery: &Delivery) -> String {
    let word = |direction: &Direction| if *direction == Direction::Request { "request" } else { "response" };
    let (id, event) = match delivery {
        Delivery::Connection(id, event) => (id, event),
        Delivery::Process(id, process) => return format!("{} of {:?}", id.0, process.as_ref().map(|process| process.pid)),
        Delivery::Notice(_) => panic!("{delivery:?}"),
    };
    let text = match event {
        TapEvent::Opened { info, .. } => {
            let (protocol, start): (Option<Protocol>, Start) = (info.protocol, info.start);
            format!("opened {protocol:?} {start:?} {} to {}", info.client, info.server)
        }
        TapEvent::Bytes { direction, bytes, .. } => format!("{} {} bytes", word(direction), bytes.len()),
        TapEvent::Gap { direction, gap, .. } => format!("{} gap {}", word(direction), gap.length),
        TapEvent::Ended { direction, manner, .. } => {
            let manner: &EndManner = manner;
            format!("{} ended {manner:?}", word(direction))
        }
        TapEvent::Fields { direction, fields, .. } => {
            format!("{} {} fields of {:?}", word(direction), fields.len(), fields.blocks())
        }
        TapEvent::NotObserved { .. } => "out of sight".to_owned(),
        TapEvent::Closed { .. } => "closed".to_owned(),
        TapEvent::ClientBlocked { .. } => panic!("{event:?}"),
    };
    format!("{} {text}", id.0)
}
