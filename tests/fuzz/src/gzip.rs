//! Invariants of gzip bodies: their facts equal those of the inflated body, whatever the number of members, and the inflate cap
//! holds.
//!
//! The first byte of the input selects the form: bit 0 a watch (otherwise a document); bits 2 and 3 the encoding (1 protobuf, 2
//! CBOR, otherwise JSON). With bit 5, the rest is a plain body, compressed here; the next byte plus one is the size of its members.
//! Without bit 5, the rest is used as the gzip body, valid or not.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use observer_core::wire::Fact;

use super::body::Body;
use super::{cbor, json, protobuf};

/// Maximum inflated size for the comparison, in bytes; larger bodies are not compared.
const MOST_INFLATED: usize = 1 << 20;

/// A cap in bytes that short inputs can reach.
const CAP: u64 = 1 << 10;

/// Reads the body compressed and plain.
pub fn check(input: &[u8]) {
    let Some(flags) = input.first() else { return };
    let media_type = match flags >> 2 & 3 {
        1 => protobuf::MEDIA_TYPE,
        2 => cbor::MEDIA_TYPE,
        _ => json::MEDIA_TYPE,
    };
    let Some(body) = Body::of(input, media_type) else { return };
    if flags & 0x20 == 0x20 {
        check_layered(body);
    } else {
        check_hostile(body);
    }
}

/// Compresses a plain body here and compares.
fn check_layered(body: Body<'_>) {
    let Some((size, plain)) = body.bytes.split_first() else { return };
    let members: Vec<u8> = plain.chunks(usize::from(*size) + 1).flat_map(member).collect();
    let body = Body { bytes: plain, ..body };
    let compressed = Body { coding: "gzip", bytes: &members, ..body };
    assert_eq!(body.facts(), compressed.facts(), "gzip changed the facts");
    compressed.assert_sound();
    check_cap(compressed, Some(plain));
}

/// Reads gzip from an untrusted sender.
fn check_hostile(body: Body<'_>) {
    let compressed = Body { coding: "gzip", ..body };
    compressed.assert_sound();
    let plain = inflated(body.bytes);
    check_cap(compressed, plain.as_deref());
    if let Some(plain) = plain {
        assert_eq!(compressed.facts(), Body { bytes: &plain, ..body }.facts(), "gzip changed the facts");
    }
}

/// A capped reader gives the same facts up to the cap, and then reports the cap. `plain` is the inflated body, if it is available.
fn check_cap(body: Body<'_>, plain: Option<&[u8]>) {
    let mut capped = Vec::new();
    let mut reader = body.reader().with_inflate_cap(CAP);
    reader.push(body.bytes, &mut |fact| capped.push(fact));
    reader.finish(&mut |fact| capped.push(fact));
    let whole = body.facts();
    let end = capped.iter().position(|fact| matches!(fact, Fact::Malformed { .. })).unwrap_or(capped.len());
    assert_eq!(capped.get(..end), whole.get(..end), "the cap made facts");
    match capped.last() {
        Some(Fact::Malformed { at, .. }) => assert!(*at <= CAP, "the cap came after {at} bytes"),
        _ => assert!(plain.is_none_or(|plain| plain.len() as u64 <= CAP), "nobody kept to the cap"),
    }
}

fn member(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

#[expect(clippy::disallowed_methods, reason = "what it inflates is bounded")]
fn inflated(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let most = u64::try_from(MOST_INFLATED + 1).ok()?;
    MultiGzDecoder::new(bytes).take(most).read_to_end(&mut plain).ok()?;
    (plain.len() <= MOST_INFLATED).then_some(plain)
}
