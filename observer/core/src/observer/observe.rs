//! The Observer: processes observations in order, emits events, and makes snapshots of its state.

use super::connection::{Connection, Source};
use super::event::Event;
use super::faults::FaultLog;
use super::finding::{Exposure, problems};
use super::following::{Counted, Emitter, Following};
use super::inventory::Inventory;
use super::limits::Limits;
use super::missed::Missed;
use super::outages::Outages;
use super::recent::Recent;
use super::record::RequestRecord;
use super::records::Records;
use super::scopes::Scopes;
use super::server_errors::ErrorTable;
use super::snapshot::{Snapshot, Totals};
use super::tables::Tables;
use super::upstreams::Upstreams;
use crate::exchange::{Exchange, MemoryUse, Shape};
use crate::k8s::{RequestInfo, Resource, Verb};
use crate::observation::{
    Body, ConnectionId, ConnectionObservation, ExchangeId, ExchangeObservation, Observation, RequestLine, ResponseLine,
    RunObservation, Subject, UpstreamName,
};
use crate::reflector::{AtShutdown, Origin};
use crate::routing::{CacheState, EventWindow, Question, RevisionHistory, Router, ServerProfile, Verdict, attached_late};
use crate::series::Series;
use crate::sorted_map::SortedMap;
use crate::time::Timestamp;

/// The owner of all state. It processes observations in order; the same observations give the same events and the same snapshot.
#[derive(Debug)]
pub struct Observer {
    pub(super) limits: Limits,
    pub(super) started: Option<Timestamp>,
    pub(super) now: Timestamp,
    pub(super) upstreams: Upstreams,
    router: Router,
    pub(super) connections: SortedMap<ConnectionId, Connection>,
    /// Boxed to save memory: a hash table has free places.
    pub(super) open: SortedMap<ExchangeId, Box<Exchange>>,
    pub(super) open_memory: MemoryUse,
    pub(super) finished: Records,
    pub(super) tables: Tables,
    pub(super) scopes: Scopes,
    pub(super) server_errors: ErrorTable,
    pub(super) following: Following,
    recent: Recent,
    pub(super) totals: Totals,
    pub(super) series: Series,
    pub(super) missed: Missed,
    /// State of the reflectors when a shutdown was requested.
    pub(super) at_shutdown: Option<AtShutdown>,
    pub(super) outages: Outages,
    pub(super) faults: FaultLog,
    /// Whether someone receives the events about single requests.
    pub(super) is_heard: bool,
}

