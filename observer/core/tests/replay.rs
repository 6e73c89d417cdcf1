//! Recorded traffic, cut and thinned out at random. Any cut gives the same events, and no loss leads to a wrong fact.
//!
//! The tapes are the seeds of the fuzz targets `http1` and `http2`; `tests/fuzz/src/tape.rs` describes their format.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

use std::fs;
use std::path::PathBuf;

use expect_test::expect;
use observer_core::capture::{FileEnd, Replay, Replayed, Writer};
use observer_core::http::{Direction, FrameWalker, Gap, Protocol, Span};
use observer_core::observation::{
    ConnectionDecoder, ConnectionId, ConnectionObservation, EndManner, Observation, Plaintext, Subject, UpstreamName,
    UpstreamObservation,
};
use observer_core::observer::{Event, Limits, Observer, RequestRecord, Snapshot};
use observer_core::routing::{Basis, ServerProfile};
use observer_core::time::Timestamp;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// A piece of traffic, as a tap passes it to the decoder.
#[derive(Clone, Debug)]
enum Piece {
    Bytes(Direction, Vec<u8>),
    Gap(Direction, Gap),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(_, bytes) => bytes,
            Self::Gap(..) => &[],
        }
    }
}

struct Tape {
    name: String,
    protocol: Option<Protocol>,
    pieces: Vec<Piece>,
}

