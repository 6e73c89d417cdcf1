//! Input that later versions or attackers may write.

use super::block::{OpenBlock, inflated};
use super::layout::{BLOCK_HEAD, BlockHead, BlockKind, FileHead, MAX_PACKED, MAX_RAW};
use super::*;
use crate::http::StreamId;
use crate::k8s::{Status, StatusCause};
use crate::observation::{
    Body, CaptureObservation, ConnectionId, ConnectionObservation, ExchangeId, ExchangeObservation, Observation, Plaintext,
    RunObservation, Subject,
};
use crate::redacted::Redacted;
use crate::time::Timestamp;

const AT: Timestamp = Timestamp::from_nanos(1_000_000_000);

#[test]
fn unknown_members_of_an_observation_are_skipped() {
    let line =
        r#"{"at":"1970-01-01T00:00:01Z","by":"later","of":"connection","connection":7,"observation":"closed","mood":{"a":[1]}}"#;
    let known = Observation {
        at: AT,
        subject: Subject::Connection(
            ConnectionId(7),
            ConnectionObservation::Closed { forwarded: Plaintext::default(), observed: Plaintext::default() },
        ),
    };
    assert_eq!(read(&file(&[line])), [Record::Observation(known)]);
}

#[test]
fn observations_of_a_later_version_are_unknown_and_reading_continues() {
    let unknown = Record::Observation(Observation { at: AT, subject: Subject::Unknown });
    let tick = r#"{"at":"1970-01-01T00:00:01Z","of":"run","observation":"tick"}"#;
    for later in [
        r#"{"at":"1970-01-01T00:00:01Z","of":"moon","observation":"eclipse"}"#,
        r#"{"at":"1970-01-01T00:00:01Z","of":"upstream","upstream":"","observation":"listener","state":"dancing"}"#,
        r#"{"at":"1970-01-01T00:00:01Z","of":"run","observation":"eclipse"}"#,
        r#"{"at":"1970-01-01T00:00:01Z","of":"connection","observation":"closed"}"#,
        r#"{"at":"1970-01-01T00:00:01Z","observation":"tick"}"#,
        "not even JSON",
    ] {
        let known = Record::Observation(Observation { at: AT, subject: Subject::Run(RunObservation::Tick) });
        assert_eq!(read(&file(&[later, tick])), [unknown.clone(), known], "{later}");
    }
}

