//! Compressed bodies.

use std::io::Write;

use flate2::{Compression, GzBuilder};

use super::fixtures::{POD_LIST, WATCH};
use super::reading::{CBOR, JSON, PROTOBUF, gzip_member, read, read_as, read_in_chunks};
use crate::wire::{BodyKind, BodyReader, Fact};

#[test]
fn optional_header_fields_are_skipped() {
    let mut encoder = GzBuilder::new().filename("name").comment("comment").extra([1, 2, 3]).write(Vec::new(), Compression::best());
    encoder.write_all(POD_LIST.as_bytes()).unwrap();
    assert_eq!(
        read_in_chunks(BodyKind::Document, "gzip", [encoder.finish().unwrap().as_slice()]),
        read(BodyKind::Document, POD_LIST)
    );
}

#[test]
fn events_of_a_member_are_reported_before_the_member_ends() {
    let compressed = gzip_member(WATCH.as_bytes());
    let mut reader = BodyReader::new(BodyKind::Watch, "application/json", "gzip").unwrap();
    let mut facts = Vec::new();
    reader.push(&compressed[..compressed.len() - 8], &mut |fact| facts.push(fact));
    assert_eq!(facts, read(BodyKind::Watch, WATCH));
}

#[test]
fn wrong_checksum_is_malformed() {
    let mut compressed = gzip_member(POD_LIST.as_bytes());
    let checksum = compressed.len() - 8;
    compressed[checksum] ^= 1;
    check_last(&compressed, POD_LIST.len(), "not gzip, or damaged");
}

#[test]
fn garbage_after_a_member_is_malformed() {
    let compressed = [gzip_member(POD_LIST.as_bytes()).as_slice(), b"garbage, really"].concat();
    check_last(&compressed, POD_LIST.len(), "not gzip, or damaged");
}

#[test]
fn member_that_ends_early_is_malformed() {
    let compressed = gzip_member(POD_LIST.as_bytes());
    check_last(&compressed[..compressed.len() - 1], POD_LIST.len(), "ends in the middle of a gzip member");
}

#[test]
fn inflating_stops_at_the_cap() {
    let spaces = [b" ".repeat(1 << 20).as_slice(), b"{}"].concat();
    let compressed = gzip_member(&spaces);
    let with_cap = |cap: usize| {
        let mut reader = BodyReader::new(BodyKind::Document, "application/json", "gzip").unwrap().with_inflate_cap(cap as u64);
        let mut facts = Vec::new();
        reader.push(&compressed, &mut |fact| facts.push(fact));
        facts.pop()
    };
    assert_eq!(with_cap(spaces.len()), Some(Fact::Complete));
    let at = spaces.len() as u64 - 1;
    assert_eq!(with_cap(spaces.len() - 1), Some(Fact::Malformed { at, what: "inflates to more than the cap" }));
}

#[test]
fn chunking_does_not_move_the_stop_at_too_many_facts() {
    const FACTS: usize = 1 << 18;
    let list = |item: &[u8]| [br#"{"items":["#, item.repeat(FACTS).as_slice(), b"{}]}"].concat();
    let envelope = |length: usize| [b"k8s\0\n\x0d\n\x02v1\x12\x07PodList\x12", varint(length).as_slice()].concat();
    let items = b"\x12\0".repeat(FACTS);
    for (kind, media_type, body) in [
        (BodyKind::Watch, JSON, b"{}".repeat(FACTS)),
        (BodyKind::Watch, CBOR, b"\xa0".repeat(FACTS)),
        (BodyKind::Watch, PROTOBUF, b"\0\0\0\x02\n\0".repeat(FACTS)),
        (BodyKind::Document, JSON, list(b"{},")),
        (BodyKind::Document, CBOR, [b"\xa1\x65items\x9f", b"\xa0".repeat(FACTS).as_slice(), b"\xff"].concat()),
        (BodyKind::Document, PROTOBUF, [envelope(items.len()).as_slice(), &items].concat()),
    ] {
        let compressed = gzip_member(&body);
        let facts = read_as(kind, media_type, "gzip", [compressed.as_slice()]);
        let emitted = (kind, media_type, facts.len(), facts.last().cloned());
        let Some(Fact::Malformed { what: "more items or events than compressed bytes", .. }) = emitted.3 else {
            panic!("{emitted:?}")
        };
        assert!(facts.len() < FACTS / 8, "{emitted:?}");
        for length in [1, 7, 1000, 1024, 1500] {
            assert!(read_as(kind, media_type, "gzip", compressed.chunks(length)) == facts, "chunks of {length}: {emitted:?}");
        }
    }
}

#[test]
fn reading_stops_at_an_excessive_compression_ratio() {
    let body = |length: usize| [br#"{"a":""#, b"0".repeat(length).as_slice(), br#""}"#].concat();
    let read = |length| read_in_chunks(BodyKind::Document, "gzip", [smallest_member(&body(length)).as_slice()]).pop();
    assert_eq!(read(16 << 20), Some(Fact::Complete), "small enough to be read in any case");
    let Some(Fact::Malformed { at, what: "inflates to more than 256 times its length" }) = read(64 << 20) else {
        panic!("was read to its end")
    };
    assert!((32 << 20..48 << 20).contains(&at), "given up after {at} bytes");
}

/// A long list that shrinks as much as those of Kubernetes do.
#[test]
fn list_compressed_fifty_to_one_is_read_completely() {
    const ITEMS: usize = 2000;
    let spec = r#"{"name":"container","image":"registry.example/app:1","terminationMessagePolicy":"File"},"#.repeat(60);
    let item = |number: usize| {
        let uid = (number as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        format!(r#"{{"metadata":{{"name":"pod-{number}","uid":"{uid:032x}","resourceVersion":"{number}"}},"spec":[{spec}0]}}"#)
    };
    let items: Vec<String> = (0..ITEMS).map(item).collect();
    let body = format!(r#"{{"metadata":{{"resourceVersion":"17"}},"items":[{}]}}"#, items.join(","));
    let compressed = gzip_member(body.as_bytes());
    assert!(compressed.len() < body.len() / 50, "{} of {} bytes", compressed.len(), body.len());
    let facts = read_in_chunks(BodyKind::Document, "gzip", compressed.chunks(1400));
    assert_eq!((facts.len(), facts.last()), (ITEMS + 3, Some(&Fact::Complete)));
}

fn smallest_member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzBuilder::new().write(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A length, as protobuf encodes it.
fn varint(number: usize) -> Vec<u8> {
    let mut rest = number;
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
        rest >>= 7;
    }
    bytes.push(u8::try_from(rest).unwrap());
    bytes
}

#[track_caller]
fn check_last(compressed: &[u8], at: usize, what: &'static str) {
    let facts = read_in_chunks(BodyKind::Document, "gzip", [compressed]);
    assert_eq!(facts.last(), Some(&Fact::Malformed { at: at as u64, what }));
}
