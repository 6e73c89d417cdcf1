//! Any chunking of the same bytes gives the same facts.

use proptest::prelude::*;

use super::fixtures::ALL;
use super::reading::{gzip_member, read, read_in_chunks};

#[test]
fn bytes_one_by_one_are_as_good_as_all_at_once() {
    for (kind, body) in ALL {
        assert_eq!(read_in_chunks(kind, "", body.as_bytes().chunks(1)), read(kind, body), "{body}");
    }
}

#[test]
fn two_chunks_are_as_good_as_one_wherever_the_cut_is() {
    for (kind, body) in ALL {
        let facts = read(kind, body);
        for cut in 0..body.len() {
            let (first, second) = body.as_bytes().split_at(cut);
            assert_eq!(read_in_chunks(kind, "", [first, second]), facts, "cut at {cut} of {body}");
        }
    }
}

proptest! {
    #[test]
    fn chunks_and_gzip_members_may_be_cut_anywhere(
        (kind, body) in prop::sample::select(ALL.as_slice()),
        members in prop::collection::vec(1_usize..2000, 1..5),
        chunks in prop::collection::vec(1_usize..300, 1..8),
    ) {
        let compressed: Vec<u8> = cut(body.as_bytes(), &members).into_iter().flat_map(gzip_member).collect();
        prop_assert_eq!(read_in_chunks(kind, "gzip", cut(&compressed, &chunks)), read(kind, body));
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
    fn damaged_gzip_is_malformed_at_the_same_place(
        (kind, body) in prop::sample::select(ALL.as_slice()),
        (place, bit) in (any::<prop::sample::Index>(), 0_u32..8),
        chunks in prop::collection::vec(1_usize..300, 1..8),
    ) {
        let mut damaged = gzip_member(body.as_bytes());
        let place = place.index(damaged.len());
        damaged[place] ^= 1 << bit;
        prop_assert_eq!(read_in_chunks(kind, "gzip", cut(&damaged, &chunks)), read_in_chunks(kind, "gzip", [damaged.as_slice()]));
    }
}

/// `bytes` in pieces of these lengths, over and over.
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
