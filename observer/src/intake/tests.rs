//! Tests of the queue while the observing thread lags, stalls or is gone.

use std::time::Duration;

use observer_core::http::{Direction, Protocol, Start};
use observer_core::observation::Process;
use observer_core::time::Timestamp;

use super::*;
use crate::api_server::UpstreamId;

const REQUEST: Direction = Direction::Request;
const RESPONSE: Direction = Direction::Response;

#[test]
fn both_directions_arrive_in_the_order_they_were_offered() {
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let mut feed = open(&intake, Some(Protocol::Http1));

    feed.bytes(at(1), REQUEST, b"GET");
    feed.bytes(at(2), RESPONSE, b"200");
    feed.bytes(at(3), REQUEST, b"GET");
    feed.ended(at(4), RESPONSE, EndManner::Fin);
    feed.closed(at(5));

    let expected = [
        "0 opened",
        "1 request bytes 3",
        "2 response bytes 3",
        "3 request bytes 3",
        "4 response ended Fin",
        "5 closed after 6 and 3 bytes",
    ];
    assert_eq!(drain(&mut receiver), expected);
    assert_eq!(intake.losses(), IntakeLosses::default());
}

#[test]
fn http1_bytes_without_room_become_one_gap_in_order() {
    let (intake, mut receiver) = Intake::new(limits(3_000, 10_000));
    let mut feed = open(&intake, Some(Protocol::Http1));

    feed.bytes(at(1), RESPONSE, &[0; 2_000]);
    feed.bytes(at(2), RESPONSE, &[0; 2_001]);
    feed.bytes(at(3), REQUEST, &[0; 3_000]);
    feed.bytes(at(4), RESPONSE, &[0; 2_002]);
    feed.bytes(at(5), REQUEST, b"small enough");

    let expected = [
        "0 opened",
        "1 response bytes 2000",
        "2 response gap stream=None length=4003",
        "3 request gap stream=None length=3000",
        "5 request bytes 12",
    ];
    assert_eq!(drain(&mut receiver), expected);
    assert_eq!(intake.losses(), IntakeLosses { bytes: 7_003, reads: 3, ..IntakeLosses::default() });
}

#[test]
fn bytes_missed_by_the_tap_become_a_gap() {
    let (intake, mut receiver) = Intake::new(limits(3_000, 10_000));
    let mut feed = open(&intake, Some(Protocol::Http2));
    let data = frame(DATA, 1, &[0; 4_000]);

    feed.bytes(at(1), RESPONSE, &data[..100]);
    feed.missed(at(2), RESPONSE, 200);
    feed.missed(at(3), RESPONSE, 300);
    feed.bytes(at(4), RESPONSE, &data);
    feed.closed(at(5));

    // The frame boundaries are lost, so all later bytes without room are one gap.
    let expected =
        ["0 opened", "1 response bytes 100", "2 response gap stream=None length=4509", "5 closed after 0 and 4609 bytes"];
    assert_eq!(drain(&mut receiver), expected);
    assert_eq!(intake.losses(), IntakeLosses { bytes: 4_509, reads: 3, ..IntakeLosses::default() });
}

#[test]
fn notices_without_room_are_counted_except_awaited_ones() {
    let (intake, mut receiver) = Intake::new(IntakeLimits { total_reserve: 0, ..IntakeLimits::default() });
    intake.notice(Notice::ResetInsteadOfRefused { at: at(1), clients: 1 });
    intake.notice(Notice::Profile { at: at(2), upstream: UpstreamId::default(), profile: Box::default() });
    let told = drain(&mut receiver);
    assert!(matches!(&told[..], [one] if one.starts_with("Profile")), "{told:?}");
    assert_eq!(intake.losses(), IntakeLosses { notices: 1, ..IntakeLosses::default() });
}

#[test]
fn draining_frees_room() {
    let (intake, mut receiver) = Intake::new(limits(3_000, 10_000));
    let mut feed = open(&intake, Some(Protocol::Http1));
    for round in 1..=3 {
        feed.bytes(at(round), RESPONSE, &[0; 2_000]);
        drain(&mut receiver);
    }
    assert_eq!(intake.losses(), IntakeLosses::default());
}

