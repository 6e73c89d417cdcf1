//! Plaintext header fields that a tap announced ahead of the header blocks that carry them.
//!
//! They matter only if decoding began in the middle of a connection: a block then refers to entries of the dynamic table that were
//! never seen. The readable parts of a block are compared with its announced fields. If they differ, none of the announced fields
//! is used: one that was lost on the way shifts all others.

use std::collections::VecDeque;

use super::super::header_fields::{Blocks, HeaderFields};
use super::hpack::{FieldLine, Trace};

/// Most streams whose fields wait for their block. The writer of a connection has one at a time.
const MAX_STREAMS: usize = 16;

/// The announced fields of one direction that wait for their blocks, with only the values that may be kept.
#[derive(Debug, Default)]
pub(super) struct Announced {
    of_streams: VecDeque<(u32, Vec<FieldLine>)>,
    of_next_bytes: VecDeque<FieldLine>,
}

impl Announced {
    pub(super) fn add(&mut self, fields: &HeaderFields) {
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
    pub(super) fn streams(&self) -> impl Iterator<Item = u32> {
        self.of_streams.iter().map(|(stream, _)| *stream)
    }

    /// The announced fields of the block that has just ended; `None` if there are none, or they do not match the block.
    pub(super) fn explain(&mut self, stream: u32, block: Option<&Trace>) -> Option<Vec<FieldLine>> {
        let at = self.of_streams.iter().position(|(of, _)| *of == stream);
        let fields = match at {
            // Blocks of one direction come in the order of their announcements: the earlier ones have passed unseen.
            Some(at) => self.of_streams.drain(..=at).next_back().map(|(_, fields)| fields),
            None => self.take_next(block),
        };
        fields.filter(|fields| block.is_some_and(|block| block.agrees_with(fields.iter())))
    }

    /// Drops the fields announced for the next bytes, which have come or are missing.
    pub(super) fn end_bytes(&mut self) {
        self.of_next_bytes.clear();
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
