//! CBOR that kube-apiserver writes, and CBOR that it never would.

use proptest::prelude::*;

use super::cbor_bytes::{document, watch};
use super::fixtures::{ALL, WATCH};
use super::reading::{CBOR, JSON, frames, read_as};
use crate::wire::{BodyKind, BodyReader, Fact};

#[test]
fn every_fixture_yields_the_same_facts_as_in_json() {
    for (kind, text) in ALL.into_iter().filter(|(kind, _)| *kind == BodyKind::Document) {
        let sorted: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(read(kind, &document(text)), read_as(kind, JSON, "", [sorted.to_string().as_bytes()]), "{text}");
    }
}

#[test]
fn events_of_a_sequence_are_frames_of_their_own_length() {
    let lengths: Vec<u64> = WATCH.lines().map(|line| document(line).len() as u64).collect();
    let cbor = frames(read(BodyKind::Watch, &watch(WATCH)));
    let mut json = frames(read_as(BodyKind::Watch, JSON, "", [WATCH.as_bytes()]));
    json.iter_mut().zip(lengths).for_each(|(frame, bytes)| frame.bytes = bytes);
    assert_eq!(cbor, json);
}

#[test]
fn events_are_reported_with_their_last_byte() {
    let bytes = document(WATCH.lines().next().unwrap());
    let mut reader = BodyReader::new(BodyKind::Watch, CBOR, "").unwrap();
    let mut emitted = Vec::new();
    reader.push(&bytes[..bytes.len() - 1], &mut |fact| emitted.push(fact));
    assert_eq!(emitted, []);
    reader.push(&bytes[bytes.len() - 1..], &mut |fact| emitted.push(fact));
    assert_eq!(emitted.len(), 1);
}

#[test]
fn errors_are_reported_with_their_position() {
    for (bytes, at, what) in [
        (&b"{}"[..], 0, "not a CBOR map"),
        (&[0xd9, 0xd9, 0xf7, 0x80], 3, "not a CBOR map"),
        (&[0xa1, 0x61, b'a', 0x1c], 3, "invalid first byte of a CBOR data item"),
        (&[0xa1, 0xff], 1, "a break outside an indefinite-length value"),
        (&[0xa1, 0x61, b'a', 0xff], 3, "a break outside an indefinite-length value"),
        (&[0xa1, 0x61, b'a', 0x81, 0xff], 5, "a break outside an indefinite-length value"),
        (&[0xbf, 0x5f, 0x01, 0xff], 3, "an indefinite-length string with something other than a chunk"),
        (&[0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 9, "impossible number of items"),
        (&[0xa1, 0x61, b'a', 0xbb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 12, "impossible number of items"),
        (&[0xa0, 0xa0], 1, "bytes after the document"),
        (&[0xd9, 0xd9, 0xf7], 3, "ends in the middle of a document"),
        (&[], 0, "no document"),
    ] {
        let last = read(BodyKind::Document, bytes).pop();
        assert_eq!(last, Some(Fact::Malformed { at, what }), "{bytes:x?}");
        assert_eq!(read_as(BodyKind::Document, CBOR, "", bytes.chunks(1)).pop(), last, "{bytes:x?}");
    }
}

#[test]
fn document_that_ends_early_is_malformed_at_its_end() {
    let whole = document(ALL[0].1);
    for end in 1..whole.len() {
        let last = read(BodyKind::Document, &whole[..end]).pop();
        assert_eq!(last, Some(Fact::Malformed { at: end as u64, what: "ends in the middle of a document" }));
    }
}

#[test]
fn huge_claimed_string_lengths_are_not_allocated() {
    for head in [0x5b, 0x7b] {
        let bytes = [&[0xa1, head, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..], &vec![b'x'; 100_000]].concat();
        let facts = read(BodyKind::Document, &bytes);
        assert_eq!(facts, [Fact::Malformed { at: bytes.len() as u64, what: "ends in the middle of a document" }]);
    }
}

#[test]
fn deep_nesting_of_known_length_is_skipped() {
    let bytes = [b"\xa2\x44spec".to_vec(), vec![0x81; 1_000_000], b"\x01\x44kindcPod".to_vec()].concat();
    assert_eq!(read(BodyKind::Document, &bytes)[0], super::reading::kind("Pod", ""));
}

#[test]
fn indefinite_length_nesting_is_bounded() {
    let nested = |depth: usize| [b"\xa1\x44spec".to_vec(), vec![0x9f; depth], vec![0xff; depth]].concat();
    assert_eq!(read(BodyKind::Document, &nested(100)).pop(), Some(Fact::Complete));
    let last = read(BodyKind::Document, &nested(1_000_000)).pop();
    assert_eq!(last, Some(Fact::Malformed { at: 134, what: "indefinite-length values are nested too deeply" }));
}

#[test]
fn last_duplicate_member_counts() {
    let facts = read(BodyKind::Document, b"\xa2\x44kindcPod\x44kinddNode");
    assert_eq!(facts, [super::reading::kind("Node", ""), Fact::Complete]);
}

#[test]
fn non_string_keys_are_skipped_with_their_values() {
    let facts = read(BodyKind::Document, b"\xa4\x01\x02\x82\x01\x02\xa1\x03\x04\xf6\x80\x44kindcPod");
    assert_eq!(facts, [super::reading::kind("Pod", ""), Fact::Complete]);
}

#[test]
fn nothing_follows_a_gap() {
    let whole = watch(WATCH);
    let facts = read(BodyKind::Watch, &whole);
    for start in 0..whole.len() {
        let mut reader = BodyReader::new(BodyKind::Watch, CBOR, "").unwrap();
        let mut emitted = Vec::new();
        reader.push(&whole[..start], &mut |fact| emitted.push(fact));
        reader.gap(1);
        reader.push(&whole[start + 1..], &mut |fact| emitted.push(fact));
        reader.finish(&mut |fact| emitted.push(fact));
        assert!(facts.starts_with(&emitted), "without {start}: {emitted:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for kind in [BodyKind::Document, BodyKind::Watch] {
            read(kind, &[b"\xbf".as_slice(), &bytes].concat());
            read(kind, &bytes);
        }
    }
}

fn read(kind: BodyKind, bytes: &[u8]) -> Vec<Fact> {
    read_as(kind, CBOR, "", [bytes])
}
