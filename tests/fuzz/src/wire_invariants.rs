//! What must hold for the body reader on any bytes: no panic, and the same facts whatever the chunking.
//!
//! The first byte of the input chooses how the rest is read: bit 0 a watch (else a document), bit 1 gzip.

use observer_core::wire::{BodyKind, BodyReader, Fact};

/// Reads the input at once, byte by byte, and in pieces of 7.
pub(crate) fn check(input: &[u8]) {
    let Some((flags, body)) = input.split_first() else { return };
    let kind = if flags & 1 == 1 { BodyKind::Watch } else { BodyKind::Document };
    let coding = if flags & 2 == 2 { "gzip" } else { "" };
    let whole = read(kind, coding, body, body.len().max(1));
    for chunk in [1, 7] {
        assert_eq!(whole, read(kind, coding, body, chunk), "chunking changed the facts");
    }
}

fn read(kind: BodyKind, coding: &str, body: &[u8], chunk: usize) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut reader = BodyReader::new(kind, "application/json", coding).expect("JSON and gzip are read");
    for piece in body.chunks(chunk) {
        reader.push(piece, &mut |fact| facts.push(fact));
    }
    reader.finish(&mut |fact| facts.push(fact));
    facts
}
