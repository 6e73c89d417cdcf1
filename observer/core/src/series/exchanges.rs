//! Counts requests, responses and watches.

use super::family::Family;
use super::label::{Label, LabelSet};
use super::store::Series;
use super::words::{CertaintyWord, EndWord, EventWord, LayerWord, ScopeWord, VerbWord};
use crate::exchange::{EVENT_TYPES, Exchange, Place, RequestLabels, ValueNumber};
use crate::http::Direction;
use crate::k8s::Verb;
use crate::observation::{Body, ExchangeObservation, Process};
use crate::reflector::WatchEnd;
use crate::wire::WatchFrame;

/// One place for each type of watch event.
const _: () = assert!(EventWord::WORDS.len() == EVENT_TYPES);

impl Series {
    /// Counts a new exchange, and keeps its labels in it. `process` is the client's, if labels need it.
    pub(crate) fn begin(&mut self, exchange: &mut Exchange, process: Option<&Process>) {
        let request = &exchange.request;
        let (resource, subresource) = self.values.resource_and_subresource(request.info.as_ref());
        exchange.counted.labels = RequestLabels {
            client: self.values.client(exchange.container_name.as_deref(), process, request),
            resource,
            verb: VerbWord::of(exchange).number(),
            subresource,
            scope: ScopeWord::of(request.info.as_ref()).number(),
        };
        exchange.counted.as_it_comes = counts_as_it_comes(exchange);
        self.count_open(exchange);
    }

    /// Counts an observation that an open exchange has just applied.
    pub(crate) fn advance(&mut self, exchange: &mut Exchange, observed: &ExchangeObservation) {
        match observed {
            ExchangeObservation::BodyBytes { direction: Direction::Request, .. } => self.count_request_bytes(exchange),
            ExchangeObservation::BodyBytes { direction: Direction::Response, .. } => self.count_response_bytes(exchange),
            ExchangeObservation::BodyRead { body: Body::Events(frames) } => {
                self.count_open(exchange);
                self.count_events(exchange, frames);
            }
            ExchangeObservation::Responded { .. } => {
                exchange.counted.as_it_comes = counts_as_it_comes(exchange);
                self.count_open(exchange);
                self.count_first_byte(exchange);
                self.count_response_bytes(exchange);
            }
            ExchangeObservation::Requested { .. }
            | ExchangeObservation::InterimResponse { .. }
            | ExchangeObservation::BodyRead { .. }
            | ExchangeObservation::BodyNotRead { .. }
            | ExchangeObservation::BodyGap { .. }
            | ExchangeObservation::Upgraded { .. }
            | ExchangeObservation::Recorded { .. }
            | ExchangeObservation::ClosedByForce { .. }
            | ExchangeObservation::CacheReset
            | ExchangeObservation::Logged { .. }
            | ExchangeObservation::Ended { .. } => {}
        }
    }

    /// Counts an exchange that has ended.
    pub(crate) fn end(&mut self, exchange: &mut Exchange) {
        self.count_open(exchange);
        self.count_response_bytes(exchange);
        let labels = of_answer(exchange);
        let code = self.values.code(exchange.status_code());
        self.add(Family::Requests, &labels.with(Label::Code, code), 1);
        if exchange.verb() == Some(Verb::List) || exchange.items > 0 {
            self.add(Family::ListItems, &labels, exchange.items);
        }
        if let Some(verdict) = &exchange.verdict {
            let certainty = CertaintyWord::of(verdict.certainty_about_the_layer()).number();
            let labels = LabelSet::default().with(Label::Rule, self.values.rule(verdict.rule)).with(Label::Certainty, certainty);
            self.add(Family::Verdicts, &labels, 1);
        }
        if exchange.watch.is_some() {
            self.count_watch(exchange, &labels);
        } else if let Some(total) = exchange.total() {
            self.observe(Family::RequestDuration, &labels, total);
        }
    }

    fn count_watch(&mut self, exchange: &Exchange, labels: &LabelSet) {
        let (Some(end), Some((ended, _))) = (WatchEnd::of(exchange), exchange.ended) else { return };
        let labels = labels.with(Label::End, EndWord::of(end).number());
        self.add(Family::Watches, &labels, 1);
        let is_refused = matches!(end, WatchEnd::Refused { .. });
        if let Some((opened, _)) = exchange.response.as_ref().filter(|_| !is_refused) {
            self.observe(Family::WatchDuration, &labels, ended.since(*opened));
        }
    }

