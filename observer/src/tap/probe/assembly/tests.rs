//! Records as the programs make them, and what the intake is offered for them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use observer_core::http::{Direction, Protocol, Start};
use observer_core::time::Timestamp;
use observer_ebpf::{ConnectionKey, Kind, Record, UNREADABLE, Verdict};

use super::{Assembly, ConnectionEnds, Limits, Whereabouts};
use crate::intake::{Delivery, EndManner, Intake, IntakeLimits, IntakeReceiver, TapEvent};

const CLIENT: u32 = 100;
const SERVER: u32 = 200;
const SENT: Kind = Kind::Sent;
const RECEIVED: Kind = Kind::Received;
const GET: &[u8] = b"GET /api/v1/pods HTTP/1.1\r\n\r\n";

#[test]
fn client_and_server_have_the_same_directions() {
    for (process, asks, answers) in [(CLIENT, SENT, RECEIVED), (SERVER, RECEIVED, SENT)] {
        let mut stage = Stage::new();
        assert_eq!(stage.take(process, 1, asks, 0, GET), Some(Verdict::Wanted));
        assert_eq!(stage.take(process, 1, answers, 0, b"HTTP/1.1 200"), None);
        assert_eq!(stage.take(process, 1, answers, 12, b" OK"), None);
        stage.close(process, 1, if asks == SENT { 29 } else { 15 });
        let closes = if asks == SENT { "request" } else { "response" };
        assert_eq!(
            stage.told(),
            [
                "1 opened Some(Http1) Beginning 10.0.0.7:40000 to 10.0.0.1:6443",
                "1 request 29 bytes",
                "1 response 12 bytes",
                "1 response 3 bytes",
                &format!("1 {closes} ended CloseNotify"),
                "1 closed"
            ]
        );
    }
}

#[test]
fn beginning_is_known_by_what_the_client_says_first() {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    for (way, offset, bytes, expected) in [
        (SENT, 0, &preface[..], "Some(Http2) Beginning"),
        (SENT, 0, GET, "Some(Http1) Beginning"),
        (SENT, 0, b"\0\0\x08\x06\0\0\0\0\0", "None Middle"),
        (SENT, 16_384, GET, "None Middle"),
        (RECEIVED, 0, b"HTTP/1.1 200 OK\r\n", "None Middle"),
    ] {
        let mut stage = Stage::new();
        stage.take(CLIENT, 1, way, offset, bytes);
        let opened = format!("1 opened {expected} 10.0.0.7:40000 to 10.0.0.1:6443");
        assert_eq!(stage.told().first(), Some(&opened), "{way:?} {offset} {bytes:?}");
    }
}

#[test]
fn records_that_lack_are_holes_of_known_length() {
    let mut stage = Stage::new();
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.take(CLIENT, 1, RECEIVED, 100, b"behind a hole");
    stage.unreadable(CLIENT, 1, RECEIVED, 113, 50);
    stage.take(CLIENT, 1, RECEIVED, 163, b"again");
    // Told before, but for its last byte.
    stage.take(CLIENT, 1, RECEIVED, 163, b"again!");
    stage.close(CLIENT, 1, 40);
    assert_eq!(
        stage.told()[1..],
        [
            "1 request 29 bytes",
            "1 response gap 100",
            "1 response 13 bytes",
            "1 response gap 50",
            "1 response 5 bytes",
            "1 response 1 bytes",
            "1 request gap 11",
            "1 request ended CloseNotify",
            "1 closed"
        ]
    );
}

#[test]
fn connections_that_lead_elsewhere_are_asked_about_once() {
    let mut stage = Stage::new();
    stage.leads(300, "10.0.0.9:50000", "192.0.2.1:443");
    for _ in 0..3 {
        assert_eq!(stage.take(300, 1, SENT, 0, GET), Some(Verdict::Elsewhere));
        assert_eq!(stage.take(400, 1, SENT, 0, GET), Some(Verdict::Elsewhere), "its socket is not known");
    }
    assert_eq!(stage.asked(), 2);
    assert_eq!(stage.told(), [""; 0]);
}

#[test]
fn memory_that_has_another_connection_ends_the_former() {
    let mut stage = Stage::new();
    stage.take(CLIENT, 1, SENT, 0, GET);
    stage.take(CLIENT, 2, SENT, 0, GET);
    stage.assembly.exited(Timestamp::from_nanos(9), CLIENT);
    assert_eq!(stage.assembly.followed(), 0);
    let ends: Vec<String> = stage.told().into_iter().filter(|line| line.contains("ended")).collect();
    assert_eq!(ends, ["1 request ended ByTap", "2 request ended Fin"]);
}

#[test]
fn what_finds_no_room_or_has_no_meaning_is_counted() {
    let mut stage = Stage::with(Limits { connections: 1 });
    stage.take(CLIENT, 1, SENT, 0, GET);
    assert_eq!(stage.take(SERVER, 1, RECEIVED, 0, GET), Some(Verdict::Elsewhere));
    assert_eq!(stage.intake.losses().connections, 1);
    let unknown = Record { kind: 77, ..record(CLIENT, 1, SENT, 0, 0) };
    assert_eq!(stage.assembly.take(Timestamp::default(), &unknown, b""), None);
    assert_eq!((stage.assembly.followed(), stage.assembly.ignored()), (1, 1));
}

