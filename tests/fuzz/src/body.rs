//! What must hold for the reader of bodies in any encoding: the same facts whatever the chunking, nothing after the place where a body
//! is malformed, bounded memory, and after a gap fewer facts, never others.
//!
//! The first byte of the input says how the rest is read: bit 0 a watch, else a document.

use observer_core::wire::{BodyKind, BodyReader, Fact};

use super::allocation;
use super::facts::{is_lines_of_json, is_subsequence};
use super::repetition::times_beyond;

/// Most that a reader may hold: an inflater with its window and its output, and the longest texts that are kept of a document.
const MOST_HELD: u64 = 384 << 10;

/// A body and what its head says of it.
#[derive(Clone, Copy)]
pub(crate) struct Body<'b> {
    pub(crate) kind: BodyKind,
    pub(crate) media_type: &'static str,
    pub(crate) coding: &'static str,
    pub(crate) bytes: &'b [u8],
}

impl<'b> Body<'b> {
    /// The body that an input holds.
    pub(crate) fn of(input: &'b [u8], media_type: &'static str) -> Option<Self> {
        let (flags, bytes) = input.split_first()?;
        let kind = if flags & 1 == 1 { BodyKind::Watch } else { BodyKind::Document };
        Some(Self { kind, media_type, coding: "", bytes })
    }

    pub(crate) fn reader(&self) -> BodyReader {
        BodyReader::new(self.kind, self.media_type, self.coding).expect("these types and codings are read")
    }

    /// The facts, read at once.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.in_chunks(self.bytes.len())
    }

    /// All that must hold whatever the bytes are.
    pub(crate) fn assert_sound(&self) {
        let whole = self.facts();
        // Each push makes room for what is inflated, so that few bytes at a time of a long body would take most of the time.
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

    /// Reads one body that is this one so many times.
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
