//! Writes observations as bytes of a capture.

use super::block::OpenBlock;
use super::layout::{BlockKind, FileHead};
use super::lines::{halves, line};
use super::reader::FileEnd;
use super::restated::Restated;
use crate::observation::Observation;
use crate::time::Timestamp;

/// Maximum length of the lines in a block, in bytes, unless its only line is longer.
const TARGET: usize = 256 << 10;

/// Produces the bytes of a capture. The caller writes them to files, and decides when to flush a block and when to begin a file.
///
/// Holds at most one open block, and the observations that a later part restates. Both are bounded.
#[derive(Debug)]
pub struct Writer {
    capture: Timestamp,
    part: u32,
    /// Ordinal of the next observation.
    next: u64,
    latest: Timestamp,
    block: OpenBlock,
    restated: Restated,
}

impl Writer {
    /// A capture that begins at `capture`. Call [`Self::begin_file`] before the first observation.
    pub fn new(capture: Timestamp) -> Self {
        let block = OpenBlock::new(BlockKind::Observations, 0, capture);
        Self { capture, part: 0, next: 0, latest: capture, block, restated: Restated::default() }
    }

    /// Appends the beginning of a file. A later part also restates what is open, so that it can be read alone.
    pub fn begin_file(&mut self, out: &mut Vec<u8>) {
        FileHead { capture: self.capture, part: self.part, first: self.next, at: self.latest }.write(out);
        if self.part > 0 {
            let mut block = self.new_block(BlockKind::Restated);
            for observation in self.restated.observations() {
                if let Ok(line) = line(&observation) {
                    if !fits(&block, &line) {
                        block.write(out);
                        block = self.new_block(BlockKind::Restated);
                    }
                    push(&mut block, &line, observation.at);
                }
            }
            block.write(out);
        }
        self.part = self.part.saturating_add(1);
        self.block = self.new_block(BlockKind::Observations);
    }

    /// Takes the next observation, and appends the blocks that are full.
    pub fn record(&mut self, observation: &Observation, out: &mut Vec<u8>) {
        self.restated.note(observation);
        self.latest = self.latest.max(observation.at);
        self.append(observation, out);
    }

    /// Whether the open block holds observations.
    pub const fn has_open_block(&self) -> bool {
        self.block.count > 0
    }

    /// Appends the open block, if it holds observations.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if self.has_open_block() {
            self.block.write(out);
        }
        self.block = self.new_block(BlockKind::Observations);
    }

    /// Appends the open block and the end mark. After a file that continues, call [`Self::begin_file`] next.
    pub fn end_file(&mut self, end: FileEnd, out: &mut Vec<u8>) {
        self.flush(out);
        let kind = match end {
            FileEnd::Complete => BlockKind::Complete,
            FileEnd::Continues => BlockKind::Continues,
        };
        self.new_block(kind).write(out);
    }

    fn append(&mut self, observation: &Observation, out: &mut Vec<u8>) {
        match line(observation) {
            Ok(line) => {
                if !fits(&self.block, &line) {
                    self.flush(out);
                }
                push(&mut self.block, &line, observation.at);
                self.next = self.next.saturating_add(1);
            }
            Err(_too_long) => {
                if let Some(halves) = halves(observation) {
                    for half in &halves {
                        self.append(half, out);
                    }
                } else {
                    // The gap in the ordinals shows the reader that one is missing.
                    self.flush(out);
                    self.next = self.next.saturating_add(1);
                    self.block = self.new_block(BlockKind::Observations);
                }
            }
        }
    }

    fn new_block(&self, kind: BlockKind) -> OpenBlock {
        OpenBlock::new(kind, self.next, self.latest)
    }
}

fn fits(block: &OpenBlock, line: &[u8]) -> bool {
    block.count == 0 || block.lines.len() + line.len() <= TARGET
}

fn push(block: &mut OpenBlock, line: &[u8], at: Timestamp) {
    if block.count == 0 {
        (block.from, block.until) = (at, at);
    }
    block.until = block.until.max(at);
    block.lines.0.extend(line);
    block.count = block.count.saturating_add(1);
}
