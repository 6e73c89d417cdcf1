//! Header blocks of Go's encoder, which client-go and kube-apiserver use, decoded field by field.

use std::hash::{BuildHasher, RandomState};

use observer_core::http::hpack::{Decoder, FieldLine, Name, Value};
use observer_tests::{GoBlock, field_line, go_blocks};

#[test]
fn go_hpack_blocks_decode_to_the_encoded_fields() {
    let seed = seed();
    let mut decoding: Option<(u64, Decoder)> = None;
    for (at, block) in blocks(seed).iter().enumerate() {
        let mut decoder = match decoding.take() {
            Some((connection, decoder)) if connection == block.connection => decoder,
            Some(_) | None => Decoder::from_beginning(),
        };
        decoder.limit_size(block.limit);
        assert_eq!(decode(&mut decoder, block), expected(block), "seed {seed}, block {at}");
        decoding = Some((block.connection, decoder));
    }
}

#[test]
fn go_hpack_blocks_after_a_mid_connection_start_are_never_misdecoded() {
    let seed = seed();
    let blocks = blocks(seed);
    for (at, connection) in blocks.chunk_by(|one, next| one.connection == next.connection).enumerate() {
        let mut decoder = Decoder::from_middle();
        let (mut known, mut unknown) = (0, 0);
        for block in connection.iter().skip(at) {
            for (reported, sent) in decode(&mut decoder, block).into_iter().zip(expected(block)) {
                if reported == sent {
                    known += 1;
                } else {
                    assert!(is_unknown_part_of(&reported, &sent), "seed {seed}, connection {at}: {reported:?} of {sent:?}");
                    unknown += 1;
                }
            }
        }
        assert!(known > unknown, "seed {seed}, connection {at}: {known} known, {unknown} unknown");
    }
}

fn blocks(seed: u32) -> Vec<GoBlock> {
    let blocks = go_blocks(seed, 10_000).unwrap();
    assert_eq!(blocks.len(), 10_000);
    blocks
}

fn decode(decoder: &mut Decoder, block: &GoBlock) -> Vec<FieldLine> {
    let mut lines = Vec::new();
    decoder.fragment(&block.encoded, &mut |line| lines.push(line.clone())).unwrap();
    decoder.finish().unwrap();
    assert_eq!(lines.len(), block.fields.len());
    lines
}

fn expected(block: &GoBlock) -> Vec<FieldLine> {
    block.fields.iter().map(|(name, value)| field_line(name, value)).collect()
}

/// Whether the decoder correctly reported `sent` as unknown: it was a reference to an entry from before decoding, or had such a
/// reference as its name.
fn is_unknown_part_of(reported: &FieldLine, sent: &FieldLine) -> bool {
    let name_unknown = reported.name == Name::Unknown && reported.name_length.is_none();
    let value_unknown = matches!(reported.value, Value::Unknown | Value::NotKept);
    name_unknown && value_unknown && (reported.value_length.is_none() || reported.value_length == sent.value_length)
}

/// A different seed in each run; failures print it.
fn seed() -> u32 {
    let bytes = RandomState::new().hash_one(0).to_le_bytes();
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
