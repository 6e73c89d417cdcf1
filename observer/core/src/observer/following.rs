//! Passes observations on to the reflectors, and the relists of reflectors on to the storms.

use super::event::Event;
use super::limits::Limits;
use crate::exchange::{Exchange, RequestLabels};
use crate::observation::{Blockage, Body, ConnectionId, ExchangeId, ListenerState, UpstreamName};
use crate::reflector::{
    AtShutdown, ClientRow, GetPoller, Origin, PropagationRow, RateLimit, ReflectorEvent, ReflectorId, ReflectorRow, Reflectors,
    ReflectorsMissed,
};
use crate::series::Series;
use crate::storm::{StormRecord, StormTotals, Storms};
use crate::time::Timestamp;

/// All reflectors and storms, and counts of relists and resumes.
#[derive(Debug)]
pub(super) struct Following {
    reflectors: Reflectors,
    storms: Storms,
    relists: u64,
    resumes: u64,
}

/// Counts over the run, including occurrences that fell out of the tables.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub relists: u64,
    pub resumes: u64,
    pub storms: u64,
    /// Reflectors that are stuck now.
    pub stuck: u64,
}

/// Receiver of the events that follow from an observation.
pub(super) struct Emitter<'t> {
    pub emit: &'t mut dyn FnMut(Event),
    /// Whether clients used several API servers. If not, events omit the server's name.
    pub several: bool,
    /// Counts the events.
    pub series: &'t mut Series,
}

impl Emitter<'_> {
    fn emit(&mut self, event: Event) {
        (self.emit)(if self.several { event } else { event.without_upstream_name() });
    }
}