    /// Counts an exchange as under way, or as an open watch. A request of an unknown verb becomes a watch with its first event.
    fn count_open(&mut self, exchange: &mut Exchange) {
        let is_in_flight = exchange.ended.is_none() && exchange.watch.is_none();
        if is_in_flight != exchange.counted.in_flight.is_some() {
            exchange.counted.in_flight = self.toggle(Family::RequestsInFlight, exchange.counted.in_flight, exchange);
        }
        let is_open_watch = exchange.ended.is_none() && exchange.is_answered_watch();
        if is_open_watch != exchange.counted.open_watch.is_some() {
            exchange.counted.open_watch = self.toggle(Family::WatchesOpen, exchange.counted.open_watch, exchange);
        }
    }

    /// Lowers a gauge at the place where it was raised, or raises it. Returns where it is raised now.
    fn toggle(&mut self, family: Family, raised_at: Option<Place>, exchange: &Exchange) -> Option<Place> {
        if let Some(place) = raised_at {
            self.lower(family, place);
            return None;
        }
        let place = self.place(family, &of(exchange));
        self.add_at(family, place, 1);
        place
    }

    fn count_first_byte(&mut self, exchange: &mut Exchange) {
        if !exchange.counted.first_byte
            && let Some(first_byte) = exchange.first_byte()
        {
            exchange.counted.first_byte = true;
            self.observe(Family::FirstByte, &of(exchange), first_byte);
        }
    }

    fn count_events(&mut self, exchange: &mut Exchange, frames: &[WatchFrame]) {
        if exchange.watch.is_none() {
            return;
        }
        for frame in frames {
            let number = EventWord::of(frame.event_type).number();
            let known = exchange.counted.events.get(number.index()).copied().flatten();
            let place = known.or_else(|| self.place(Family::WatchEvents, &of(exchange).with(Label::Type, number)));
            if known.is_none()
                && let Some(keep) = exchange.counted.events.get_mut(number.index())
            {
                *keep = place;
            }
            self.add_at(Family::WatchEvents, place, 1);
        }
    }

    fn count_request_bytes(&mut self, exchange: &mut Exchange) {
        let more = exchange.request_bytes.saturating_sub(exchange.counted.request_bytes);
        if more == 0 {
            return;
        }
        if exchange.counted.request.is_none() {
            exchange.counted.request = self.place(Family::RequestBytes, &of(exchange));
        }
        self.add_at(Family::RequestBytes, exchange.counted.request, more);
        exchange.counted.request_bytes = exchange.request_bytes;
    }

    /// Counts the bytes of a response. The layer is one of their labels. Bytes of a list or a get wait for the end of the response,
    /// which may correct the layer, because a counter never falls. Watches and streams last too long to wait.
    fn count_response_bytes(&mut self, exchange: &mut Exchange) {
        let more = exchange.response_bytes.saturating_sub(exchange.counted.response_bytes);
        if more == 0 || (!exchange.counted.as_it_comes && exchange.ended.is_none()) {
            return;
        }
        let layer = layer(exchange);
        let place = match exchange.counted.response {
            Some((known, place)) if known == layer => Some(place),
            Some(_) | None => self.place(Family::ResponseBytes, &of_answer(exchange)),
        };
        exchange.counted.response = place.map(|place| (layer, place));
        self.add_at(Family::ResponseBytes, place, more);
        exchange.counted.response_bytes = exchange.response_bytes;
    }
}

/// Whether the bytes of an answer count before its end: its layer cannot change, or it may last and is no refusal. Request and head
/// of the response decide it.
fn counts_as_it_comes(exchange: &Exchange) -> bool {
    let Some(info) = exchange.request.info.as_ref().filter(|_| exchange.verdict.is_some()) else { return true };
    info.is_long_running() && exchange.status_code().is_none_or(|status| status < 300)
}

fn layer(exchange: &Exchange) -> ValueNumber {
    LayerWord::of(exchange.verdict.as_ref().map(|verdict| &verdict.served_from)).number()
}

/// The labels of a request.
fn of(exchange: &Exchange) -> LabelSet {
    LabelSet::from(exchange.counted.labels)
}

/// The labels of a request and of the layer that answers it.
fn of_answer(exchange: &Exchange) -> LabelSet {
    of(exchange).with(Label::ServedFrom, layer(exchange))
}
