//! Invariants of the queue between the threads that forward traffic and the observing thread, with any limits. The receiver gets
//! the forwarded bytes, with gaps of the correct length in place of dropped bytes. Unless decoding of a direction stopped, all
//! events arrive except those of bodies. If the receiver is dropped, sending does not fail.
//!
//! The first byte of the input is the queue's limit for one connection, in units of 64 bytes. The second is the reserve for
//! indispensable HTTP/2 frames; at 255 the receiver is dropped. A [`Tape`] of HTTP/2 follows. A gap of length 0 ends its direction;
//! the first two other gaps drain the queue.

use std::time::Duration;

use observer_core::http::{Connection, Direction, Gap, Protocol, Start};
use observer_core::observation::Plaintext;
use observer_core::time::Timestamp;
use watchtap::intake::{ConnectionInfo, Delivery, EndManner, Intake, IntakeLimits, IntakeReceiver, TapEvent};

use super::event_log::EventLog;
use super::tape::{Record, Tape};

/// Share of the reserve, in bytes, that a connection uses before its first byte.
const OPENING: usize = 2048;

/// Offers the tape to a queue with these limits, and compares the output.
pub fn check(input: &[u8]) {
    let Some((&[room, reserve], tape)) = input.split_first_chunk::<2>() else { return };
    let [room, reserve] = [room, reserve].map(|units| usize::from(units) * 64);
    let spare = OPENING + reserve;
    let limits = IntakeLimits { connection: room, total: room, connection_reserve: spare, total_reserve: spare };
    let (intake, receiver) = Intake::new(limits);
    let mut feed = intake.register(Timestamp::default(), info()).expect("there is room for one connection");
    let mut receiver = (reserve < 255 * 64).then_some(receiver);
    let (mut offered, mut taken, mut moments) = (Offered::default(), Taken::default(), 2);
    for record in Tape(tape) {
        match record {
            Record::Bytes(direction, bytes) => {
                feed.bytes(Timestamp::default(), direction, bytes);
                offered.bytes(direction, bytes);
            }
            Record::Gap(direction, 0) => {
                feed.ended(Timestamp::default(), direction, EndManner::Fin);
                offered.ends.push(direction);
            }
            Record::Gap(..) if moments > 0 => {
                moments -= 1;
                taken.take(receiver.as_mut());
            }
            Record::Gap(..) => {}
        }
    }
    feed.closed(Timestamp::default());
    let losses = intake.losses();
    if receiver.is_none() {
        return;
    }
    drop(intake);
    taken.take(receiver.as_mut());
    let [request, response] = offered.ways.each_ref().map(|way| way.len() as u64);
    assert_eq!(
        taken.closed,
        Some(Plaintext { request, response }),
        "the end of the connection is not reported, or with other bytes"
    );
    assert_eq!(offered.ends, taken.ends, "an end is reported otherwise");
    assert_eq!(losses.bytes, taken.ways.iter().map(|way| way.lost).sum::<u64>(), "lost bytes are counted otherwise than reported");
    for (offered, way) in offered.ways.iter().zip(&taken.ways) {
        assert_eq!(offered.len() as u64, way.position, "bytes came or went");
        for (at, bytes) in &way.seen {
            let here = offered.get(*at..).and_then(|rest| rest.get(..bytes.len()));
            assert_eq!(here, Some(bytes.as_slice()), "other bytes at {at}");
        }
    }
    if losses.stopped_directions == 0 && offered.log.is_sound() {
        assert_eq!(offered.log.without_stretches(), taken.log.without_stretches(), "payload said more than a body");
    }
}

/// The input of the queue.
#[derive(Default)]
struct Offered {
    ways: [Vec<u8>; 2],
    decoder: Decoder,
    log: EventLog,
    ends: Vec<Direction>,
}

impl Offered {
    fn bytes(&mut self, direction: Direction, bytes: &[u8]) {
        self.ways[usize::from(direction == Direction::Response)].extend_from_slice(bytes);
        self.decoder.0.bytes(direction, bytes, &mut |event| self.log.note(&event));
    }
}

/// The output of the queue.
#[derive(Default)]
struct Taken {
    ways: [Way; 2],
    decoder: Decoder,
    log: EventLog,
    ends: Vec<Direction>,
    closed: Option<Plaintext>,
}

#[derive(Default)]
struct Way {
    position: u64,
    lost: u64,
    seen: Vec<(usize, Vec<u8>)>,
}

impl Taken {
    fn take(&mut self, receiver: Option<&mut IntakeReceiver>) {
        let Some(receiver) = receiver else { return };
        while let Some(batch) = Some(receiver.drain(Duration::ZERO)).filter(|batch| batch.len() > 0) {
            for delivered in batch {
                if let Delivery::Connection(_, event) = &delivered.delivery {
                    self.event(event);
                }
            }
        }
    }

    fn event(&mut self, event: &TapEvent) {
        let Self { ways, decoder, log, ends, closed } = self;
        assert!(closed.is_none(), "something is reported after the end");
        match event {
            TapEvent::Bytes { direction, bytes, .. } => {
                let way = &mut ways[usize::from(*direction == Direction::Response)];
                let at = usize::try_from(way.position).expect("the input is short");
                way.seen.push((at, bytes.to_vec()));
                way.position += bytes.len() as u64;
                decoder.0.bytes(*direction, bytes, &mut |event| log.note(&event));
            }
            TapEvent::Gap { direction, gap: gap @ Gap { length, .. }, .. } => {
                let way = &mut ways[usize::from(*direction == Direction::Response)];
                (way.position, way.lost) = (way.position + length, way.lost + length);
                decoder.0.gap(*direction, *gap, &mut |event| log.note(&event));
            }
            TapEvent::Closed { forwarded, .. } => *closed = Some(*forwarded),
            TapEvent::Ended { direction, .. } => ends.push(*direction),
            TapEvent::Opened { .. } | TapEvent::Fields { .. } | TapEvent::ClientBlocked { .. } | TapEvent::NotObserved { .. } => {}
        }
    }
}

/// An HTTP/2 decoder.
struct Decoder(Connection);

impl Default for Decoder {
    fn default() -> Self {
        Self(Connection::new(Start::Beginning, Some(Protocol::Http2)))
    }
}

fn info() -> ConnectionInfo {
    let [client, server] = [1, 2].map(|port| ([127, 0, 0, 1], port).into());
    ConnectionInfo {
        client,
        upstream: None,
        server,
        process: None,
        container_name: None,
        protocol: Some(Protocol::Http2),
        start: Start::Beginning,
    }
}
