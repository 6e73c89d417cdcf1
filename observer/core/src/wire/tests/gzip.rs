//! Compressed bodies.

use std::io::Write;

use flate2::{Compression, GzBuilder};

use super::fixtures::{POD_LIST, WATCH};
use super::reading::{gzip_member, read, read_in_chunks};
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
fn events_of_a_member_are_told_before_the_member_ends() {
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

#[track_caller]
fn check_last(compressed: &[u8], at: usize, what: &'static str) {
    let facts = read_in_chunks(BodyKind::Document, "gzip", [compressed]);
    assert_eq!(facts.last(), Some(&Fact::Malformed { at: at as u64, what }));
}
