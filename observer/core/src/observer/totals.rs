//! Counts finished exchanges in the totals.

use super::snapshot::Totals;
use crate::exchange::{Exchange, WatchStream};
use crate::k8s::Verb;
use crate::routing::{Certainty, Verdict};

impl Totals {
    /// Adds a finished exchange.
    pub(super) fn add(&mut self, exchange: &Exchange) {
        let certainty = exchange.verdict.as_ref().map(Verdict::certainty_about_the_layer);
        self.confirmed += u64::from(certainty == Some(Certainty::Confirmed));
        self.contradicted += u64::from(certainty == Some(Certainty::Contradicted));
        self.response_bytes = self.response_bytes.saturating_add(exchange.amount(exchange.response_bytes));
        self.items = self.items.saturating_add(exchange.amount(exchange.items));
        let events = exchange.watch.as_ref().map_or(0, WatchStream::events);
        self.watch_events = self.watch_events.saturating_add(exchange.amount(events));
        self.etcd_reads.add(exchange);
        self.lists += u64::from(exchange.verb() == Some(Verb::List));
        let (from_etcd, unknown) = exchange.lists_from_etcd_and_unknown();
        self.lists_from_etcd += from_etcd;
        self.lists_unknown += unknown;
    }
}
