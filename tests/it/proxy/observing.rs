//! Tests that traffic continues even if the observing thread is slow or has failed. A slow observing thread gets the positions of the
//! bytes that it missed.

use std::collections::BTreeMap;
use std::time::Duration;

use observer_core::http::{Direction, Protocol};
use tokio::io::{AsyncRead, AsyncWrite};
use watchtap::intake::{Intake, IntakeLimits, IntakeReceiver, TapEvent};

use super::payload::Random;
use super::rig::{Options, Rig, carried, read_to_close};

const MEGABYTES: usize = 1 << 20;

#[tokio::test]
async fn request_is_observed_before_its_response() {
    let (mut rig, receiver) = observed(&["http/1.1"], IntakeLimits::default());
    let (mut client, mut upstream) = rig.pair().await;
    for _ in 0..100 {
        carry(&mut client, &mut upstream, b"request").await;
        carry(&mut upstream, &mut client, b"response").await;
    }
    drop((client, upstream));

    let events = read_to_close(receiver).await;
    let (opened, rest) = events.split_first().unwrap();
    assert!(matches!(opened, TapEvent::Opened { info, .. } if info.protocol == Some(Protocol::Http1)), "{opened:?}");
    let directions: Vec<Direction> = rest.iter().filter_map(bytes).map(|(direction, _)| direction).collect();
    assert_eq!(directions, [Direction::Request, Direction::Response].repeat(100));
}

#[tokio::test]
async fn stalled_observer_gets_the_lengths_of_its_gaps() {
    for limit in [0, 1_000, 100_000, 3 * MEGABYTES] {
        let (mut rig, receiver) = observed(&["http/1.1"], limits(limit));
        let (mut client, mut upstream) = rig.pair().await;
        let [request, response] = [Random::new(5).bytes(MEGABYTES), Random::new(6).bytes(5 * MEGABYTES)];
        carry(&mut client, &mut upstream, &request).await;
        carry(&mut upstream, &mut client, &response).await;
        drop((client, upstream));

        let events = read_to_close(receiver).await;
        check(&events, Direction::Request, &request);
        check(&events, Direction::Response, &response);
    }
}

#[tokio::test]
async fn stalled_http2_observer_keeps_every_frame_header() {
    for limit in [0, 40_000, 500_000] {
        let (mut rig, receiver) = observed(&["h2"], limits(limit));
        let (mut client, mut upstream) = rig.pair().await;
        let mut random = Random::new(7);
        let mut response = frame(SETTINGS, 0, &[]);
        for stream in [1, 3, 5].repeat(20) {
            response.extend(frame(HEADERS, stream, &random.bytes(40)));
            let length = 1 + random.below(50_000);
            response.extend(frame(DATA, stream, &random.bytes(length)));
        }
        carry(&mut upstream, &mut client, &response).await;
        drop((client, upstream));

        let events = read_to_close(receiver).await;
        check(&events, Direction::Response, &response);
        let of_unknown_stream = events.iter().filter(|event| matches!(event, TapEvent::Gap { gap, .. } if gap.stream.is_none()));
        assert_eq!(of_unknown_stream.count(), 0, "only DATA payload fell out");
        check_data_gaps(&events, &response);
    }
}

#[tokio::test]
async fn panicking_observer_does_not_stop_the_traffic() {
    let (mut rig, mut receiver) = observed(&["http/1.1"], limits(100_000));
    let observing = std::thread::spawn(move || {
        let delivered = receiver.drain(Duration::from_secs(10)).next();
        std::panic::resume_unwind(Box::new(format!("{delivered:?}")));
    });
    let (mut client, mut upstream) = rig.pair().await;
    let joined = tokio::task::spawn_blocking(|| observing.join()).await.unwrap();
    assert!(joined.is_err(), "it has panicked");

    carry(&mut upstream, &mut client, &Random::new(8).bytes(5 * MEGABYTES)).await;
    let (mut another, mut upstream) = rig.pair().await;
    carry(&mut another, &mut upstream, &Random::new(9).bytes(5 * MEGABYTES)).await;
    assert_eq!(rig.handle.counts().faults, 0);
}

