//! Joins the lines of blocks, which may interleave.

use std::collections::BTreeMap;

use super::part::{Line, TracePart};
use super::request_trace::{RequestTrace, TraceSpan, TraceStep};
use crate::time::Timestamp;

/// Maximum number of blocks that are open at once.
const MOST_OPEN: usize = 64;
/// Maximum number of steps and spans of a block.
const MOST_STEPS: usize = 128;

/// Joins the lines of each block by their number.
#[derive(Debug, Default)]
pub struct TraceCollector {
    open: BTreeMap<u64, Block>,
    next_order: u64,
    given_up: u64,
    orphans: u64,
}

#[derive(Debug)]
struct Block {
    trace: RequestTrace,
    /// Whether its form is that of 1.18 or earlier.
    is_old: bool,
    steps: usize,
    /// Number of blocks that began before it.
    order: u64,
}

impl TraceCollector {
    /// Takes the next line of a log. `at` is the time of its header; lines within a block have none. `emit` receives each complete
    /// trace.
    pub fn take(&mut self, part: &TracePart, at: Option<Timestamp>, emit: &mut dyn FnMut(RequestTrace)) {
        let number = part.number;
        match &part.line {
            Line::Start { name, fields, start, total, is_old } => {
                self.close_old(emit);
                let span = TraceSpan {
                    name: name.clone(),
                    took: *total,
                    key: fields.key.clone(),
                    limit: fields.limit,
                    resource_version: fields.resource_version.clone(),
                    ..TraceSpan::default()
                };
                let trace = RequestTrace {
                    logged: at,
                    start: *start,
                    total: *total,
                    url: fields.url.clone(),
                    user_agent: fields.user_agent.clone(),
                    client: fields.client.clone(),
                    audit_id: fields.audit_id.clone(),
                    spans: vec![span],
                    given_up: 0,
                    is_cut: false,
                };
                self.open(number, trace, *is_old, emit);
            }
            Line::End => match self.open.remove(&number) {
                Some(block) => emit(block.trace),
                None => self.orphans = self.orphans.saturating_add(1),
            },
            Line::Span { .. } | Line::Step { .. } => match self.open.get_mut(&number) {
                Some(block) => block.add(&part.line),
                None => self.orphans = self.orphans.saturating_add(1),
            },
        }
    }

    /// Notes that there are no further lines. Blocks of 1.19 or later without their last line are cut.
    pub fn finish(&mut self, emit: &mut dyn FnMut(RequestTrace)) {
        for block in std::mem::take(&mut self.open).into_values() {
            emit(block.cut());
        }
    }

    /// Number of lines whose block has no first line.
    pub fn orphans(&self) -> u64 {
        self.orphans
    }

    /// Number of lines and blocks that were not joined: lines whose block has no first line, and blocks that were emitted early
    /// because too many were open at once.
    pub fn not_joined(&self) -> u64 {
        self.orphans.saturating_add(self.given_up)
    }

    /// Another block has begun, so those of 1.18 or earlier are complete. Their last line may be missing.
    fn close_old(&mut self, emit: &mut dyn FnMut(RequestTrace)) {
        for (_, block) in self.open.extract_if(.., |_, block| block.is_old) {
            emit(block.trace);
        }
    }

    fn open(&mut self, number: u64, trace: RequestTrace, is_old: bool, emit: &mut dyn FnMut(RequestTrace)) {
        let order = self.next_order;
        self.next_order = self.next_order.saturating_add(1);
        if let Some(earlier) = self.open.insert(number, Block { trace, is_old, steps: 0, order }) {
            emit(earlier.cut());
        }
        if self.open.len() <= MOST_OPEN {
            return;
        }
        let oldest = self.open.iter().min_by_key(|(_, block)| block.order).map(|(number, _)| *number);
        if let Some(block) = oldest.and_then(|number| self.open.remove(&number)) {
            self.given_up = self.given_up.saturating_add(1);
            emit(block.cut());
        }
    }
}

impl Block {
    fn add(&mut self, line: &Line) {
        if self.steps >= MOST_STEPS {
            self.trace.given_up = self.trace.given_up.saturating_add(1);
            return;
        }
        self.steps += 1;
        let spans = &mut self.trace.spans;
        match line {
            Line::Step { message, took, count, depth } => {
                // A line that is deeper than the spans so far belongs to the last one.
                let owner = spans.iter().rposition(|span| span.depth == *depth).unwrap_or(spans.len().saturating_sub(1));
                if let Some(span) = spans.get_mut(owner) {
                    span.steps.push(TraceStep { message: message.clone(), took: *took, count: *count });
                }
            }
            Line::Span { name, fields, took, depth } => spans.push(TraceSpan {
                name: name.clone(),
                depth: depth + 1,
                took: *took,
                key: fields.key.clone(),
                limit: fields.limit,
                resource_version: fields.resource_version.clone(),
                steps: Vec::new(),
            }),
            Line::Start { .. } | Line::End => {}
        }
    }

    /// The trace of a block that may lack lines.
    fn cut(self) -> RequestTrace {
        RequestTrace { is_cut: !self.is_old, ..self.trace }
    }
}
