//! Independent encoders write one set of objects in every encoding, and all encodings give the same facts.
//!
//! Protobuf comes from the messages of `k8s-pb`, which are generated from Kubernetes' own definitions; JSON and CBOR come from
//! serde. The code's own tests cover the deviations of kube-apiserver (empty fields in protobuf, byte strings in CBOR).

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap")]

#[path = "encodings/encoders.rs"]
mod encoders;
#[path = "encodings/objects.rs"]
mod objects;

use std::io::Write;

use encoders::Encoding;
use flate2::Compression;
use flate2::write::GzEncoder;
use objects::{Kind, List, failure};
use observer_core::wire::{BodyKind, BodyReader, Fact, WatchFrame};
use proptest::prelude::*;

#[test]
fn lists_yield_the_same_facts_in_every_encoding() {
    for list in [
        List::new(Kind::Pod, 300),
        List::new(Kind::Secret, 50),
        List::new(Kind::ConfigMap, 1),
        List::new(Kind::ConfigMap, 0),
        List::new(Kind::Metadata, 100),
        List::new(Kind::Widget, 40),
    ] {
        for encoding in list.encodings() {
            let body = encoding.list(&list);
            for (coding, bytes) in codings(&body) {
                for chunk in [bytes.len(), 16_384, 1000, 61] {
                    let facts = read(BodyKind::Document, encoding, coding, &bytes, chunk);
                    assert!(sorted(facts) == sorted(list.facts()), "{encoding:?} {coding} {:?} in chunks of {chunk}", list.kind);
                }
            }
        }
    }
}

#[test]
fn hundred_thousand_items_are_read_in_every_encoding() {
    let list = List::new(Kind::ConfigMap, 100_000);
    for encoding in list.encodings() {
        let facts = read(BodyKind::Document, encoding, "", &encoding.list(&list), 65_536);
        assert!(sorted(facts) == sorted(list.facts()), "{encoding:?}");
    }
}

#[test]
fn watches_yield_the_same_facts_in_every_encoding() {
    for list in [List::new(Kind::Pod, 100), List::new(Kind::Secret, 20), List::new(Kind::Metadata, 20), List::new(Kind::Widget, 20)]
    {
        for encoding in list.encodings() {
            let frames = encoding.watch(&list);
            let expected: Vec<Fact> = list.frames().into_iter().zip(&frames).map(|(frame, bytes)| frame_of(frame, bytes)).collect();
            for (coding, bytes) in codings(&frames.concat()) {
                for chunk in [bytes.len(), 1000, 61] {
                    let facts = read(BodyKind::Watch, encoding, coding, &bytes, chunk);
                    assert!(facts == expected, "{encoding:?} {coding} {:?} in chunks of {chunk}", list.kind);
                }
            }
        }
    }
}

#[test]
fn failures_yield_the_same_facts_in_every_encoding() {
    let (status, kind) = (Fact::Status(Box::new(failure())), Fact::Kind { kind: "Status".into(), api_version: "v1".into() });
    for encoding in Encoding::ALL {
        let facts = read(BodyKind::Document, encoding, "", &encoding.failure(), 7);
        assert_eq!(facts, [kind.clone(), status.clone(), Fact::Complete], "{encoding:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunking_does_not_change_facts(
        kind in prop::sample::select(&[Kind::Pod, Kind::Secret, Kind::Metadata][..]),
        encoding in prop::sample::select(&Encoding::ALL[..]),
        count in 0_usize..6,
        chunk in 1_usize..700,
    ) {
        let list = List::new(kind, count);
        prop_assert_eq!(sorted(read(BodyKind::Document, encoding, "", &encoding.list(&list), chunk)), sorted(list.facts()));
    }
}

fn read(kind: BodyKind, encoding: Encoding, coding: &str, bytes: &[u8], chunk: usize) -> Vec<Fact> {
    let mut reader = BodyReader::new(kind, encoding.media_type(), coding).unwrap();
    let mut facts = Vec::new();
    bytes.chunks(chunk.max(1)).for_each(|piece| reader.push(piece, &mut |fact| facts.push(fact)));
    reader.finish(&mut |fact| facts.push(fact));
    facts
}

/// The body as it is, as one gzip member, and as several.
fn codings(body: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let several = body.chunks(body.len() / 3 + 1).flat_map(gzip_member).collect();
    [("", body.to_vec()), ("gzip", gzip_member(body)), ("gzip", several)]
}

fn gzip_member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The items in their order, and all other facts sorted, because their place depends on the order of the members.
fn sorted(facts: Vec<Fact>) -> (Vec<Fact>, Vec<String>) {
    let (items, others): (Vec<Fact>, Vec<Fact>) = facts.into_iter().partition(|fact| matches!(fact, Fact::Item(_)));
    let mut others: Vec<String> = others.iter().map(|fact| format!("{fact:?}")).collect();
    others.sort();
    (items, others)
}

fn frame_of(frame: WatchFrame, bytes: &[u8]) -> Fact {
    Fact::Frame(WatchFrame { bytes: bytes.len() as u64, ..frame })
}