fn observed(alpn: &'static [&'static str], limits: IntakeLimits) -> (Rig, IntakeReceiver) {
    let (intake, receiver) = Intake::new(limits);
    (Rig::with(Options { alpn, intake: Some(intake), ..Options::default() }), receiver)
}

fn limits(connection: usize) -> IntakeLimits {
    IntakeLimits { connection, ..IntakeLimits::default() }
}

/// Sends `message` and checks that it arrives unchanged.
async fn carry(from: &mut (impl AsyncWrite + Unpin), to: &mut (impl AsyncRead + Unpin), message: &[u8]) {
    let arrived = carried(from, to, message).await;
    assert!(arrived == message, "{} bytes arrived changed", message.len());
}

fn bytes(event: &TapEvent) -> Option<(Direction, &[u8])> {
    match event {
        TapEvent::Bytes { direction, bytes, .. } => Some((*direction, bytes)),
        TapEvent::Opened { .. }
        | TapEvent::Fields { .. }
        | TapEvent::Gap { .. }
        | TapEvent::ClientBlocked { .. }
        | TapEvent::Ended { .. }
        | TapEvent::NotObserved { .. }
        | TapEvent::Closed { .. } => None,
    }
}

/// Checks that the bytes and gaps of one direction together cover `sent`, and that the bytes are equal.
#[track_caller]
fn check(events: &[TapEvent], wanted: Direction, sent: &[u8]) {
    let mut at = 0;
    for event in events {
        match event {
            TapEvent::Bytes { direction, bytes, .. } if *direction == wanted => {
                assert!(sent[at..].starts_with(bytes), "wrong bytes at {at}");
                at += bytes.len();
            }
            TapEvent::Gap { direction, gap, .. } if *direction == wanted => at += usize::try_from(gap.length).unwrap(),
            TapEvent::Opened { .. }
            | TapEvent::Bytes { .. }
            | TapEvent::Fields { .. }
            | TapEvent::Gap { .. }
            | TapEvent::ClientBlocked { .. }
            | TapEvent::Ended { .. }
            | TapEvent::NotObserved { .. }
            | TapEvent::Closed { .. } => {}
        }
    }
    assert_eq!(at, sent.len(), "bytes and gaps are all that was sent");
}

/// Checks that each gap lies within the payload of one DATA frame of the stream that it names.
#[track_caller]
fn check_data_gaps(events: &[TapEvent], sent: &[u8]) {
    let frames = data_frames(sent);
    let (mut at, mut gaps) = (0, 0);
    for event in events {
        match event {
            TapEvent::Bytes { direction: Direction::Response, bytes, .. } => at += bytes.len(),
            TapEvent::Gap { gap, .. } => {
                let (begin, (end, stream)) = frames.range(..=at).next_back().unwrap();
                let length = usize::try_from(gap.length).unwrap();
                assert!(*begin <= at && at + length <= *end, "gap {at}+{length} in frame {begin}..{end}");
                assert_eq!(gap.stream, Some(*stream));
                (at, gaps) = (at + length, gaps + 1);
            }
            TapEvent::Opened { .. }
            | TapEvent::Bytes { .. }
            | TapEvent::Fields { .. }
            | TapEvent::ClientBlocked { .. }
            | TapEvent::Ended { .. }
            | TapEvent::NotObserved { .. }
            | TapEvent::Closed { .. } => {}
        }
    }
    assert!(gaps > 0, "the test needs a limit that is too small");
}

/// The payloads of the DATA frames: end and stream by start.
fn data_frames(sent: &[u8]) -> BTreeMap<usize, (usize, u32)> {
    let (mut frames, mut at) = (BTreeMap::new(), 0);
    while at < sent.len() {
        let length = usize::try_from(u32::from_be_bytes([0, sent[at], sent[at + 1], sent[at + 2]])).unwrap();
        let payload = at + 9;
        if sent[at + 3] == DATA {
            frames.insert(payload, (payload + length, u32::from(sent[at + 8])));
        }
        at = payload + length;
    }
    frames
}

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;

/// An HTTP/2 frame without flags (RFC 9113 §4.1).
fn frame(frame_type: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = length[1..].to_vec();
    frame.extend([frame_type, 0, 0, 0, 0, stream]);
    frame.extend(payload);
    frame
}
