//! The latest finished requests, kept individually.

use std::collections::VecDeque;

use super::limits::Limits;
use super::record::RequestRecord;
use crate::exchange::{Exchange, MemoryUse, Shape};

/// The kept records, bounded in number and memory.
#[derive(Debug)]
pub(super) struct Records {
    kept: VecDeque<Kept>,
    /// The room of the exchange that was dropped last. A new one takes it: an allocator looks long for as much.
    room: Option<Box<Exchange>>,
    most: usize,
    memory: MemoryUse,
}

#[derive(Debug)]
struct Kept {
    /// Its record is made when it is needed, since most are dropped unseen.
    exchange: Box<Exchange>,
    shape: Shape,
    /// Of both, or of its record if that takes more; estimated, in bytes.
    memory: usize,
}

impl Records {
    pub(super) const fn new(limits: &Limits) -> Self {
        Self { kept: VecDeque::new(), room: None, most: limits.records, memory: MemoryUse::of(limits.records_memory) }
    }

    /// Adds the record of an exchange of this shape. Returns the number of oldest records that were dropped for it.
    pub(super) fn push(&mut self, exchange: Box<Exchange>, shape: Shape) -> u64 {
        let memory = RequestRecord::memory(&exchange, &shape).max(exchange.memory() + shape.memory());
        self.memory.add(memory);
        self.kept.push_back(Kept { exchange, shape, memory });
        let mut dropped = 0;
        while self.kept.len() > self.most || self.memory.is_exceeded() {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.memory.remove(oldest.memory);
            self.room = Some(oldest.exchange);
            dropped += 1;
        }
        dropped
    }

    /// Moves an exchange to the heap.
    pub(super) fn boxed(&mut self, exchange: Exchange) -> Box<Exchange> {
        match self.room.take() {
            Some(mut room) => {
                *room = exchange;
                room
            }
            None => Box::new(exchange),
        }
    }

    /// All records, the oldest first, followed by records of `open`, within the same bounds. Also the number of exchanges in `open`
    /// that had no room.
    pub(super) fn with<'e>(&self, open: impl Iterator<Item = &'e Exchange>, limits: &Limits) -> (Vec<RequestRecord>, u64) {
        let record = |kept: &Kept| RequestRecord::of(&kept.exchange, kept.shape.clone());
        let mut records: Vec<RequestRecord> = self.kept.iter().map(record).collect();
        let (mut memory, mut shown, mut not_shown) = (MemoryUse::of(limits.records_memory), 0, 0);
        for exchange in open {
            let shape = (shown < limits.records).then(|| Shape::of(exchange));
            let shape = shape.map(|shape| (RequestRecord::memory(exchange, &shape), shape));
            match shape.filter(|(more, _)| memory.has_room(*more)) {
                Some((more, shape)) => {
                    memory.add(more);
                    records.push(RequestRecord::of(exchange, shape));
                    shown += 1;
                }
                None => not_shown += 1,
            }
        }
        (records, not_shown)
    }
}