#[test]
fn lines_beyond_live_limits_are_lost_with_count_and_time() {
    let tick = |second: u64| format!(r#"{{"at":"1970-01-01T00:00:0{second}Z","of":"run","observation":"tick"}}"#);
    let long = |second: u64| {
        let exchange = r#""of":"exchange","exchange":[1,1]"#;
        let request =
            format!(r#"{{"info":{{"verb":"get","resource":{{"group":"","version":"v1","resource":"{}"}}}}}}"#, "x".repeat(100_000));
        format!(r#"{{"at":"1970-01-01T00:00:0{second}Z",{exchange},"observation":"requested","request":{request}}}"#)
    };
    let lines = [tick(1), long(2), long(3), tick(4), long(5)];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let lost = |observations, from: u64, until: u64| {
        let (from, until) = (Some(at(from)), Some(at(until)));
        Record::Lost(Lost { offset: head().len() as u64, bytes: 0, observations, from, until, reason: LostReason::OutOfBounds })
    };
    let tick = |second| Record::Observation(Observation { at: at(second), subject: Subject::Run(RunObservation::Tick) });
    let mut bytes = head();
    OpenBlock { until: at(5), ..block(BlockKind::Observations, 0, &lines) }.write(&mut bytes);
    assert_eq!(all(&bytes)[1..], [tick(1), lost(Some(2), 1, 4), tick(4), lost(Some(1), 4, 5)]);

    let mut restated = head();
    block(BlockKind::Restated, 0, &lines[1..2]).write(&mut restated);
    let losses = all(&restated).into_iter().filter_map(|record| if let Record::Lost(lost) = record { Some(lost) } else { None });
    assert_eq!(losses.map(|lost| (lost.reason, lost.observations)).collect::<Vec<_>>(), [(LostReason::OutOfBounds, None)]);
}

#[test]
fn a_status_with_more_causes_than_are_kept_is_lost() {
    let line = |causes: usize| {
        let causes = vec![StatusCause::default(); causes];
        let body = Body::Status(Box::new(Status { causes, ..Status::default() }));
        let exchange = ExchangeId { connection: ConnectionId(1), stream: StreamId(1) };
        serde_json::to_string(&Observation { at: AT, subject: Subject::Exchange(exchange, ExchangeObservation::BodyRead { body }) })
            .unwrap()
    };
    assert_eq!(read(&file(&[&line(Status::MAX_CAUSES)])).len(), 1);
    assert_eq!(read(&file(&[&line(Status::MAX_CAUSES + 1)])).len(), 0);
}

#[test]
fn lines_longer_than_the_writer_limit_are_lost() {
    let line = |length: usize| {
        let line = r#"{"at":"1970-01-01T00:00:01Z","of":"run","observation":"tick","mood":""}"#;
        line.replace(r#""mood":""#, &format!(r#""mood":"{}"#, "x".repeat(length - line.len())))
    };
    assert_eq!(read(&file(&[&line(lines::MAX_LINE - 1)])).len(), 1);
    assert_eq!(read(&file(&[&line(lines::MAX_LINE)])).len(), 0);
}

#[test]
fn blocks_of_a_later_version_are_passed_over() {
    let mut bytes = head();
    block(BlockKind::Other(77), 0, &["whatever"]).write(&mut bytes);
    block(BlockKind::Observations, 0, &[r#"{"at":"1970-01-01T00:00:01Z","of":"run","observation":"tick"}"#]).write(&mut bytes);
    block(BlockKind::Complete, 1, &[]).write(&mut bytes);
    assert_eq!(read(&bytes), [Record::Observation(Observation { at: AT, subject: Subject::Run(RunObservation::Tick) })]);
}

#[test]
fn unrecorded_observation_keeps_its_serialized_names() {
    let line = concat!(
        r#"{"at":"1970-01-01T00:00:01.000000000Z","of":"capture","observation":"unrecorded","#,
        r#""observations":3,"from":null,"until":null}"#
    );
    let observation = Observation {
        at: AT,
        subject: Subject::Capture(CaptureObservation::Unrecorded { observations: Some(3), from: None, until: None }),
    };
    assert_eq!(serde_json::to_string(&observation).unwrap(), line);
    assert_eq!(serde_json::from_str::<Observation>(line).unwrap(), observation);
}

#[test]
fn wall_clock_offset_is_stored_with_the_run_time() {
    let line = r#"{"at":"1970-01-01T00:00:01.000000000Z","wall_ahead_nanos":-400000000,"of":"run","observation":"tick"}"#;
    let observation = Observation { at: AT.with_wall_ahead(-400_000_000), subject: Subject::Run(RunObservation::Tick) };
    assert_eq!(serde_json::to_string(&observation).unwrap(), line);
    assert_eq!(read(&file(&[line])), [Record::Observation(observation)]);
}

#[test]
fn block_lengths_beyond_the_limits_are_rejected() {
    for (packed, raw) in [(MAX_PACKED + 1, 1), (1, MAX_RAW + 1), (u32::MAX as usize, u32::MAX as usize)] {
        let mut bytes = Vec::new();
        BlockHead { packed, raw, ..block_head() }.write(&mut bytes);
        assert_eq!(BlockHead::read(&bytes), None);
    }
    let mut bytes = Vec::new();
    BlockHead { packed: MAX_PACKED, raw: MAX_RAW, ..block_head() }.write(&mut bytes);
    assert!(BlockHead::read(&bytes).is_some());
}

#[test]
fn block_that_inflates_beyond_its_declared_length_is_rejected() {
    let mut bomb = Vec::new();
    OpenBlock { lines: Redacted(vec![b'\n'; 50 << 20]), ..block(BlockKind::Observations, 0, &[]) }.write(&mut bomb);
    let packed = &bomb[BLOCK_HEAD..];
    assert!(packed.len() < 1 << 20, "it is small");
    let head = BlockHead { packed: packed.len(), raw: MAX_RAW, checksum: layout::checksum(packed), ..block_head() };
    assert_eq!(inflated(&head, packed), None);
}

#[test]
fn block_with_a_wrong_line_count_is_lost() {
    let mut bytes = head();
    OpenBlock {
        count: 3,
        ..block(BlockKind::Observations, 0, &[r#"{"at":"1970-01-01T00:00:01Z","of":"run","observation":"tick"}"#])
    }
    .write(&mut bytes);
    assert_eq!(read(&bytes), []);
}

#[test]
fn incompressible_block_fits_the_packed_limit() {
    // Bytes above 0x8F take nine bits in the fixed codes of deflate.
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        0x90 | (state >> 57) as u8
    });
    let mut lines: Vec<u8> = noise.take(MAX_RAW - 1).collect();
    lines.push(b'\n');
    let mut bytes = Vec::new();
    OpenBlock { count: 1, lines: Redacted(lines.clone()), ..block(BlockKind::Observations, 0, &[]) }.write(&mut bytes);
    let head = BlockHead::read(&bytes).unwrap();
    assert!(inflated(&head, &bytes[BLOCK_HEAD..]) == Some(lines));
}

fn file(lines: &[&str]) -> Vec<u8> {
    let mut bytes = head();
    block(BlockKind::Observations, 0, lines).write(&mut bytes);
    bytes
}

fn head() -> Vec<u8> {
    let mut bytes = Vec::new();
    FileHead { capture: AT, part: 0, first: 0, at: AT }.write(&mut bytes);
    bytes
}

fn block(kind: BlockKind, first: u64, lines: &[&str]) -> OpenBlock {
    let text: String = lines.iter().flat_map(|line| [*line, "\n"]).collect();
    OpenBlock { lines: Redacted(text.into_bytes()), count: u32::try_from(lines.len()).unwrap(), ..OpenBlock::new(kind, first, AT) }
}

fn block_head() -> BlockHead {
    BlockHead { kind: BlockKind::Observations, packed: 0, raw: 0, first: 0, count: 1, from: AT, until: AT, checksum: 0 }
}

const fn at(second: u64) -> Timestamp {
    Timestamp::from_nanos(second * 1_000_000_000)
}

/// All records, read in one chunk.
fn all(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    Reader::default().bytes(bytes, &mut |record| records.push(record));
    records
}

/// Observations only, read byte by byte.
fn read(bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    let mut reader = Reader::default();
    for byte in bytes {
        reader.bytes(&[*byte], &mut |record| records.push(record));
    }
    records.retain(|record| matches!(record, Record::Observation(_) | Record::Restated(_)));
    records
}
