//! The functions with which all tests read a body.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::wire::{BodyKind, BodyReader, Fact, ListMeta, ObjectRef, WatchFrame};

/// All facts of a plain body, read at once.
pub(super) fn read(kind: BodyKind, body: impl AsRef<[u8]>) -> Vec<Fact> {
    read_in_chunks(kind, "", [body.as_ref()])
}

/// All facts of a JSON body in these chunks.
pub(super) fn read_in_chunks<'a>(kind: BodyKind, coding: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Fact> {
    read_as(kind, JSON, coding, chunks)
}

pub(super) const JSON: &str = "application/json";
pub(super) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
pub(super) const CBOR: &str = "application/cbor";

/// All facts of a body of this media type in these chunks.
pub(super) fn read_as<'a>(
    kind: BodyKind,
    content_type: &str,
    coding: &str,
    chunks: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<Fact> {
    let mut reader = BodyReader::new(kind, content_type, coding).unwrap();
    let mut facts = Vec::new();
    for chunk in chunks {
        reader.push(chunk, &mut |fact| facts.push(fact));
    }
    reader.finish(&mut |fact| facts.push(fact));
    facts
}

/// `bytes` as a gzip member.
pub(super) fn gzip_member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(super) fn kind(kind: &str, api_version: &str) -> Fact {
    Fact::Kind { kind: kind.into(), api_version: api_version.into() }
}

pub(super) fn object(namespace: &str, name: &str, uid: &str, resource_version: &str) -> ObjectRef {
    ObjectRef { namespace: namespace.into(), name: name.into(), uid: uid.into(), resource_version: resource_version.into() }
}

pub(super) fn list_meta(resource_version: &str, continue_token: &str, remaining_item_count: Option<i64>) -> Fact {
    Fact::ListMeta(ListMeta {
        resource_version: resource_version.into(),
        continue_token: continue_token.into(),
        remaining_item_count,
    })
}

/// The frames of a watch; any other fact fails the test.
#[track_caller]
pub(super) fn frames(facts: Vec<Fact>) -> Vec<WatchFrame> {
    let frame = |fact| if let Fact::Frame(frame) = fact { frame } else { panic!("not a frame: {fact:?}") };
    facts.into_iter().map(frame).collect()
}
