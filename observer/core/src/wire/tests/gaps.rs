//! Bytes that were not seen.

use super::fixtures::{POD_LIST, WATCH};
use super::reading::{frames, gzip_member, read};
use crate::wire::{BodyKind, BodyReader, Fact};

#[test]
fn watch_continues_with_the_event_after_the_next_newline() {
    let lines: Vec<usize> = WATCH.match_indices('\n').map(|(at, _)| at).collect();
    let facts = read_with_gap(BodyKind::Watch, "", WATCH.as_bytes(), lines[0] + 30, lines[1] - 5);
    let names: Vec<String> = frames(facts).into_iter().map(|frame| frame.object.name).collect();
    assert_eq!(names[..2], ["a", "c"]);
}

#[test]
fn no_gap_in_a_watch_makes_a_wrong_fact() {
    let whole = read(BodyKind::Watch, WATCH);
    for start in 0..WATCH.len() {
        for length in [1, 2, 3, 9, 10, 30, 100, 170, 250, 333, 500, 800] {
            let end = WATCH.len().min(start + length);
            let facts = read_with_gap(BodyKind::Watch, "", WATCH.as_bytes(), start, end);
            assert!(is_subsequence(&facts, &whole), "without {start}..{end}: {facts:?}");
        }
    }
}

#[test]
fn malformed_position_includes_the_gap() {
    let mut reader = BodyReader::new(BodyKind::Watch, "application/json", "").unwrap();
    let mut facts = Vec::new();
    reader.push(b"{\"type\":\"AD", &mut |fact| facts.push(fact));
    reader.gap(1000);
    reader.push(b"DED\"}\n{\"type\":\"ADDED\" oops", &mut |fact| facts.push(fact));
    assert_eq!(facts, [Fact::Malformed { at: 1033, what: "a comma or a closing bracket is expected" }]);
}

#[test]
fn gaps_of_any_length_are_tolerated() {
    let mut reader = BodyReader::new(BodyKind::Watch, "application/json", "").unwrap();
    let mut facts = Vec::new();
    for _ in 0..2 {
        reader.gap(u64::MAX);
        reader.push(b"\n{\"type\":\"ADDED\"}\n", &mut |fact| facts.push(fact));
    }
    assert_eq!(frames(facts).len(), 2);
}

#[test]
fn document_is_silent_after_a_gap() {
    let whole = read(BodyKind::Document, POD_LIST);
    for start in 0..POD_LIST.len() {
        let facts = read_with_gap(BodyKind::Document, "", POD_LIST.as_bytes(), start, start + 1);
        assert!(whole.starts_with(&facts), "without {start}: {facts:?}");
    }
}

#[test]
fn compressed_watch_is_silent_after_a_gap() {
    let compressed = gzip_member(WATCH.as_bytes());
    let facts = read_with_gap(BodyKind::Watch, "gzip", &compressed, 10, 20);
    assert_eq!(facts, []);
}

#[test]
fn empty_gap_loses_nothing() {
    assert_eq!(read_with_gap(BodyKind::Document, "", POD_LIST.as_bytes(), 40, 40), read(BodyKind::Document, POD_LIST));
}

fn read_with_gap(kind: BodyKind, coding: &str, bytes: &[u8], start: usize, end: usize) -> Vec<Fact> {
    let mut reader = BodyReader::new(kind, "application/json", coding).unwrap();
    let mut facts = Vec::new();
    reader.push(&bytes[..start], &mut |fact| facts.push(fact));
    reader.gap((end - start) as u64);
    reader.push(&bytes[end..], &mut |fact| facts.push(fact));
    reader.finish(&mut |fact| facts.push(fact));
    facts
}

fn is_subsequence(part: &[Fact], whole: &[Fact]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|fact| rest.any(|other| other == fact))
}
