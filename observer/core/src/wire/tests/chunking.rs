//! Any chunking of the same bytes gives the same facts.

use proptest::prelude::*;

use super::fixtures::{ALL, Encoded, encoded};
use super::reading::{gzip_member, read, read_as, read_in_chunks};
use crate::wire::Fact;

#[test]
fn single_byte_chunks_yield_the_same_facts() {
    for body in encoded() {
        assert_eq!(read_body(&body, "", body.bytes.chunks(1)), read_at_once(&body), "{body:?}");
    }
}

#[test]
fn two_chunks_cut_anywhere_yield_the_same_facts() {
    for body in encoded() {
        let facts = read_at_once(&body);
        for at in 0..body.bytes.len() {
            let (first, second) = body.bytes.split_at(at);
            assert_eq!(read_body(&body, "", [first, second]), facts, "cut at {at} of {body:?}");
        }
    }
}

proptest! {
    #[test]
    fn chunks_and_gzip_members_may_be_cut_anywhere(
        body in prop::sample::select(encoded()),
        members in prop::collection::vec(1_usize..2000, 1..5),
        chunks in prop::collection::vec(1_usize..300, 1..8),
    ) {
        let compressed: Vec<u8> = cut(&body.bytes, &members).into_iter().flat_map(gzip_member).collect();
        prop_assert_eq!(read_body(&body, "gzip", cut(&compressed, &chunks)), read_at_once(&body));
    }

    #[test]
    fn malformed_bodies_are_malformed_at_the_same_place(
        (kind, body) in prop::sample::select(ALL.as_slice()),
        (place, byte) in (any::<prop::sample::Index>(), prop::sample::select(br#" "\{}[]:,0an"#.as_slice())),
        chunks in prop::collection::vec(1_usize..300, 1..8),
    ) {
        let mut damaged = body.as_bytes().to_vec();
        damaged[place.index(body.len())] = byte;
        prop_assert_eq!(read_in_chunks(kind, "", cut(&damaged, &chunks)), read(kind, &damaged));
    }

    #[test]
    fn damaged_bytes_of_any_encoding_are_malformed_at_the_same_place(
        body in prop::sample::select(encoded()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        chunks in prop::collection::vec(1_usize..60, 1..8),
    ) {
        let mut damaged = body.clone();
        for (place, byte) in changes {
            damaged.bytes[place.index(body.bytes.len())] = byte;
        }
        let facts = read_at_once(&damaged);
        prop_assert_eq!(read_body(&damaged, "", cut(&damaged.bytes, &chunks)), facts.clone());
        let first = facts.iter().position(|fact| matches!(fact, Fact::Malformed { .. }));
        prop_assert!(first.is_none_or(|first| first + 1 == facts.len()), "{:?}", facts);
    }

    #[test]
    fn damaged_gzip_is_malformed_at_the_same_place(
        body in prop::sample::select(encoded()),
        (place, bit) in (any::<prop::sample::Index>(), 0_u32..8),
        chunks in prop::collection::vec(1_usize..300, 1..8),
    ) {
        let mut damaged = gzip_member(&body.bytes);
        let place = place.index(damaged.len());
        damaged[place] ^= 1 << bit;
        prop_assert_eq!(read_body(&body, "gzip", cut(&damaged, &chunks)), read_body(&body, "gzip", [damaged.as_slice()]));
    }
}

fn read_at_once(body: &Encoded) -> Vec<Fact> {
    read_body(body, "", [body.bytes.as_slice()])
}

fn read_body<'a>(body: &Encoded, coding: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Fact> {
    read_as(body.kind, body.content_type, coding, chunks)
}

/// `bytes` in pieces of these lengths, repeatedly.
fn cut<'a>(bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(rest.len().min(*length));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