#[test]
fn waker_wakes_the_receiver_and_does_not_keep_the_queue_open() {
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let waker = receiver.waker();
    waker.wake();
    assert_eq!(receiver.drain(Duration::MAX).len(), 1);
    let mut feed = open(&intake, Some(Protocol::Http1));
    assert_eq!(waker.queued(), 0);
    feed.bytes(at(1), REQUEST, b"GET");
    assert!(waker.queued() > 0);
    drop((feed, intake));
    drain(&mut receiver);
    waker.wake();
    assert_eq!(receiver.drain(Duration::MAX).len(), 0);
    assert!(receiver.is_closed());
}

#[test]
fn http2_without_room_loses_only_data_payload() {
    let (intake, mut receiver) = Intake::new(limits(0, 10_000));
    let mut feed = open(&intake, Some(Protocol::Http2));
    let mut response = frame(SETTINGS, 0, &[]);
    response.extend(frame(HEADERS, 1, &[1; 20]));
    response.extend(frame(DATA, 1, &[2; 1_000]));
    response.extend(frame(DATA, 3, &[3; 500]));
    response.extend(frame(HEADERS, 3, &[4; 5]));
    for read in response.chunks(700) {
        feed.bytes(at(1), RESPONSE, read);
    }
    feed.closed(at(2));

    let expected = [
        "0 opened",
        "1 response bytes 47", // two frames and a frame header
        "1 response gap stream=Some(1) length=1000",
        "1 response bytes 9",
        "1 response gap stream=Some(3) length=500",
        "1 response bytes 14",
        "2 closed after 0 and 1570 bytes",
    ];
    assert_eq!(drain(&mut receiver), expected);
}

#[test]
fn exhausted_reserve_makes_the_http2_direction_one_gap() {
    let (intake, mut receiver) = Intake::new(limits(0, 300));
    let mut feed = open(&intake, Some(Protocol::Http2));
    feed.bytes(at(1), RESPONSE, &frame(SETTINGS, 0, &[]));
    feed.bytes(at(2), RESPONSE, &frame(DATA, 1, &[0; 100]));
    drop(drain(&mut receiver));
    feed.bytes(at(3), RESPONSE, &frame(HEADERS, 1, &[0; 10]));
    feed.closed(at(4));

    assert_eq!(drain(&mut receiver), ["2 response gap stream=None length=128", "4 closed after 0 and 137 bytes"]);
    assert_eq!(intake.losses(), IntakeLosses { bytes: 128, reads: 3, stopped_directions: 1, ..IntakeLosses::default() });
}

#[test]
fn goaway_is_seen_in_an_unobserved_direction() {
    let (intake, _receiver) = Intake::new(limits(0, 0));
    let mut feed = open(&intake, Some(Protocol::Http2));
    feed.bytes(at(1), RESPONSE, &frame(SETTINGS, 0, &[]));
    assert!(!feed.saw_goaway());
    feed.bytes(at(2), RESPONSE, &frame(GOAWAY, 0, &[0; 8]));
    assert!(feed.saw_goaway());
}

#[test]
fn a_stalled_observer_bounds_the_number_of_connections_too() {
    let limits = IntakeLimits { total_reserve: 10 << 10, ..IntakeLimits::default() };
    let (intake, mut receiver) = Intake::new(limits);
    let observed = (0..100).filter_map(|_| intake.register(at(0), info(None))).count();
    assert_eq!((observed, intake.losses().connections), (10, 90));

    drain(&mut receiver);
    assert!(intake.register(at(1), info(None)).is_some(), "closed and drained connections give their room back");
}

#[test]
fn a_feed_that_is_dropped_closes_its_connection() {
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let mut feed = open(&intake, None);
    feed.bytes(at(7), REQUEST, b"x");
    drop(feed);
    assert_eq!(drain(&mut receiver), ["0 opened", "7 request bytes 1", "7 closed after 1 and 0 bytes"]);
}

#[test]
fn nothing_is_buffered_after_the_receiver_is_dropped() {
    let (intake, receiver) = Intake::new(IntakeLimits::default());
    let mut feed = open(&intake, None);
    drop(receiver);
    let read = vec![0; 1 << 20];
    for _ in 0..1_000 {
        feed.bytes(at(1), REQUEST, &read);
    }
    assert!(intake.register(at(2), info(None)).is_none());
    assert_eq!(intake.losses().bytes, 0, "each read found room");
}

#[test]
fn receiver_closes_after_the_last_feed() {
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let feed = open(&intake, None);
    drop(intake);
    feed.closed(at(1));
    assert_eq!(drain(&mut receiver), ["0 opened", "1 closed after 0 and 0 bytes"]);
    assert!(receiver.is_closed());
}

