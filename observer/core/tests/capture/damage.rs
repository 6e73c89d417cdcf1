//! Captures that are truncated, damaged or too new, and files that are not captures.

use observer_core::capture::{LostReason, Refused, VERSION};
use observer_core::observation::{Observation, RunObservation, Subject};
use observer_core::observer::{RequestRecord, Snapshot};
use observer_core::time::Timestamp;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use super::observations::observations;
use super::rig::{Read, file, observed};

#[test]
fn capture_torn_at_any_byte_reports_the_lost_span() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..2 {
        let observations = observations(40).new_tree(&mut runner).unwrap().current();
        let file = file(&observations, 7);
        for length in 0..file.len() {
            let read = Read::of(&[&file[..length]], &[97]);
            let recorded = read.recorded();
            assert!(observations.starts_with(&recorded), "torn at {length}: something else was read");
            if length == 0 {
                assert_eq!(read.refused, [Refused::Empty]);
                continue;
            }
            assert_eq!((read.lost.len(), read.unrecorded()), (1, 1), "torn at {length}: {:?}", read.lost);
            let lost = &read.lost[0];
            assert_eq!(lost.reason, LostReason::Torn);
            assert!(lost.offset + lost.bytes == length as u64, "torn at {length}: {lost:?}");
            assert_eq!(lost.from, recorded.iter().map(|one| one.at).max());
            let torn = observed(&read.observations).1;
            fewer_facts(&torn, &observed(&observations[..recorded.len()]).1).unwrap();
        }
    }
}

#[test]
fn damaged_byte_loses_its_block_and_reading_continues() {
    let mut runner = TestRunner::deterministic();
    let observations = observations(60).new_tree(&mut runner).unwrap().current();
    let file = file(&observations, 3);
    let mut went_on = 0;
    for at in 8..file.len() {
        let mut spoilt = file.clone();
        spoilt[at] ^= 0x5A;
        let read = Read::of(&[&spoilt], &[64]);
        let recorded = read.recorded();
        assert!(is_subsequence(&recorded, &observations), "spoilt at {at}: something else was read");
        if read.refused.is_empty() {
            assert!(!read.lost.is_empty(), "spoilt at {at} and nothing is said");
            let missing = observations.len() - recorded.len();
            assert!(missing <= 3, "spoilt at {at}: {missing} are missing");
            assert_eq!(read.unrecorded() > 0, missing > 0 || read.lost[0].observations != Some(0), "spoilt at {at}");
            went_on += 1;
        }
    }
    assert!(went_on > file.len() * 9 / 10);
}

#[test]
fn bytes_that_are_missing_or_too_many_are_noticed() {
    let strategy = (observations(40), any::<prop::sample::Index>(), 1_usize..300, prop::collection::vec(any::<u8>(), 0..100));
    TestRunner::new(Config { cases: 256, failure_persistence: None, ..Config::default() })
        .run(&strategy, |(observations, at, cut, inserted)| {
            let file = file(&observations, 5);
            // The magic bytes of the head stay intact.
            let at = 8 + at.index(file.len() - 8);
            let mut spoilt = file[..at].to_vec();
            spoilt.extend(&inserted);
            spoilt.extend(file.get(at + cut..).unwrap_or_default());
            prop_assume!(spoilt != file);
            let read = Read::of(&[&spoilt], &[50]);
            prop_assert!(is_subsequence(&read.recorded(), &observations));
            prop_assert!(!read.lost.is_empty() || !read.refused.is_empty());
            Ok(())
        })
        .unwrap();
}

#[test]
fn file_that_is_not_a_capture_is_refused() {
    for text in [&b"{\"schema\":\"watchtap.events/v1\"}\n"[..], b"\x89PNG\r\n\x1a\n", &vec![0; 100_000], b"w"] {
        let read = Read::complete(text);
        assert_eq!((read.refused.as_slice(), read.observations.len()), (&[Refused::NotACapture][..], 0), "{:?}", &text[..1]);
    }
}

#[test]
fn a_later_version_is_refused_with_its_number() {
    let mut file = file(&[Observation { at: Timestamp::from_nanos(9), subject: Subject::Run(RunObservation::Tick) }], 1);
    file[8..10].copy_from_slice(&(VERSION + 1).to_le_bytes());
    let mut checksum = flate2::Crc::new();
    checksum.update(&file[..40]);
    file[40..44].copy_from_slice(&checksum.sum().to_le_bytes());
    let read = Read::complete(&file);
    assert_eq!((read.refused.as_slice(), read.observations.len()), (&[Refused::Newer { version: VERSION + 1 }][..], 0));
    assert!(Refused::Newer { version: 2 }.to_string().contains("newer watchtap"));
}

#[test]
fn trailing_bytes_are_reported_and_lose_no_observation() {
    let observations = [Observation { at: Timestamp::from_nanos(9), subject: Subject::Run(RunObservation::Tick) }];
    let mut file = file(&observations, 1);
    let length = file.len() as u64;
    file.extend(vec![0; 70_000]);
    let read = Read::of(&[file], &[1000]);
    assert_eq!(read.observations, observations);
    assert_eq!(
        read.lost.iter().map(|lost| (lost.offset, lost.bytes, lost.reason)).collect::<Vec<_>>(),
        [(length, 70_000, LostReason::Trailing)]
    );
}

/// Each request of the incomplete run is also in the complete run, with the same options and status, and with at most as many
/// facts.
fn fewer_facts(torn: &Snapshot, whole: &Snapshot) -> Result<(), TestCaseError> {
    prop_assert!(torn.requests.len() <= whole.requests.len());
    for record in &torn.requests {
        let original = whole.requests.iter().filter(|original| original.id == record.id && original.at == record.at);
        prop_assert!(original.clone().any(|original| is_part_of(record, original)), "invented: {:#?}", record);
    }
    Ok(())
}

fn is_part_of(record: &RequestRecord, whole: &RequestRecord) -> bool {
    record.verb == whole.verb
        && record.list_options == whole.list_options
        && (record.status.is_none() || record.status == whole.status)
        && record.items <= whole.items
        && record.bytes <= whole.bytes
}

fn is_subsequence(some: &[Observation], all: &[Observation]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|other| other == one))
}
