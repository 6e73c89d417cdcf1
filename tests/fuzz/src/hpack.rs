//! Invariants of the HPACK decoder for any header blocks. The fields do not depend on the chunking, and memory is bounded. A
//! decoder that starts in the middle of a connection gives no field that contradicts the complete one.
//!
//! Each record has a kind (0 a header block, 1 another table limit, 2 a lost block; modulo 3), a length as two little-endian bytes,
//! and for a block the bytes, truncated at the end of the input. For a table limit, the length is the limit.

use observer_core::http::hpack::{CompressionError, Decoder, FieldLine, Name, Value};

use super::allocation;
use super::repetition::times_beyond;

/// Maximum memory of a decoder in bytes: its table of 64 KiB with overhead per entry, and the longest value that it reads.
const MOST_HELD: u64 = 1 << 20;

/// The decoded fields, and the error if there was one.
type Fields = (Vec<FieldLine>, Option<CompressionError>);

/// Decodes complete blocks, single bytes, and blocks without the connection's beginning.
pub fn check(input: &[u8]) {
    let again = input.repeat(times_beyond(MOST_HELD, input));
    let held = allocation::peak_during(|| {
        decode(Decoder::from_beginning(), &again, usize::MAX, &mut |_| {});
    });
    assert!(held <= MOST_HELD, "{held} bytes are held");
    let (whole, error) = fields(Decoder::from_beginning(), input, usize::MAX);
    for chunk in [1, 7] {
        assert_eq!((&whole, &error), as_ref(&fields(Decoder::from_beginning(), input, chunk)), "chunking changed the fields");
    }
    let (blind, _) = fields(Decoder::from_middle(), input, usize::MAX);
    assert_eq!(fields(Decoder::from_middle(), input, 1).0, blind, "chunking changed the fields from the middle");
    let lost = records(input).any(|(kind, _)| kind == Kind::Lost);
    if error.is_none() && !lost {
        assert_eq!(whole.len(), blind.len(), "another number of fields from the middle");
        for (line, blind) in whole.iter().zip(&blind) {
            let name_agrees = blind.name == line.name || blind.name == Name::Unknown;
            let value_agrees = blind.value == line.value || matches!(blind.value, Value::Unknown | Value::NotKept);
            assert!(name_agrees && value_agrees, "{line:?} became {blind:?}");
        }
    }
}

fn as_ref((lines, error): &Fields) -> (&Vec<FieldLine>, &Option<CompressionError>) {
    (lines, error)
}

fn fields(decoder: Decoder, input: &[u8], chunk: usize) -> Fields {
    let mut lines = Vec::new();
    let error = decode(decoder, input, chunk, &mut |line| lines.push(line.clone()));
    (lines, error)
}

fn decode(mut decoder: Decoder, input: &[u8], chunk: usize, told: &mut dyn FnMut(&FieldLine)) -> Option<CompressionError> {
    for (kind, bytes) in records(input) {
        match kind {
            Kind::Block => {
                for piece in bytes.chunks(chunk.min(bytes.len().max(1))) {
                    if let Err(error) = decoder.fragment(piece, told) {
                        return Some(error);
                    }
                }
                if let Err(error) = decoder.finish() {
                    return Some(error);
                }
            }
            Kind::Limit(limit) => decoder.limit_size(limit),
            Kind::Lost => decoder.lose(),
        }
    }
    None
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Block,
    Limit(u32),
    Lost,
}

fn records(mut input: &[u8]) -> impl Iterator<Item = (Kind, &[u8])> {
    std::iter::from_fn(move || {
        let (&[kind, low, high], rest) = input.split_first_chunk::<3>()?;
        let length = u16::from_le_bytes([low, high]);
        let kind = match kind % 3 {
            0 => Kind::Block,
            1 => Kind::Limit(u32::from(length)),
            _ => Kind::Lost,
        };
        let of_block = if kind == Kind::Block { usize::from(length).min(rest.len()) } else { 0 };
        let (block, rest) = rest.split_at(of_block);
        input = rest;
        Some((kind, block))
    })
}