impl Following {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { reflectors: Reflectors::new(limits.reflectors), storms: Storms::new(limits.storms), relists: 0, resumes: 0 }
    }

    pub(super) fn connected(&mut self, connection: ConnectionId, origin: Origin, at: Timestamp) {
        self.reflectors.connected(connection, origin, at);
    }

    pub(super) fn disconnected(&mut self, connection: ConnectionId, at: Timestamp) {
        self.reflectors.disconnected(connection, at);
    }

    pub(super) fn listener(&mut self, upstream: &UpstreamName, state: ListenerState, at: Timestamp) {
        self.reflectors.listener(upstream, state, at);
    }

    pub(super) fn lose_sight(&mut self, at: Timestamp) {
        self.reflectors.lose_sight(at);
    }

    pub(super) fn assign(&mut self, exchange: &mut Exchange) {
        self.reflectors.assign(exchange);
    }

    pub(super) fn requested(&mut self, exchange: &Exchange, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.requested(exchange, &mut |one| emit.push(one));
        self.follow(emit, exchange.counted.labels, &mut emitter);
    }

    pub(super) fn answered(&mut self, exchange: &Exchange, at: Timestamp, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.answered(exchange, at, &mut |one| emit.push(one));
        self.follow(emit, exchange.counted.labels, &mut emitter);
    }

    pub(super) fn understood(&mut self, exchange: &Exchange, at: Timestamp, body: &Body, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.understood(exchange, at, body, &mut |one| emit.push(one));
        self.follow(emit, exchange.counted.labels, &mut emitter);
    }

    pub(super) fn ended(&mut self, exchange: &Exchange, now: Timestamp, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.ended(exchange, now, &mut |one| emit.push(one));
        self.follow(emit, exchange.counted.labels, &mut emitter);
    }

    pub(super) fn blockage_changed(&mut self, exchange: &Exchange, now: Timestamp, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.blockage_changed(exchange, now, &mut |one| emit.push(one));
        self.follow(emit, exchange.counted.labels, &mut emitter);
    }

    /// Advances time to `at`. `open` returns an open exchange.
    pub(super) fn pass<'e>(&mut self, at: Timestamp, open: &dyn Fn(ExchangeId) -> Option<&'e Exchange>, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.pass(at, open, &mut |one| emit.push(one));
        self.follow(emit, RequestLabels::OTHERS, &mut emitter);
        self.storms.pass(at, &mut |emit| emitter.emit(Event::of_storm(emit)));
    }

    /// The state of all reflectors when a shutdown is requested.
    pub(super) fn at_shutdown(&self, at: Timestamp) -> AtShutdown {
        self.reflectors.at_shutdown(at)
    }

    /// All reflectors, those that most need attention first.
    pub(super) fn rows(&self, now: Timestamp) -> Vec<ReflectorRow> {
        self.reflectors.rows(now)
    }

    /// The first `most` of `rows`, with their timelines and the evidence of their last relists. Also the number of rows that are
    /// left out.
    pub(super) fn in_detail(&self, mut rows: Vec<ReflectorRow>, most: usize) -> (Vec<ReflectorRow>, u64) {
        let not_shown = rows.len().saturating_sub(most) as u64;
        rows.truncate(most);
        for row in &mut rows {
            self.reflectors.add_detail(row);
        }
        (rows, not_shown)
    }

    pub(super) fn propagation(&self, most: usize) -> Vec<PropagationRow> {
        let mut rows = self.reflectors.propagation();
        rows.truncate(most);
        rows
    }

    /// The first `most` clients and their requests, and the number of those left out.
    pub(super) fn clients(&self, most: usize) -> (Vec<ClientRow>, u64) {
        self.reflectors.clients(most)
    }

    pub(super) fn rate_limits(&self) -> Vec<RateLimit> {
        self.reflectors.rate_limits()
    }

    pub(super) fn get_pollers(&self, now: Timestamp) -> Vec<GetPoller> {
        self.reflectors.get_pollers(now)
    }

    pub(super) fn storms(&self, members: usize) -> Vec<StormRecord> {
        self.storms.records(members)
    }

    /// The present stalls: labels, cause, and length until `now` in microseconds.
    pub(super) fn present_stalls(&self, now: Timestamp) -> impl Iterator<Item = (RequestLabels, Blockage, u64)> {
        self.reflectors.present_stalls(now)
    }

    /// Numbers of ongoing storms and of their members, and counts over all storms.
    pub(super) fn storms_in_all(&self) -> ((u64, u64), &StormTotals) {
        (self.storms.ongoing(), self.storms.totals())
    }

    pub(super) fn counted(&self) -> Counted {
        Counted { relists: self.relists, resumes: self.resumes, storms: self.storms.named(), stuck: self.reflectors.stuck() }
    }

    /// Whether time alone may have changed something by `at`.
    pub(super) fn is_due(&self, at: Timestamp) -> bool {
        self.storms.any_is_ongoing() || self.reflectors.is_due(at)
    }

    pub(super) const fn missed(&self) -> ReflectorsMissed {
        self.reflectors.missed()
    }

    /// Counts the reports of reflectors, emits them, and passes relists to the storms. `labels` are those of the request that led to
    /// the reports.
    fn follow(&mut self, reports: Vec<ReflectorEvent>, labels: RequestLabels, emitter: &mut Emitter<'_>) {
        for report in reports {
            let labels = report.reflector().map_or(labels, |reflector| self.labels(reflector));
            emitter.series.count_report(labels, &report);
            let mut of_storms = Vec::new();
            match &report {
                ReflectorEvent::RelistBegan(began) => {
                    self.relists = self.relists.saturating_add(u64::from(!began.cause.begins_from_nothing()));
                    self.storms.began((**began).clone(), &mut |one| of_storms.push(one));
                }
                ReflectorEvent::Relist(list) => self.storms.listed(list),
                ReflectorEvent::Resumed(_) => self.resumes = self.resumes.saturating_add(1),
                ReflectorEvent::InitialList(_)
                | ReflectorEvent::Stuck(_)
                | ReflectorEvent::Stalled(_)
                | ReflectorEvent::StallEnded(_)
                | ReflectorEvent::TroubleBegan(_)
                | ReflectorEvent::TroubleEnded(_)
                | ReflectorEvent::FellBack { .. }
                | ReflectorEvent::WentBack { .. }
                | ReflectorEvent::WriteArrived { .. } => {}
            }
            if let Some(event) = Event::of_reflector(report) {
                emitter.emit(event);
            }
            // A relist is reported before the storm that it makes.
            for one in of_storms {
                emitter.emit(Event::of_storm(one));
            }
        }
    }

    /// The labels of a reflector in the series.
    pub(super) fn labels(&self, reflector: ReflectorId) -> RequestLabels {
        self.reflectors.labels(reflector).unwrap_or(RequestLabels::OTHERS)
    }
}
