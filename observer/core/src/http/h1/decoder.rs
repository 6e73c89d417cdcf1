//! Both directions of an HTTP/1.1 connection.
//!
//! # Starting in the middle
//!
//! Nothing is reported until the beginning of a message is proved. A message can only begin at a *turn*: the first bytes of a
//! direction after the other one sent some, or the first bytes of all. Turns do not depend on how a read was cut.
//!
//! - Requests: a complete, valid request head at a turn counts as one. Otherwise the client's bytes are skipped until the next
//!   turn.
//! - Responses: if exactly one request waits, a complete, valid response head at a turn counts as its answer. Any other bytes
//!   belong to an earlier response. The response to the waiting request then stays unknown, nothing more is reported about that
//!   request, and the next turn decides again.
//!
//! Once a direction is proved, it is decoded as from the beginning. This relies on clients that wait for an answer before they send
//! the next request, as all Kubernetes clients do over HTTP/1.1.

use super::pairing::Pairing;
use super::requests::Requests;
use super::responses::Responses;
use crate::http::{Direction, Event, Gap, Loss, Start};

/// Decodes an HTTP/1.1 connection.
#[derive(Debug)]
pub(in crate::http) struct Decoder {
    requests: Requests,
    responses: Responses,
    pairing: Pairing,
    spoke_last: Option<Direction>,
}

impl Decoder {
    /// Decodes from `start` on.
    pub(in crate::http) fn new(start: Start) -> Self {
        Self { requests: Requests::new(start), responses: Responses::new(start), pairing: Pairing::new(), spoke_last: None }
    }

    /// Decodes the next bytes of one direction.
    pub(in crate::http) fn bytes(&mut self, direction: Direction, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        if bytes.is_empty() {
            return;
        }
        self.note_speaker(direction, sink);
        match direction {
            Direction::Request => self.requests.bytes(bytes, &mut self.pairing, sink),
            Direction::Response => self.response_bytes(bytes, sink),
        }
        self.settle(sink);
    }

    /// Notes a gap. Emits an [`Event::BodyGap`] for the part that is certainly within a body. If the gap reaches beyond that part,
    /// decoding of the direction stops.
    pub(in crate::http) fn gap(&mut self, direction: Direction, gap: Gap, sink: &mut dyn FnMut(Event<'_>)) {
        if gap.length == 0 {
            return;
        }
        self.note_speaker(direction, sink);
        match direction {
            Direction::Request => self.requests.miss(gap.length, Loss::Gap, &mut self.pairing, sink),
            Direction::Response => self.response_gap(gap.length, sink),
        }
        self.settle(sink);
    }

    /// Notes that one direction has ended.
    pub(in crate::http) fn end(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) {
        match direction {
            Direction::Request => self.requests.end(sink),
            Direction::Response => self.responses.end(&mut self.pairing, sink),
        }
        self.settle(sink);
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.requests.held() + self.responses.held()
    }

    /// Number of requests that wait for an answer.
    #[cfg(test)]
    pub(super) fn unanswered(&self) -> usize {
        self.pairing.len()
    }

    fn note_speaker(&mut self, direction: Direction, sink: &mut dyn FnMut(Event<'_>)) {
        if self.spoke_last.replace(direction) == Some(direction) {
            return;
        }
        match direction {
            Direction::Request => {
                self.responses.interrupt(&mut self.pairing);
                self.settle(sink);
                self.requests.turn();
            }
            Direction::Response => {
                self.responses.turn(&mut self.pairing);
                self.settle(sink);
            }
        }
    }

    /// Decodes bytes of responses. A response may decide how the client's bytes are read, for example after a request for an
    /// upgrade. This takes effect before the next bytes of the response are read, whatever the chunking.
    fn response_bytes(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        let mut input = self.responses.input(bytes);
        while self.responses.step(&mut input, &mut self.pairing, sink).is_continue() {
            self.settle(sink);
        }
    }

    fn response_gap(&mut self, length: u64, sink: &mut dyn FnMut(Event<'_>)) {
        let mut left = length;
        while left > 0 {
            left = left.saturating_sub(self.responses.miss_some(left, &mut self.pairing, sink));
            self.response_bytes(&[], sink);
        }
    }

    fn settle(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        if let Some(verdict) = self.pairing.take_verdict() {
            self.requests.decide(verdict, &mut self.pairing, sink);
        }
    }
}
