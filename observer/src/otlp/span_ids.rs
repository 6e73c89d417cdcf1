//! Identifiers of traces and spans, and the sample of those that are exported.
//!
//! They are computed from the numbers of a request with random keys of this process. So a span can name another one by the
//! request's numbers alone, and no table of identifiers is needed.

use std::hash::{BuildHasher, RandomState};

use observer_core::observation::ExchangeId;
use observer_core::reflector::ReflectorId;

/// Of requests that are neither slow nor failed, one in so many is exported.
const ONE_IN: u64 = 100;

/// The keys of this process.
#[derive(Clone, Debug, Default)]
pub(super) struct SpanIds {
    keys: RandomState,
}

/// The place of a span in its trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpanId {
    pub(super) trace: Vec<u8>,
    pub(super) span: Vec<u8>,
}

/// Uses of the keys, each with identifiers of its own.
#[derive(Clone, Copy, Hash)]
enum Use {
    TraceHigh,
    TraceLow,
    Span,
    Sample,
}

impl SpanIds {
    /// The span of a request, alone in its trace unless its client has one.
    pub(super) fn of_request(&self, exchange: ExchangeId) -> SpanId {
        self.of((exchange.connection.0, exchange.stream.0))
    }

    /// The span of the relist whose first page is `first`.
    pub(super) fn of_relist(&self, reflector: ReflectorId, first: ExchangeId) -> SpanId {
        self.of((reflector.0, first.connection.0, first.stream.0))
    }

    /// Whether the span of an ordinary request is exported.
    pub(super) fn samples(&self, exchange: ExchangeId) -> bool {
        self.keys.hash_one((Use::Sample, exchange.connection.0, exchange.stream.0)).is_multiple_of(ONE_IN)
    }

    fn of(&self, numbers: impl std::hash::Hash + Copy) -> SpanId {
        let part = |of: Use| self.keys.hash_one((of, numbers)).max(1).to_be_bytes();
        SpanId { trace: [part(Use::TraceHigh), part(Use::TraceLow)].concat(), span: part(Use::Span).to_vec() }
    }
}