#[test]
fn sent_fields_come_before_the_bytes_that_their_goroutine_sends() {
    let mut stage = Stage::explained();
    stage.take(CLIENT, 1, SENT, 0, b"in the middle");
    stage.sent_field(8, b":path", b"/a");
    stage.sent_field(9, b":path", b"/b");
    stage.sent_field(9, b"accept", b"c");
    stage.headers(9, 7);
    stage.take(CLIENT, 1, SENT, 13, b"a block");
    stage.headers(8, 9);
    stage.headers(9, 11);
    stage.take(CLIENT, 1, SENT, 20, b"another");
    stage.unreadable_field(8);
    stage.sent_field(8, b":path", b"/d");
    stage.headers(8, 13);
    stage.take(CLIENT, 1, SENT, 27, b"a third");
    assert_eq!(
        stage.told()[1..],
        [
            "1 request 13 bytes",
            "1 request 2 fields of OfStream(7)",
            "1 request 7 bytes",
            "1 request 1 fields of OfStream(9)",
            "1 request 7 bytes",
            "1 request 7 bytes",
        ]
    );
    assert_eq!(stage.assembly.unused_fields(), 2);
}

#[test]
fn received_bytes_wait_for_the_fields_in_them_and_what_is_sent_waits_behind() {
    let mut stage = Stage::explained();
    stage.take(CLIENT, 1, RECEIVED, 0, b"first");
    stage.received_field(5, 0);
    stage.received_field(5, 1);
    stage.take(CLIENT, 1, SENT, 0, b"meanwhile");
    assert_eq!(stage.told().len(), 1, "opened, and no more");
    stage.take(CLIENT, 1, RECEIVED, 5, b"second");
    assert_eq!(stage.told(), ["1 response 2 fields of OfNextBytes", "1 response 5 bytes", "1 request 9 bytes"]);
    // Its fields belong to what has gone on already.
    stage.received_field(5, 2);
    let now = Instant::now();
    stage.assembly.look(now);
    stage.received_field(11, 0);
    stage.assembly.look(now + Duration::from_millis(19));
    assert_eq!(stage.told(), [""; 0]);
    stage.assembly.look(now + Duration::from_millis(20));
    assert_eq!(stage.told(), ["1 response 1 fields of OfNextBytes", "1 response 6 bytes"]);
    stage.received_field(11, 1);
    stage.take(CLIENT, 1, SENT, 9, b"at once");
    assert_eq!(stage.told(), ["1 request 7 bytes"]);
    stage.take(CLIENT, 1, RECEIVED, 11, b"last");
    assert_eq!(stage.told(), [""; 0]);
    stage.assembly.explain(CLIENT, false);
    stage.take(CLIENT, 1, RECEIVED, 15, b"at once");
    stage.close(CLIENT, 1, 16);
    assert_eq!(stage.told(), ["1 response 4 bytes", "1 response 7 bytes", "1 request ended CloseNotify", "1 closed"]);
    assert_eq!(stage.assembly.unused_fields(), 2);
}

#[test]
fn fields_of_a_read_of_which_one_is_missing_are_not_told() {
    for numbers in [&[1, 2][..], &[0, 2], &[0, 0]] {
        let mut stage = Stage::explained();
        stage.take(CLIENT, 1, RECEIVED, 0, b"first");
        for number in numbers {
            stage.received_field(5, *number);
        }
        stage.take(CLIENT, 1, RECEIVED, 5, b"second");
        assert_eq!(stage.told()[1..], ["1 response 5 bytes"], "{numbers:?}");
    }
}

#[test]
fn nothing_waits_where_the_beginning_was_seen_or_no_fields_are_told() {
    for is_explained in [false, true] {
        let mut stage = Stage::new();
        stage.assembly.explain(CLIENT, is_explained);
        if is_explained {
            stage.take(CLIENT, 1, SENT, 0, GET);
        }
        stage.take(CLIENT, 1, RECEIVED, 0, b"HTTP/1.1 200");
        stage.sent_field(9, b":path", b"/b");
        assert_eq!(stage.told().last().unwrap(), "1 response 12 bytes");
    }
}

#[test]
fn what_waits_and_what_is_encoded_is_bounded() {
    let mut stage = Stage::explained();
    stage.take(CLIENT, 1, RECEIVED, 0, b"first");
    for part in 0..17 {
        stage.take(CLIENT, 1, SENT, part * 16_384, &[0; 16_384]);
    }
    assert_eq!(stage.told().len(), 19, "all has gone on");
    for goroutine in 0..5_000 {
        stage.sent_field(goroutine, b"a", &[b'x'; 100]);
    }
    assert_eq!(stage.assembly.unused_fields(), 4_097);
    stage.assembly.exited(Timestamp::from_nanos(9), CLIENT);
    stage.headers(4_999, 7);
    stage.take(CLIENT, 2, SENT, 0, b"a block");
    assert!(!stage.told().iter().any(|line| line.contains("fields")));
}