#[test]
fn sessions_of_kubectl_are_understood() {
    for (name, expected) in [
        (
            "h1-kubectl-pages",
            expect![[r"
                kubectl.1.33/v1.33.1 get /api → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 get /apis → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 list configmaps · all namespaces · limit=3 → 200 cache, consistent items=3 Complete with a token
                kubectl.1.33/v1.33.1 list configmaps · all namespaces · continue · limit=3 → 200 snapshot items=3 Complete with a token
            "]],
        ),
        (
            "h1-kubectl-watch",
            expect![[r"
                kubectl.1.33/v1.33.1 watch configmaps · all namespaces → 200 cache, consistent items=0 added=6 modified=0 deleted=1 bookmarks=2 Complete with a token
            "]],
        ),
        (
            "h2-kubectl-create",
            expect![[r"
                kubectl.1.33/v1.33.1 create configmaps · default/ → 201 - items=0 Complete with a token
            "]],
        ),
        (
            "h2-kubectl-delete",
            expect![[r"
                kubectl.1.33/v1.33.1 get /api → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 get /apis → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 delete configmaps · default/ rec-new → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 get configmaps · default/ rec-new → 404 etcd items=0 Complete with a token
            "]],
        ),
        (
            "h2-kubectl-pages",
            expect![[r"
                kubectl.1.33/v1.33.1 get /api → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 get /apis → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 list configmaps · all namespaces · limit=3 → 200 cache, consistent items=3 Complete with a token
                kubectl.1.33/v1.33.1 list configmaps · all namespaces · continue · limit=3 → 200 snapshot items=3 Complete with a token
                kubectl.1.33/v1.33.1 list configmaps · all namespaces · continue · limit=3 → 200 snapshot items=2 Complete with a token
            "]],
        ),
        (
            "h2-kubectl-watch",
            expect![[r"
                kubectl.1.33/v1.33.1 get /api → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 get /apis → 200 - items=0 Complete with a token
                kubectl.1.33/v1.33.1 list configmaps · default/ · limit=500 → 200 cache, consistent items=6 Complete with a token
                kubectl.1.33/v1.33.1 watch configmaps · default/ · RV=N → 200 cache items=0 added=0 modified=0 deleted=2 bookmarks=0 Cut(Some(ConnectionEnd { direction: Request, manner: CloseNotify })) with a token
            "]],
        ),
    ] {
        let tape = tapes().into_iter().find(|tape| tape.name == name).unwrap();
        let (_, snapshot) = play(&tape, &tape.pieces);
        expected.assert_eq(&snapshot.requests.iter().map(describe).collect::<String>());
        assert!(!snapshot.missed.unseen() && snapshot.missed.bodies.is_empty(), "{name}: {:?}", snapshot.missed);
    }
}

#[test]
fn no_credential_and_no_content_of_a_session_is_reported() {
    for tape in tapes().into_iter().filter(|tape| tape.name.contains("kubectl")) {
        let recorded: Vec<u8> = tape.pieces.iter().flat_map(Piece::bytes).copied().collect();
        let emitted = format!("{:?}", play(&tape, &tape.pieces));
        for canary in ["admin-token-of-the-test-cluster", "BEGIN CERTIFICATE", "fieldsV1"] {
            assert!(!emitted.contains(canary), "{}: {canary}", tape.name);
        }
        if tape.protocol == Some(Protocol::Http1) {
            let text = String::from_utf8_lossy(&recorded);
            assert!(text.contains("admin-token-of-the-test-cluster"), "{}: the canary was sent", tape.name);
        }
    }
}

#[test]
fn capture_of_recorded_traffic_replays_equally_without_credentials() {
    for tape in tapes() {
        let observations = decode(&tape, &tape.pieces);
        let mut writer = Writer::new(Timestamp::from_nanos(1));
        let mut file = Vec::new();
        writer.begin_file(&mut file);
        for one in &observations {
            writer.record(one, &mut file);
        }
        writer.end_file(FileEnd::Complete, &mut file);

        let mut replayed = Vec::new();
        let mut replay = Replay::default();
        let mut take = |one| match one {
            Replayed::Observation(observation) => replayed.push(observation),
            Replayed::Lost(_) | Replayed::Refused(_) => panic!("{}: {one:?}", tape.name),
        };
        for piece in file.chunks(100) {
            replay.bytes(piece, &mut take);
        }
        replay.end_file(&mut take);
        replay.finish(&mut take);
        assert_eq!(replayed, observations, "{}", tape.name);
        assert!(!format!("{replayed:?}").contains("admin-token-of-the-test-cluster"), "{}", tape.name);
        assert_eq!(observe(replayed), play(&tape, &tape.pieces), "{}", tape.name);
    }
}

#[test]
fn any_cutting_of_recorded_traffic_gives_the_same_events() {
    for tape in tapes() {
        let whole = play(&tape, &tape.pieces);
        assert_eq!(whole, play(&tape, &cut(&tape.pieces, &[1])), "{}: byte by byte", tape.name);
        TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() })
            .run(&prop::collection::vec(1_usize..3000, 1..40), |sizes| {
                prop_assert_eq!(&whole, &play(&tape, &cut(&tape.pieces, &sizes)));
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{}: {error}", tape.name));
    }
}

#[test]
fn lost_http2_payload_adds_no_false_facts() {
    for tape in tapes().into_iter().filter(|tape| tape.protocol == Some(Protocol::Http2)) {
        let (_, whole) = play(&tape, &tape.pieces);
        TestRunner::new(Config { cases: 128, failure_persistence: None, ..Config::default() })
            .run(&prop::collection::vec(any::<bool>(), 1..200), |lost| {
                let (_, thinned) = play(&tape, &thin(&tape.pieces, &lost));
                fewer_facts(&thinned, &whole)
            })
            .unwrap_or_else(|error| panic!("{}: {error}", tape.name));
    }
}

#[test]
fn lost_http1_bytes_add_no_false_facts() {
    for tape in tapes().into_iter().filter(|tape| tape.protocol == Some(Protocol::Http1)) {
        let (_, whole) = play(&tape, &tape.pieces);
        TestRunner::new(Config { cases: 128, failure_persistence: None, ..Config::default() })
            .run(&(any::<prop::sample::Index>(), 1_usize..5000), |(at, length)| {
                let pieces = cut(&tape.pieces, &[length]);
                let mut pieces = pieces;
                let index = at.index(pieces.len());
                let gap = match &pieces[index] {
                    Piece::Bytes(direction, bytes) => Piece::Gap(*direction, Gap { stream: None, length: bytes.len() as u64 }),
                    gap @ Piece::Gap(..) => gap.clone(),
                };
                pieces[index] = gap;
                let (_, thinned) = play(&tape, &pieces);
                fewer_facts(&thinned, &whole)
            })
            .unwrap_or_else(|error| panic!("{}: {error}", tape.name));
    }
}

/// Each request of the thinned run is also in the complete run, with the same verb, object, options, client and status. It has at
/// most as many facts.
fn fewer_facts(thinned: &Snapshot, whole: &Snapshot) -> Result<(), TestCaseError> {
    prop_assert!(thinned.requests.len() <= whole.requests.len());
    for record in &thinned.requests {
        let Some(original) = whole.requests.iter().find(|original| original.id == record.id) else {
            return Err(TestCaseError::fail(format!("invented: {record:#?}")));
        };
        prop_assert_eq!(question(record), question(original));
        prop_assert!(record.status.is_none() || record.status == original.status);
        prop_assert!(record.items <= original.items);
        prop_assert!(record.bytes <= original.bytes);
        prop_assert!(record.resource_version.is_empty() || record.resource_version == original.resource_version);
        let events = |record: &RequestRecord| record.watch.as_ref().map_or(0, |watch| watch.events() + watch.bookmarks);
        prop_assert!(events(record) <= events(original));
    }
    Ok(())
}

fn describe(record: &RequestRecord) -> String {
    let served = record.verdict.as_ref().map_or_else(|| "-".to_owned(), |verdict| verdict.served_from.to_string());
    let watch = record.watch.as_ref().map_or_else(String::new, |watch| {
        format!(" added={} modified={} deleted={} bookmarks={}", watch.added, watch.modified, watch.deleted, watch.bookmarks)
    });
    let verb = record.verb.map_or("?", |verb| verb.as_str());
    let identity = if record.client.identity.is_some() { " with a token" } else { "" };
    format!(
        "{} {verb} {} {}→ {} {served} items={}{watch} {:?}{identity}\n",
        record.client.program,
        record.shape,
        if record.name.is_empty() { String::new() } else { format!("{} ", record.name) },
        record.status.unwrap_or(0),
        record.items,
        record.end.unwrap(),
    )
}

fn question(record: &RequestRecord) -> String {
    format!("{:?} {} {} {:?} {:?}", record.verb, record.shape.resource, record.name, record.list_options, record.client)
}

fn play(tape: &Tape, pieces: &[Piece]) -> (Vec<Event>, Snapshot) {
    observe(decode(tape, pieces))
}

fn observe(observations: Vec<Observation>) -> (Vec<Event>, Snapshot) {
    let mut observer = Observer::new(Limits::default());
    let mut events = Vec::new();
    for observation in observations {
        observer.observe(observation, &mut |event| events.push(event));
    }
    let snapshot = observer.snapshot();
    (events, snapshot)
}

/// All observations have the same time, so that times cannot differ between cuts.
fn decode(tape: &Tape, pieces: &[Piece]) -> Vec<Observation> {
    let at = Timestamp::from_nanos(1);
    let connection = ConnectionId(1);
    let mut observations = Vec::new();
    let mut observe = |observation: Observation| observations.push(observation);
    let profile = ServerProfile::of_version("v1.34.4".parse().unwrap(), Basis::VersionEndpoint);
    observe(Observation {
        at,
        subject: Subject::Upstream(UpstreamName::default(), UpstreamObservation::Profile { profile: Box::new(profile) }),
    });
    observe(Observation {
        at,
        subject: Subject::Connection(
            connection,
            ConnectionObservation::Opened {
                upstream: UpstreamName::default(),
                protocol: tape.protocol,
                process: None,
                container_name: None,
                attached_late: false,
                logged: None,
            },
        ),
    });
    let mut decoder = ConnectionDecoder::new(connection, tape.protocol, "");
    for piece in pieces {
        match piece {
            Piece::Bytes(direction, bytes) => decoder.bytes(at, *direction, bytes, &mut observe),
            Piece::Gap(direction, gap) => decoder.gap(at, *direction, *gap, &mut observe),
        }
    }
    for direction in [Direction::Request, Direction::Response] {
        decoder.end(at, direction, EndManner::CloseNotify, &mut observe);
    }
    let mut forwarded = Plaintext::default();
    for piece in pieces {
        match piece {
            Piece::Bytes(direction, bytes) => *forwarded.of(*direction) += bytes.len() as u64,
            Piece::Gap(direction, gap) => *forwarded.of(*direction) += gap.length,
        }
    }
    decoder.close(at, forwarded, &mut observe);
    observations
}

/// The same bytes in pieces whose sizes cycle through `sizes`. Gaps stay as they are.
fn cut(pieces: &[Piece], sizes: &[usize]) -> Vec<Piece> {
    let mut sizes = sizes.iter().copied().cycle();
    let mut cut = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Gap(..) => cut.push(piece.clone()),
            Piece::Bytes(direction, bytes) => {
                let mut rest = bytes.as_slice();
                while !rest.is_empty() {
                    let (head, tail) = rest.split_at(sizes.next().unwrap().min(rest.len()));
                    cut.push(Piece::Bytes(*direction, head.to_vec()));
                    rest = tail;
                }
            }
        }
    }
    cut
}

/// Loses bytes as a full queue does: drops the DATA payload of the chosen spans, and keeps everything else.
fn thin(pieces: &[Piece], lost: &[bool]) -> Vec<Piece> {
    let mut lost = lost.iter().copied().cycle();
    let mut walkers = [FrameWalker::of_requests(), FrameWalker::of_responses()];
    let mut thinned = Vec::new();
    for piece in pieces {
        let Piece::Bytes(direction, bytes) = piece else {
            thinned.push(piece.clone());
            continue;
        };
        let walker = &mut walkers[usize::from(*direction == Direction::Response)];
        walker.walk(bytes, |span| {
            thinned.push(match span {
                Span::Data { stream, bytes } if lost.next().unwrap() => {
                    Piece::Gap(*direction, Gap { stream: Some(stream), length: bytes.len() as u64 })
                }
                Span::Data { bytes, .. } | Span::Control(bytes) => Piece::Bytes(*direction, bytes.to_vec()),
            });
        });
    }
    thinned
}

fn tapes() -> Vec<Tape> {
    let seeds = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/seeds");
    let mut tapes: Vec<Tape> = ["http1", "http2"]
        .iter()
        .flat_map(|target| fs::read_dir(seeds.join(target)).unwrap())
        .map(|entry| entry.unwrap().path())
        .map(|path| Tape::read(path.file_name().unwrap().to_str().unwrap(), &fs::read(&path).unwrap()))
        .collect();
    tapes.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(tapes.len() >= 13, "the seeds are gone from {}", seeds.display());
    tapes
}

impl Tape {
    fn read(name: &str, tape: &[u8]) -> Self {
        let (protocol, mut rest) = tape.split_first().unwrap();
        let protocol = [None, Some(Protocol::Http1), Some(Protocol::Http2)][usize::from(protocol % 3)];
        let mut pieces = Vec::new();
        while let Some((&[kind, low, high], after)) = rest.split_first_chunk::<3>() {
            let length = usize::from(u16::from_le_bytes([low, high]));
            let direction = if kind % 2 == 0 { Direction::Request } else { Direction::Response };
            rest = after;
            if kind % 4 >= 2 {
                pieces.push(Piece::Gap(direction, Gap { stream: None, length: length as u64 }));
            } else {
                let (payload, after) = rest.split_at(length.min(rest.len()));
                pieces.push(Piece::Bytes(direction, payload.to_vec()));
                rest = after;
            }
        }
        Self { name: name.to_owned(), protocol, pieces }
    }
}