impl Observer {
    /// An Observer without observations.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            started: None,
            now: Timestamp::default(),
            upstreams: Upstreams::new(&limits),
            router: Router::default(),
            connections: SortedMap::default(),
            open: SortedMap::default(),
            open_memory: MemoryUse::of(limits.open_memory),
            finished: Records::new(&limits),
            tables: Tables::new(&limits),
            scopes: Scopes::new(&limits),
            server_errors: ErrorTable::default(),
            following: Following::new(&limits),
            recent: Recent::new(),
            totals: Totals::default(),
            series: Series::new(&limits.series),
            missed: Missed::default(),
            at_shutdown: None,
            outages: Outages::default(),
            faults: FaultLog::default(),
            is_heard: true,
        }
    }

    /// Processes the next observation and passes the resulting events to `emit`.
    pub fn observe(&mut self, observation: Observation, emit: &mut dyn FnMut(Event)) {
        if self.notes_faults() { self.process_after_fault(observation, emit) } else { self.process(observation, emit) }
    }

    /// As [`Self::observe`], but adds no events to the records of faults.
    pub(super) fn process(&mut self, observation: Observation, emit: &mut dyn FnMut(Event)) {
        let Observation { at, subject } = observation;
        self.now = self.now.max(at);
        // The loss of a line has no time of its own.
        if !matches!(subject, Subject::Run(RunObservation::LogsMissed { .. })) {
            self.started.get_or_insert(at);
        }
        if self.following.is_due(self.now) {
            let open = |id| self.open.get(id).map(Box::as_ref);
            self.following.pass(self.now, &open, Emitter { emit, several: self.upstreams.several(), series: &mut self.series });
        }
        match subject {
            Subject::Connection(connection, observed) => self.observe_connection(connection, at, observed, emit),
            Subject::Exchange(exchange, observed) => self.observe_exchange(exchange, at, observed, emit),
            Subject::Upstream(upstream, observed) => self.observe_upstream(upstream, at, observed, emit),
            Subject::Tap(observed) => self.observe_tap(at, observed, emit),
            Subject::Capture(observed) => self.observe_capture(at, observed, emit),
            Subject::Run(RunObservation::ShutdownRequested) => self.shutdown_requested(at),
            Subject::Run(RunObservation::Fault { act, note }) => self.fault(at, act, note, emit),
            Subject::Run(RunObservation::NotExported { records }) => {
                self.missed.not_exported = self.missed.not_exported.saturating_add(records);
            }
            Subject::Run(RunObservation::Joined { requests }) => self.totals.joined = Some(requests),
            Subject::Run(RunObservation::LogsMissed { lines, events }) => {
                (self.missed.log_lines, self.missed.log_events) = (lines, events);
            }
            Subject::Run(RunObservation::Tick) => {}
            Subject::Unknown => self.missed.unknown_observations = self.missed.unknown_observations.saturating_add(1),
        }
    }

    /// Whether time alone may have changed something by `at`, such as the end of a storm.
    pub fn is_due(&self, at: Timestamp) -> bool {
        self.following.is_due(at)
    }

    /// Latest time of an observation.
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// The current totals; cheaper than a complete [`Self::snapshot`].
    pub fn totals(&self) -> Totals {
        let Counted { relists, resumes, storms, stuck } = self.following.counted();
        let stuck = self.at_shutdown.as_ref().map_or(stuck, AtShutdown::stuck);
        let watches_open = self.open.values_unordered().filter(|open| open.is_answered_watch()).count() as u64;
        let etcd_reads = self.totals.etcd_reads.with_open(self.open.values_unordered().map(Box::as_ref));
        Totals { open: self.open.len() as u64, relists, resumes, storms, stuck, watches_open, etcd_reads, ..self.totals.clone() }
    }

    /// Losses so far, without those that only a [`Self::snapshot`] counts.
    pub const fn missed(&self) -> &Missed {
        &self.missed
    }

    /// All current state, as plain data.
    pub fn snapshot(&self) -> Snapshot {
        let open_watches = self.open.values().map(Box::as_ref).filter(|exchange| exchange.verb() == Some(Verb::Watch));
        let (requests, open_not_shown) = self.finished.with(self.open.values().map(Box::as_ref), &self.limits);
        let reflectors = self.rows();
        let lists = self.tables.lists();
        let findings = self.findings(&reflectors, &lists);
        let exposure = Exposure::of(&reflectors, self.limits.rows);
        let inventory = Inventory::of_all(&reflectors, self.limits.rows);
        let (clients, clients_not_shown) = self.following.clients(self.limits.rows);
        let (reflectors, reflectors_not_shown) = self.following.in_detail(reflectors, self.limits.rows);
        let mut snapshot = Snapshot {
            started: self.started,
            at: self.now,
            shutdown_requested: self.at_shutdown.as_ref().map(AtShutdown::at),
            profile: self.upstreams.main_profile().clone(),
            upstreams: self.upstreams.records(),
            totals: self.totals(),
            rates: self.recent.rates(self.now),
            problems: problems(&findings, &reflectors),
            faults: self.faults.until_now(&findings),
            findings,
            findings_muted: 0,
            outages: self.outages.clone(),
            exposure,
            lists,
            watches: self.tables.watches(open_watches, self.now, &self.scopes),
            others: self.tables.others(),
            clients,
            storms: self.following.storms(self.limits.rows),
            reflectors,
            inventory,
            propagation: self.following.propagation(self.limits.rows),
            requests,
            missed: Missed {
                open_not_shown,
                reflectors_not_shown,
                clients_not_shown,
                reflectors: self.following.missed(),
                ..self.missed.clone()
            },
        };
        self.scopes.clarify_all(&mut snapshot);
        if self.upstreams.several() { snapshot } else { snapshot.without_upstream_names() }
    }

    /// Keeps the state of the reflectors at a shutdown request. A later request of another shutdown replaces this state.
    fn shutdown_requested(&mut self, at: Timestamp) {
        if self.at_shutdown.as_ref().is_none_or(|before| before.is_over(at)) {
            self.at_shutdown = Some(self.following.at_shutdown(at));
        }
    }

    fn observe_connection(
        &mut self,
        connection: ConnectionId,
        at: Timestamp,
        observed: ConnectionObservation,
        emit: &mut dyn FnMut(Event),
    ) {
        match observed {
            ConnectionObservation::Opened { upstream, protocol, process, container_name, attached_late, logged } => {
                self.totals.connections += 1;
                self.series.count_connection(protocol);
                let address = logged.as_ref().map(|client| client.address.clone());
                let origin = Origin { process: process.clone(), container_name: container_name.clone(), address };
                self.following.connected(connection, origin, at);
                if self.upstreams.connected(&upstream).is_err() {
                    self.missed.upstreams_dropped = self.missed.upstreams_dropped.saturating_add(1);
                }
                let opened = Connection::opened(upstream.clone(), protocol, at, Source::of(attached_late, logged.is_some()));
                let labelled = process.as_ref().filter(|_| !self.limits.series.client_labels.is_empty()).cloned();
                *self.connection(connection) = Connection { container_name: container_name.clone(), process: labelled, ..opened };
                emit(Event::ConnectionOpened { at, connection, upstream, protocol, process, container_name, attached_late });
            }
            ConnectionObservation::HalfEnded { end } => self.half_ended(connection, at, end, emit),
            ConnectionObservation::Closed { forwarded, observed } => {
                let first_end = self.connections.remove(connection).and_then(|connection| connection.first_end);
                self.totals.forwarded += forwarded;
                self.totals.observed += observed;
                self.following.disconnected(connection, at);
                emit(Event::ConnectionClosed { at, connection, first_end, forwarded, observed });
            }
            ConnectionObservation::GoAway { by, code } => {
                self.note_goaway(connection, at, by);
                self.series.count_goaway(by);
                emit(Event::GoAway { at, connection, by, code });
            }
            ConnectionObservation::Blocked { stream, by, since } => self.blocked((connection, stream), at, (by, since), emit),
            ConnectionObservation::Unblocked { stream, by } => self.unblocked((connection, stream), at, by, emit),
            ConnectionObservation::Gap { stream, direction, bytes } => {
                self.missed.gaps = self.missed.gaps.saturating_add(1);
                self.missed.bytes = self.missed.bytes.saturating_add(bytes);
                emit(Event::Missed { at, connection, stream, direction, bytes });
            }
            ConnectionObservation::Malformed { direction, offset, what } => {
                self.missed.malformed = self.missed.malformed.saturating_add(1);
                emit(Event::Malformed { at, connection, direction, offset, what });
            }
            ConnectionObservation::DecodingStopped { direction, loss } => {
                self.missed.stopped_directions = self.missed.stopped_directions.saturating_add(1);
                emit(Event::DecodingStopped { at, connection, direction, loss });
            }
            ConnectionObservation::DecoderFailed => {
                self.missed.decoder_failures = self.missed.decoder_failures.saturating_add(1);
                emit(Event::DecoderFailed { at, connection });
                self.lose_sight_of(connection, at, emit);
            }
        }
    }

    fn observe_exchange(&mut self, id: ExchangeId, at: Timestamp, observed: ExchangeObservation, emit: &mut dyn FnMut(Event)) {
        self.recent.note(self.now, &observed);
        match observed {
            ExchangeObservation::Requested { request } => self.requested(id, at, *request, emit),
            ExchangeObservation::InterimResponse { .. } => {}
            ExchangeObservation::Responded { ref response } => {
                self.on(id, at, &observed);
                self.responded(id, at, response, emit);
                self.count_memory(id, at, emit);
            }
            ExchangeObservation::BodyBytes { .. } | ExchangeObservation::BodyGap { .. } => self.on(id, at, &observed),
            ExchangeObservation::BodyRead { body: Body::Version(version) } => {
                self.learn_version(id.connection, &version, at, emit);
            }
            ExchangeObservation::BodyRead { ref body } => {
                let Some(open) = self.open.get_mut(id) else { return };
                let scope_was_known = open.namespaced.is_some();
                open.apply(at, &observed);
                self.series.advance(open, &observed);
                if open.namespaced.is_some() != scope_was_known && self.scopes.learn(open) {
                    self.tables.clarify(&self.scopes);
                }
                let goes_back = self.upstreams.learn_revision(open, at, body, &self.limits);
                self.following.understood(
                    open,
                    at,
                    body,
                    Emitter { emit, several: self.upstreams.several(), series: &mut self.series },
                );
                if goes_back {
                    let upstream = open.upstream.clone();
                    self.drop_shown(&upstream);
                }
                self.report_contradiction(id, at, emit);
                self.count_memory(id, at, emit);
            }
            ExchangeObservation::BodyNotRead { ref reason } => {
                self.missed.note_body(reason);
                self.series.count_unread(reason);
                self.on(id, at, &observed);
                self.count_memory(id, at, emit);
            }
            ExchangeObservation::Upgraded { ref protocol } => {
                self.expect_end(id.connection);
                emit(Event::Upgraded { at, exchange: id, protocol: protocol.clone() });
                self.on(id, at, &observed);
            }
            ExchangeObservation::Recorded { .. }
            | ExchangeObservation::ClosedByForce { .. }
            | ExchangeObservation::CacheReset
            | ExchangeObservation::Logged { .. } => {
                self.on(id, at, &observed);
                self.report_contradiction(id, at, emit);
                self.count_memory(id, at, emit);
            }
            ExchangeObservation::Ended { end } => {
                self.note_cut(id, at, end);
                self.end(id, at, end, emit);
            }
        }
    }

    fn requested(&mut self, id: ExchangeId, at: Timestamp, request: RequestLine, emit: &mut dyn FnMut(Event)) {
        if self.open.contains(id) {
            // A damaged or forged capture may have two exchanges with the same ID.
            self.leave(id, at, emit);
        }
        self.totals.requests += 1;
        if request.closes {
            self.expect_end(id.connection);
        }
        let Some(info) = &request.info else {
            self.missed.unknown_requests = self.missed.unknown_requests.saturating_add(1);
            let is_late = self.connections.get(id.connection).is_some_and(|connection| connection.source == Source::AttachedLate);
            return self.begin(id, at, request, is_late.then(attached_late), emit);
        };
        self.totals.watches += u64::from(info.verb == Verb::Watch);
        let verdict = self.verdict(id.connection, info, &request, at);
        self.begin(id, at, request, verdict, emit);
    }

    fn begin(
        &mut self,
        id: ExchangeId,
        at: Timestamp,
        request: RequestLine,
        verdict: Option<Verdict>,
        emit: &mut dyn FnMut(Event),
    ) {
        let upstream = self.upstream_of(id.connection);
        let resource = request.resource();
        let shown = resource.and_then(|resource| self.upstreams.shown_by(&upstream, resource));
        let window =
            resource.map_or_else(EventWindow::default, |resource| EventWindow::of(self.known_to(id.connection, None).0, resource));
        let mut exchange = self.finished.boxed(Exchange::begin(id, at, upstream, request, verdict).after(shown).within(window));
        if let Some(connection) = self.connections.get(id.connection) {
            exchange.container_name.clone_from(&connection.container_name);
            exchange.is_logged = connection.source == Source::Log;
        }
        exchange.namespaced = exchange.namespaced.or_else(|| self.scopes.of(&exchange));
        self.following.assign(&mut exchange);
        if !self.admit(exchange) {
            return;
        }
        if let Some(exchange) = self.open.get(id) {
            self.following.requested(exchange, Emitter { emit, several: self.upstreams.several(), series: &mut self.series });
        }
        self.inherit_blockage(id, at, emit);
    }

    fn verdict(&mut self, connection: ConnectionId, info: &RequestInfo, request: &RequestLine, now: Timestamp) -> Option<Verdict> {
        // It is put back at once.
        let mut router = std::mem::take(&mut self.router);
        let (profile, history) = self.known_to(connection, info.resource.as_ref());
        let verdict = router.route(&Question { info, options: &request.options, profile, cache: CacheState::Ready, history, now });
        self.router = router;
        verdict
    }

    /// Profile of the server that a connection leads to, and the revisions of a resource on it.
    fn known_to(&self, connection: ConnectionId, resource: Option<&Resource>) -> (&ServerProfile, Option<&RevisionHistory>) {
        let (profile, history) = self.upstreams.known_of(&self.upstream_of(connection), resource);
        let own = self.connections.get(connection).and_then(|connection| connection.profile.as_deref());
        (own.unwrap_or(profile), history)
    }

    pub(super) fn upstream_of(&self, connection: ConnectionId) -> UpstreamName {
        self.connections.get(connection).map(|connection| connection.upstream.clone()).unwrap_or_default()
    }

    fn responded(&mut self, id: ExchangeId, at: Timestamp, response: &ResponseLine, emit: &mut dyn FnMut(Event)) {
        self.report_contradiction(id, at, emit);
        let established = response.is_granted();
        if let Some(open) = self.open.get(id).filter(|open| open.watch.is_some() && established) {
            if self.emits_requests() {
                emit(Event::WatchOpened { record: self.record(open, Shape::of(open)) });
            }
            self.following.answered(open, at, Emitter { emit, several: self.upstreams.several(), series: &mut self.series });
        }
    }

    /// Notes that observations are missing: open exchanges may have ended, and the server may have been restarted. The profile is
    /// assumed to be still true. Each connection is assumed to lead to the same server, since connection IDs are not reused within
    /// a run.
    pub(super) fn lose_sight_of_all(&mut self, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        let mut connections: Vec<ConnectionId> = self.open.keys(..).map(|id| id.connection).collect();
        connections.dedup();
        for connection in connections {
            self.lose_sight_of(connection, at, emit);
        }
        self.connections.values_unordered_mut().for_each(|connection| connection.first_end = None);
        self.upstreams.forget_all();
        self.following.lose_sight(at);
    }

    pub(super) fn on(&mut self, id: ExchangeId, at: Timestamp, observed: &ExchangeObservation) {
        if let Some(open) = self.open.get_mut(id) {
            open.apply(at, observed);
            self.series.advance(open, observed);
        }
    }

    /// Emits the contradiction of a verdict, once for each exchange, and learns from it.
    pub(super) fn report_contradiction(&mut self, id: ExchangeId, at: Timestamp, emit: &mut dyn FnMut(Event)) {
        let Some(because) = self.open.get_mut(id).and_then(|exchange| exchange.take_contradiction()) else { return };
        let Some(exchange) = self.open.get(id) else { return };
        let resource = exchange.request.resource();
        let revision = exchange.list.as_ref().and_then(|list| list.resource_version.parse().ok());
        if let (true, Some(resource), Some(revision)) = (because.id.is_going_back(), resource, revision) {
            self.upstreams.went_back(&exchange.upstream, resource, revision);
            let upstream = exchange.upstream.clone();
            self.drop_shown(&upstream);
        }
        let Some(exchange) = self.open.get(id) else { return };
        let learned = exchange.verdict.as_ref().and_then(|verdict| {
            let learned = self.upstreams.learn_from(&exchange.upstream, verdict, exchange.status.as_ref())?;
            Some((exchange.upstream.clone(), Box::new(learned.clone())))
        });
        let record = self.record(exchange, Shape::of(exchange));
        let RequestRecord { id: exchange, client, verb, shape, verdict: Some(verdict), .. } = *record else { return };
        let (shape, verdict) = (Box::new(shape), Box::new(verdict));
        emit(Event::Contradicted { at, exchange, client, verb, shape, verdict, because: because.sentence });
        if let Some((upstream, profile)) = learned {
            emit(Event::Profile { at, upstream, profile });
        }
    }

    /// Stops comparing open exchanges of `upstream` with revisions that are gone.
    fn drop_shown(&mut self, upstream: &UpstreamName) {
        self.open.values_unordered_mut().filter(|open| open.upstream == *upstream).for_each(|open| open.shown_before = None);
    }
}
