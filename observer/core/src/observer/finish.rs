//! Finishes exchanges: counts them, and makes their records and events.

use super::event::Event;
use super::following::Emitter;
use super::observe::Observer;
use super::record::RequestRecord;
use crate::exchange::{Exchange, Shape};
use crate::observation::ExchangeId;
use crate::time::Timestamp;

impl Observer {
    /// Leaves out the events of single requests, which have no receiver: [`Event::Request`], [`Event::WatchOpened`] and
    /// [`Event::WatchEnded`]. Their records take as long to make as all else takes.
    #[must_use]
    pub fn without_request_events(mut self) -> Self {
        self.is_heard = false;
        self
    }

    pub(super) fn emits_requests(&self) -> bool {
        self.is_heard || self.notes_faults()
    }

    pub(super) fn finish(&mut self, id: ExchangeId, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        self.report_contradiction(id, at, emit);
        let Some(mut exchange) = self.open.remove(id) else { return };
        self.series.end(&mut exchange);
        self.open_memory.remove(exchange.counted_memory);
        self.totals.add(&exchange);
        self.server_errors.add(&exchange, || self.upstreams.known_of(&exchange.upstream, None).0);
        if self.scopes.learn(&exchange) {
            self.tables.clarify(&self.scopes);
        }
        let (shape, added) = self.tables.add(&exchange, Shape::of(&exchange));
        if added.is_err() {
            self.missed.rows_dropped = self.missed.rows_dropped.saturating_add(1);
        }
        if self.emits_requests() {
            let record = self.record(&exchange, shape.clone());
            emit(if exchange.watch.is_some() { Event::WatchEnded { ended_at: at, record } } else { Event::Request { record } });
        }
        self.following.ended(&exchange, self.now, Emitter { emit, several: self.upstreams.several(), series: &mut self.series });
        self.missed.records_dropped = self.missed.records_dropped.saturating_add(self.finished.push(exchange, shape));
    }

    /// The record of a request, without the API server's name if clients used only one.
    pub(super) fn record(&self, exchange: &Exchange, shape: Shape) -> Box<RequestRecord> {
        let mut record = RequestRecord::of(exchange, shape);
        if !self.upstreams.several() {
            record.shape.upstream = None;
        }
        Box::new(record)
    }
}
