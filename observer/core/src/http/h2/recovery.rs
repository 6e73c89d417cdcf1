//! Recovers the header fields of a connection that is observed from its middle.
//!
//! A header block then refers to entries of the dynamic table that were never seen. A tap that can read the fields in plaintext
//! announces them ahead of the blocks that carry them. The readable parts of a block are compared with its announced fields. If
//! they differ, none of the announced fields is used, because a lost field shifts all later ones. If they agree, the table learns
//! the entries that the block left unknown.

use std::collections::VecDeque;

use super::super::header_fields::{Blocks, HeaderFields};
use super::hpack::{Decoder, FieldLine, Trace};

/// Maximum number of streams whose fields wait for their block. The writer of a connection has one at a time.
const MAX_STREAMS: usize = 16;

/// The recovery of one direction; it has no state before the first announcement.
#[derive(Debug, Default)]
pub(super) struct Recovery(Option<Box<Announced>>);

impl Recovery {
    /// Takes fields announced for later blocks, which `hpack` reads.
    pub(super) fn announce(&mut self, fields: &HeaderFields, hpack: &mut Decoder) {
        hpack.trace();
        self.0.get_or_insert_default().add(fields);
    }

    /// Streams for which a header block is announced and has not come.
    pub(super) fn streams(&self) -> Vec<u32> {
        self.0.iter().flat_map(|announced| announced.streams()).collect()
    }

    /// All fields of the block that `hpack` has just read, if they were announced and match; `is_lost` if a part of it is missing.
    pub(super) fn recover(&mut self, stream: u32, is_lost: bool, hpack: &mut Decoder) -> Option<Vec<FieldLine>> {
        let announced = self.0.as_mut()?;
        let trace = hpack.take_trace().filter(|_| !is_lost);
        let fields = announced.explain(stream, trace.as_deref())?;
        hpack.learn(trace.as_ref()?, &fields);
        Some(fields)
    }

    /// Drops the fields announced for the next bytes, which have come or are missing.
    pub(super) fn end_bytes(&mut self) {
        if let Some(announced) = &mut self.0 {
            announced.of_next_bytes.clear();
        }
    }
}

/// The announced fields of one direction that wait for their blocks, with only the values that may be kept.
#[derive(Debug, Default)]
struct Announced {
    of_streams: VecDeque<(u32, Vec<FieldLine>)>,
    of_next_bytes: VecDeque<FieldLine>,
}

impl Announced {
    fn add(&mut self, fields: &HeaderFields) {
        let lines = fields.iter().map(|(name, value)| FieldLine::of(name, value));
        match fields.blocks() {
            Blocks::OfStream(stream) => {
                if self.of_streams.len() >= MAX_STREAMS {
                    self.of_streams.pop_front();
                }
                self.of_streams.push_back((stream, lines.collect()));
            }
            Blocks::OfNextBytes => self.of_next_bytes = lines.collect(),
        }
    }

    /// Streams whose next header block is announced.
    fn streams(&self) -> impl Iterator<Item = u32> {
        self.of_streams.iter().map(|(stream, _)| *stream)
    }

    /// The announced fields of the block that has just ended; `None` if there are none, or they do not match the block.
    fn explain(&mut self, stream: u32, block: Option<&Trace>) -> Option<Vec<FieldLine>> {
        let at = self.of_streams.iter().position(|(of, _)| *of == stream);
        let fields = match at {
            // Blocks of one direction come in the order of their announcements: the earlier ones have passed unseen.
            Some(at) => self.of_streams.drain(..=at).next_back().map(|(_, fields)| fields),
            None => self.take_next(block),
        };
        fields.filter(|fields| block.is_some_and(|block| block.agrees_with(fields.iter())))
    }

    fn take_next(&mut self, block: Option<&Trace>) -> Option<Vec<FieldLine>> {
        let length = block.and_then(Trace::length).filter(|length| *length <= self.of_next_bytes.len());
        let fields: Option<Vec<FieldLine>> = length.map(|length| self.of_next_bytes.drain(..length).collect());
        let fits = fields.as_ref().zip(block).is_some_and(|(fields, block)| block.agrees_with(fields.iter()));
        if !fits {
            self.of_next_bytes.clear();
        }
        fields.filter(|_| fits)
    }
}