#[test]
fn process_found_late_is_delivered_even_after_close() {
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let (mut feed, pending) = intake.register_before_process(at(0), info(None)).unwrap();
    feed.bytes(at(1), REQUEST, b"x");
    feed.closed(at(2));
    pending.found(Process::new(7, 1, "controller".to_owned()));
    let expected = ["0 opened, its process follows", "1 request bytes 1", "2 closed after 1 and 0 bytes", "process Some(7)"];
    assert_eq!(drain(&mut receiver), expected);
}

#[test]
fn process_that_was_not_found_is_delivered_as_unknown() {
    let (intake, mut receiver) = Intake::new(IntakeLimits::default());
    let (feed, pending) = intake.register_before_process(at(0), info(None)).unwrap();
    drop(pending);
    assert_eq!(drain(&mut receiver), ["0 opened, its process follows", "process None"]);
    drop(feed);
}

#[test]
fn connection_with_no_room_for_its_process_is_not_observed() {
    let (intake, mut receiver) = Intake::new(IntakeLimits { total_reserve: 1 << 10, ..IntakeLimits::default() });
    assert!(intake.register_before_process(at(0), info(None)).is_none());
    assert_eq!(intake.losses().connections, 1);
    assert!(intake.register(at(1), info(None)).is_some(), "what it took was given back");
    assert_eq!(drain(&mut receiver), ["1 opened", "1 closed after 0 and 0 bytes"]);
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

/// An HTTP/2 frame without flags (RFC 9113 §4.1).
fn frame(frame_type: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([frame_type, 0, 0, 0, 0, stream]);
    frame.extend(payload);
    frame
}

fn at(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

fn limits(connection: usize, connection_reserve: usize) -> IntakeLimits {
    IntakeLimits { connection, connection_reserve, ..IntakeLimits::default() }
}

fn info(protocol: Option<Protocol>) -> ConnectionInfo {
    let address = "127.0.0.1:1".parse().unwrap();
    ConnectionInfo {
        client: address,
        upstream: None,
        server: address,
        process: None,
        container_name: None,
        protocol,
        start: Start::Beginning,
    }
}

#[track_caller]
fn open(intake: &Intake, protocol: Option<Protocol>) -> ConnectionFeed {
    intake.register(at(0), info(protocol)).expect("there is room")
}

/// All queued deliveries, one line each.
fn drain(receiver: &mut IntakeReceiver) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    loop {
        let batch: Vec<_> = receiver.drain(Duration::ZERO).map(|delivered| delivered.delivery).collect();
        if batch.is_empty() {
            return lines;
        }
        lines.extend(batch.into_iter().map(line));
    }
}

fn line(delivery: Delivery) -> String {
    let word = |direction| match direction {
        Direction::Request => "request",
        Direction::Response => "response",
    };
    match delivery {
        Delivery::Notice(notice) => format!("{notice:?}"),
        Delivery::Process(_, process) => format!("process {:?}", process.map(|process| process.pid)),
        Delivery::Connection(_, TapEvent::Opened { at, process_follows: false, .. }) => format!("{} opened", at.as_nanos()),
        Delivery::Connection(_, TapEvent::Opened { at, .. }) => format!("{} opened, its process follows", at.as_nanos()),
        Delivery::Connection(_, TapEvent::Bytes { at, direction, bytes }) => {
            format!("{} {} bytes {}", at.as_nanos(), word(direction), bytes.len())
        }
        Delivery::Connection(_, TapEvent::Fields { at, direction, fields }) => {
            format!("{} fields {direction:?} {}", at.as_nanos(), fields.len())
        }
        Delivery::Connection(_, TapEvent::Gap { at, direction, gap }) => {
            format!("{} {} gap stream={:?} length={}", at.as_nanos(), word(direction), gap.stream, gap.length)
        }
        Delivery::Connection(_, TapEvent::ClientBlocked { at, since }) => {
            format!("{} client blocked since {:?}", at.as_nanos(), since.map(Timestamp::as_nanos))
        }
        Delivery::Connection(_, TapEvent::Ended { at, direction, manner }) => {
            format!("{} {} ended {manner:?}", at.as_nanos(), word(direction))
        }
        Delivery::Connection(_, TapEvent::NotObserved { at }) => format!("{} out of sight", at.as_nanos()),
        Delivery::Connection(_, TapEvent::Closed { at, forwarded }) => {
            format!("{} closed after {} and {} bytes", at.as_nanos(), forwarded.request, forwarded.response)
        }
    }
}
