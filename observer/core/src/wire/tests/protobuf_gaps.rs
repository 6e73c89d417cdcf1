//! Missing bytes of protobuf: lengths show where the following bytes belong.

use super::protobuf::{document, events};
use super::protobuf_bytes::{bytes, envelope, list_meta, object, object_meta, pod_list, too_large, watch};
use super::reading::{PROTOBUF, frames, gzip_member};
use crate::wire::{BodyKind, BodyReader, Fact};

#[test]
fn only_the_event_with_a_gap_is_lost() {
    let whole = watch();
    let facts = events(&whole);
    let (first, second) = (frame_end(&whole, 0), frame_end(&whole, frame_end(&whole, 0)));
    let emitted = without(BodyKind::Watch, &whole, first + 30, second - 5);
    let others: Vec<Fact> = [0, 2, 3, 4].map(|index| facts[index].clone()).to_vec();
    assert_eq!(emitted, others);
}

#[test]
fn gap_in_unread_data_loses_nothing() {
    let whole = watch();
    let first = frame_end(&whole, 0);
    assert_eq!(without(BodyKind::Watch, &whole, first - 200, first), events(&whole), "the last bytes of an event");
    let last = whole.len() - 1;
    let pods = pod_list();
    assert_eq!(without(BodyKind::Document, &pods, pods.len() - 100, pods.len() - 10), document(&pods));
    assert_eq!(frames(without(BodyKind::Watch, &whole, last, whole.len())).len(), 4, "a status is read to its end");
}

#[test]
fn no_gap_in_a_watch_makes_a_wrong_fact() {
    let whole = watch();
    for (start, end) in gaps(&whole) {
        let emitted = without(BodyKind::Watch, &whole, start, end);
        assert!(is_subsequence(&emitted, &events(&whole)), "without {start}..{end}: {emitted:?}");
    }
}

#[test]
fn no_gap_in_a_document_makes_a_wrong_fact() {
    let pod = envelope("v1", "Pod", &object(&object_meta("n", "a", "u", "1")));
    let item = bytes(2, object(&object_meta("n", "a", "u", "1")));
    let parts = [bytes(1, list_meta("7", "", Some(1))), bytes(1, list_meta("8", "more", None)), item];
    let in_parts = envelope("v1", "PodList", &parts.concat());
    for whole in [pod_list(), too_large(), pod, in_parts] {
        let facts = document(&whole);
        for (start, end) in gaps(&whole) {
            let emitted = without(BodyKind::Document, &whole, start, end);
            assert!(is_subsequence(&emitted, &facts), "without {start}..{end} of {whole:x?}: {emitted:?}");
        }
    }
}

#[test]
fn only_the_item_with_a_gap_is_lost() {
    let items: Vec<Vec<u8>> = ["a", "b", "c"].map(|name| bytes(2, object(&object_meta("n", name, "u", "1")))).to_vec();
    let whole = envelope("v1", "PodList", &items.concat());
    let start = whole.len() - 4 - items[2].len() - items[1].len();
    let emitted = without(BodyKind::Document, &whole, start + 8, start + items[1].len());
    let facts = document(&whole);
    assert_eq!(emitted, [facts[0].clone(), facts[1].clone(), facts[3].clone(), Fact::Complete]);
}

#[test]
fn gap_over_the_beginning_of_an_event_ends_what_is_reported() {
    let whole = watch();
    let second = frame_end(&whole, 0);
    assert_eq!(without(BodyKind::Watch, &whole, second - 1, second + 1), []);
    assert_eq!(without(BodyKind::Watch, &whole, second, second + 1), events(&whole)[..1]);
}

#[test]
fn gaps_of_any_length_are_tolerated() {
    for kind in [BodyKind::Document, BodyKind::Watch] {
        let mut reader = BodyReader::new(kind, PROTOBUF, "").unwrap();
        for _ in 0..2 {
            reader.gap(u64::MAX);
            reader.push(&watch(), &mut |fact| panic!("{fact:?}"));
        }
    }
}

#[test]
fn compressed_watch_is_silent_after_a_gap() {
    let compressed = gzip_member(&watch());
    let mut reader = BodyReader::new(BodyKind::Watch, PROTOBUF, "gzip").unwrap();
    reader.push(&compressed[..20], &mut |fact| panic!("{fact:?}"));
    reader.gap(1);
    reader.push(&compressed[21..], &mut |fact| panic!("{fact:?}"));
    reader.finish(&mut |fact| panic!("{fact:?}"));
}

/// Gaps of many lengths at every place.
fn gaps(whole: &[u8]) -> Vec<(usize, usize)> {
    let lengths = [1, 2, 3, 9, 30, 100, 170, 250, 300, 333, 500, 800];
    let at = |start: usize| lengths.map(|length| (start, whole.len().min(start + length)));
    (0..whole.len()).flat_map(at).collect()
}

/// The end of the frame that begins at `start`.
fn frame_end(whole: &[u8], start: usize) -> usize {
    let length = u32::from_be_bytes(whole[start..start + 4].try_into().unwrap());
    start + 4 + usize::try_from(length).unwrap()
}

/// The facts without these bytes. Facts about the end are left out, as the end may be among the missing bytes.
fn without(kind: BodyKind, bytes: &[u8], start: usize, end: usize) -> Vec<Fact> {
    let mut reader = BodyReader::new(kind, PROTOBUF, "").unwrap();
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
