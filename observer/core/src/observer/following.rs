//! Passes observations on to the reflectors, and the relists of reflectors on to the storms.

use super::event::Event;
use super::limits::Limits;
use crate::exchange::Exchange;
use crate::observation::{Body, ConnectionId, ExchangeId, ListenerState, Process, UpstreamName};
use crate::reflector::{self, AtShutdown, GetPoller, PropagationRow, RateLimit, ReflectorRow, Reflectors, ReflectorsMissed};
use crate::storm::{StormRecord, Storms};
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
}

impl Emitter<'_> {
    fn emit(&mut self, event: Event) {
        (self.emit)(if self.several { event } else { event.without_upstream_name() });
    }
}

impl Following {
    pub(super) const fn new(limits: &Limits) -> Self {
        Self { reflectors: Reflectors::new(limits.reflectors), storms: Storms::new(limits.storms), relists: 0, resumes: 0 }
    }

    pub(super) fn connected(&mut self, connection: ConnectionId, process: Option<Process>, at: Timestamp) {
        self.reflectors.connected(connection, process, at);
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

    pub(super) fn requested(&mut self, exchange: &Exchange, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.requested(exchange, &mut |one| emit.push(one));
        self.follow(emit, &mut emitter);
    }

    pub(super) fn answered(&mut self, exchange: &Exchange, at: Timestamp, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.answered(exchange, at, &mut |one| emit.push(one));
        self.follow(emit, &mut emitter);
    }

    pub(super) fn understood(&mut self, exchange: &Exchange, at: Timestamp, body: &Body, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.understood(exchange, at, body, &mut |one| emit.push(one));
        self.follow(emit, &mut emitter);
    }

    pub(super) fn ended(&mut self, exchange: &Exchange, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.ended(exchange, &mut |one| emit.push(one));
        self.follow(emit, &mut emitter);
    }

    pub(super) fn blockage_changed(&mut self, exchange: &Exchange, at: Timestamp, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.blockage_changed(exchange, at, &mut |one| emit.push(one));
        self.follow(emit, &mut emitter);
    }

    /// Advances time to `at`. `open` returns an open exchange.
    pub(super) fn pass<'e>(&mut self, at: Timestamp, open: &dyn Fn(ExchangeId) -> Option<&'e Exchange>, mut emitter: Emitter<'_>) {
        let mut emit = Vec::new();
        self.reflectors.pass(at, open, &mut |one| emit.push(one));
        self.follow(emit, &mut emitter);
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

    pub(super) fn rate_limits(&self) -> Vec<RateLimit> {
        self.reflectors.rate_limits()
    }

    pub(super) fn get_pollers(&self, now: Timestamp) -> Vec<GetPoller> {
        self.reflectors.get_pollers(now)
    }

    pub(super) fn storms(&self, members: usize) -> Vec<StormRecord> {
        self.storms.records(members)
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

    /// Emits the reports of reflectors, and counts their relists and resumes. Passes relists to the storms.
    fn follow(&mut self, emit: Vec<reflector::ReflectorEvent>, emitter: &mut Emitter<'_>) {
        for emit in emit {
            emitter.emit(Event::of_reflector(emit.clone()));
            match emit {
                reflector::ReflectorEvent::RelistBegan(began) => {
                    self.relists = self.relists.saturating_add(u64::from(!began.cause.begins_from_nothing()));
                    self.storms.began(*began, &mut |emit| emitter.emit(Event::of_storm(emit)));
                }
                reflector::ReflectorEvent::Relist(list) => self.storms.listed(&list),
                reflector::ReflectorEvent::Resumed(_) => self.resumes = self.resumes.saturating_add(1),
                reflector::ReflectorEvent::InitialList(_)
                | reflector::ReflectorEvent::Stuck(_)
                | reflector::ReflectorEvent::Stalled(_)
                | reflector::ReflectorEvent::StallEnded(_)
                | reflector::ReflectorEvent::TroubleBegan(_)
                | reflector::ReflectorEvent::TroubleEnded(_) => {}
            }
        }
    }
}