/// An assembly, where its connections lead, and what it tells.
struct Stage {
    assembly: Assembly<Map>,
    intake: Intake,
    receiver: IntakeReceiver,
}

struct Map {
    ends: HashMap<u32, ConnectionEnds>,
    asked: usize,
}

impl Whereabouts for Map {
    fn of(&mut self, process: u32, _descriptor: i32) -> Option<ConnectionEnds> {
        self.asked += 1;
        self.ends.get(&process).cloned()
    }
}

impl Stage {
    /// A client and a server that are connected with each other.
    fn new() -> Self {
        Self::with(Limits::default())
    }

    fn with(limits: Limits) -> Self {
        let (intake, receiver) = Intake::new(IntakeLimits::default());
        let map = Map { ends: HashMap::new(), asked: 0 };
        let server: SocketAddr = "10.0.0.1:6443".parse().unwrap();
        let mut stage = Self { assembly: Assembly::new(intake.clone(), vec![server], map, limits), intake, receiver };
        stage.leads(CLIENT, "10.0.0.7:40000", "10.0.0.1:6443");
        stage.leads(SERVER, "10.0.0.1:6443", "10.0.0.7:40000");
        stage
    }

    /// A client whose header fields are told.
    fn explained() -> Self {
        let mut stage = Self::new();
        stage.assembly.explain(CLIENT, true);
        stage
    }

    fn sent_field(&mut self, goroutine: u64, name: &[u8], value: &[u8]) {
        let sent = record(CLIENT, 0, Kind::SentField, 0, name.len() + value.len());
        let connection = ConnectionKey { address: goroutine, ..sent.connection };
        let field = Record { connection, name_length: name.len().try_into().unwrap(), ..sent };
        self.take_record(&field, &[name, value].concat());
    }

    fn unreadable_field(&mut self, goroutine: u64) {
        let sent = record(CLIENT, 0, Kind::SentField, 0, 4);
        let connection = ConnectionKey { address: goroutine, ..sent.connection };
        self.take_record(&Record { connection, flags: UNREADABLE, name_length: 1, ..sent }, b"????");
    }

    fn headers(&mut self, goroutine: u64, stream: u64) {
        self.take_record(&record(CLIENT, 0, Kind::Headers, stream, 8), &goroutine.to_ne_bytes());
    }

    fn received_field(&mut self, received: u64, number: i32) {
        let field = record(CLIENT, 1, Kind::ReceivedField, received, 2);
        self.take_record(&Record { descriptor: number, name_length: 1, ..field }, b"ab");
    }

    fn take_record(&mut self, record: &Record, payload: &[u8]) {
        assert_eq!(self.assembly.take(Timestamp::from_nanos(1), record, payload), None);
    }

    fn leads(&mut self, process: u32, local: &str, remote: &str) {
        let ends = ConnectionEnds { process: None, local: local.parse().unwrap(), remote: remote.parse().unwrap() };
        self.assembly.whereabouts_mut().ends.insert(process, ends);
    }

    fn asked(&mut self) -> usize {
        self.assembly.whereabouts_mut().asked
    }

    fn take(&mut self, process: u32, since: u64, kind: Kind, offset: u64, bytes: &[u8]) -> Option<Verdict> {
        let record = record(process, since, kind, offset, bytes.len());
        self.assembly.take(Timestamp::from_nanos(1), &record, bytes)
    }

    fn unreadable(&mut self, process: u32, since: u64, kind: Kind, offset: u64, length: usize) {
        let record = Record { flags: UNREADABLE, ..record(process, since, kind, offset, length) };
        assert_eq!(self.assembly.take(Timestamp::from_nanos(1), &record, &vec![b'?'; length]), None);
    }

    fn close(&mut self, process: u32, since: u64, sent: u64) {
        let record = record(process, since, Kind::Closed, sent, 0);
        assert_eq!(self.assembly.take(Timestamp::from_nanos(2), &record, b""), None);
    }

    /// All that was told since, a line each.
    fn told(&mut self) -> Vec<String> {
        let delivered: Vec<Delivery> = self.receiver.drain(Duration::ZERO).map(|delivered| delivered.delivery).collect();
        delivered.iter().map(line).collect()
    }
}

fn record(process: u32, since: u64, kind: Kind, offset: u64, length: usize) -> Record {
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
    let Delivery::Connection(id, event) = delivery else { panic!("{delivery:?}") };
    let said = match event {
        TapEvent::Opened { info, .. } => {
            let (protocol, start): (Option<Protocol>, Start) = (info.protocol, info.start);
            format!("opened {protocol:?} {start:?} {} to {}", info.client, info.upstream)
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
        TapEvent::Closed { .. } => "closed".to_owned(),
        TapEvent::ClientBlocked { .. } => panic!("{event:?}"),
    };
    format!("{} {said}", id.0)
}
