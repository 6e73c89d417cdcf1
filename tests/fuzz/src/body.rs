//! Invariants of the body reader in any encoding. The facts do not depend on the chunking, and there are none after malformed
//! bytes. Memory is bounded. With a gap, some facts may be missing, but none may be added or changed.
//!
//! The first byte of the input selects the kind of body: bit 0 set is a watch, otherwise a document.

use observer_core::wire::{BodyKind, BodyReader, Fact};

use super::allocation;
use super::facts::{is_lines_of_json, is_subsequence};
use super::repetition::times_beyond;

/// Maximum memory of a reader in bytes: an inflater with its window and its output, and the longest texts that it keeps.
const MOST_HELD: u64 = 384 << 10;

/// A body with its kind and the fields of its head.
#[derive(Clone, Copy)]
pub(crate) struct Body<'b> {
    pub(crate) kind: BodyKind,
    pub(crate) media_type: &'static str,
    pub(crate) coding: &'static str,
    pub(crate) bytes: &'b [u8],
}

impl<'b> Body<'b> {
    /// The body in an input; `None` if the input is empty.
    pub(crate) fn of(input: &'b [u8], media_type: &'static str) -> Option<Self> {
        let (flags, bytes) = input.split_first()?;
        let kind = if flags & 1 == 1 { BodyKind::Watch } else { BodyKind::Document };
        Some(Self { kind, media_type, coding: "", bytes })
    }

    pub(crate) fn reader(&self) -> BodyReader {
        BodyReader::new(self.kind, self.media_type, self.coding).expect("these types and codings are read")
    }

    /// The facts of the body, read in one piece.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.in_chunks(self.bytes.len())
    }

    /// Checks the invariants for any bytes.
    pub(crate) fn assert_sound(&self) {
        let whole = self.facts();
        // Each push reserves room for inflated bytes, so pieces of a few bytes would take most of the time.
        let smallest = if self.coding.is_empty() { 1 } else { 1 + self.bytes.len() / 256 };
        for chunk in [smallest, 7 * smallest, 64 * smallest] {
            assert_eq!(whole, self.in_chunks(chunk), "chunking changed the facts");
        }
        let malformed = whole.iter().position(|fact| matches!(fact, Fact::Malformed { .. }));
        assert!(malformed.is_none_or(|at| at + 1 == whole.len()), "something is told after {malformed:?} of {whole:?}");
        let held = allocation::peak_during(|| self.read_again(times_beyond(MOST_HELD, self.bytes)));
        assert!(held <= MOST_HELD, "{held} bytes are held");
        if malformed.is_none() && (self.media_type != super::json::MEDIA_TYPE || is_lines_of_json(self.bytes)) {
            self.assert_gaps_lose_facts_only(&whole);
        }
    }

    fn assert_gaps_lose_facts_only(&self, whole: &[Fact]) {
        let length = self.bytes.len();
        for start in [length / 4, length / 2, length - length / 8] {
            let end = length.min(start + 1 + length / 16);
            let mut told = Vec::new();
            let mut reader = self.reader();
            let mut note = |fact| told.push(fact);
            let (before, rest) = self.bytes.split_at(start);
            let (lost, behind) = rest.split_at(end - start);
            reader.push(before, &mut note);
            reader.gap(lost.len() as u64);
            reader.push(behind, &mut note);
            told.retain(|fact| !matches!(fact, Fact::Malformed { .. }));
            assert!(is_subsequence(&told, whole), "without {start}..{end}: {told:?} of {whole:?}");
        }
    }

    fn in_chunks(&self, chunk: usize) -> Vec<Fact> {
        let mut facts = Vec::new();
        self.read(chunk, &mut |fact| facts.push(fact));
        facts
    }

    /// Reads a body that consists of this one repeated `times` times.
    fn read_again(&self, times: usize) {
        let mut reader = self.reader();
        for _ in 0..times {
            reader.push(self.bytes, &mut |_| {});
        }
        reader.finish(&mut |_| {});
    }

    fn read(&self, chunk: usize, told: &mut dyn FnMut(Fact)) {
        let mut reader = self.reader();
        for piece in self.bytes.chunks(chunk.max(1)) {
            reader.push(piece, told);
        }
        reader.finish(told);
    }
}
