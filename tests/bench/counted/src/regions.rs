//! The regions: the work whose instructions are counted. callgrind finds each region by its function's name, so no region is
//! inlined.

use std::hint::black_box;

use anyhow::{Context, Result, ensure};
use observer_core::http::{Direction, FrameWalker, Protocol};
use observer_core::observation::{ConnectionDecoder, ConnectionId, ExchangeObservation, Subject};
use observer_core::time::Timestamp;
use observer_core::wire::{BodyKind, BodyReader, Fact};
use observer_counted::Stage;

use crate::bodies::{self, Body};
use crate::exchanges;

/// Bytes passed to the decoder at a time, as much as a tap reads.
const CHUNK: usize = 64 * 1024;
/// Plaintext bytes of one TLS record, which the proxy forwards at once.
const RECORD: usize = 16 * 1024;

/// Reads list bodies.
pub(crate) fn decode() -> Result<()> {
    let mut readers = Vec::new();
    for body in bodies::all()? {
        let reader = BodyReader::new(BodyKind::Document, body.content_type, body.content_encoding).ok();
        readers.push((reader.with_context(|| format!("{} is not understood", body.content_type))?, body));
    }
    let lists = readers.len();
    ensure!(counted_decode(readers) == lists, "a list was not read completely");
    Ok(())
}

#[inline(never)]
fn counted_decode(readers: Vec<(BodyReader, Body)>) -> usize {
    let mut complete = 0;
    for (mut reader, body) in readers {
        let mut sink = |fact: Fact| {
            complete += usize::from(matches!(fact, Fact::Complete));
            drop(black_box(fact));
        };
        for chunk in body.bytes.chunks(CHUNK) {
            reader.push(chunk, &mut sink);
        }
        reader.finish(&mut sink);
    }
    complete
}

/// Follows events of many reflectors.
pub(crate) fn follow() -> Result<()> {
    const REFLECTORS: u32 = 1_000;
    const EVENTS: usize = 5_000;
    let mut stage = Stage::set(REFLECTORS)?;
    let frames = stage.frames(EVENTS)?;
    counted_follow(&mut stage, &frames);
    ensure!(!stage.observer().snapshot().reflectors.is_empty(), "no reflector was followed");
    Ok(())
}

#[inline(never)]
fn counted_follow(stage: &mut Stage, frames: &[(usize, Vec<u8>)]) {
    stage.observe(frames);
    black_box(stage.observer().snapshot());
}

/// Passes connections of both protocols through the core, record by record, as the proxy does while it forwards.
pub(crate) fn forward() -> Result<()> {
    let connections = [(Protocol::Http1, exchanges::http1()?), (Protocol::Http2, exchanges::http2()?)];
    let exchanges: usize = connections.iter().map(|(_, connection)| connection.exchanges).sum();
    let ended = connections.iter().map(|(protocol, connection)| counted_forward(*protocol, &connection.directions)).sum::<usize>();
    ensure!(ended == exchanges, "{ended} of {exchanges} exchanges ended");
    Ok(())
}

#[inline(never)]
fn counted_forward(protocol: Protocol, directions: &[(Direction, Vec<u8>)]) -> usize {
    let mut walkers = [FrameWalker::of_requests(), FrameWalker::of_responses()];
    let mut decoder = ConnectionDecoder::new(ConnectionId(1), Some(protocol), "");
    let (mut now, mut ended) = (Timestamp::from_nanos(1), 0);
    for (direction, bytes) in directions {
        for record in bytes.chunks(RECORD) {
            now = now.plus(std::time::Duration::from_micros(20));
            if protocol == Protocol::Http2 {
                let [of_requests, of_responses] = &mut walkers;
                let walker = if *direction == Direction::Request { of_requests } else { of_responses };
                walker.walk(record, |_| {});
            }
            decoder.bytes(now, *direction, record, &mut |observation| {
                ended += usize::from(matches!(observation.subject, Subject::Exchange(_, ExchangeObservation::Ended { .. })));
                black_box(observation);
            });
        }
    }
    ended
}
