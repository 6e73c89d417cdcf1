//! Joins the records of each request, and makes the observations of a tap of them.

use std::collections::{BTreeMap, VecDeque};
use std::iter;
use std::sync::Arc;

use super::as_event::{self, OwnIds};
use super::clients::Clients;
use super::etcd_range::EtcdRange;
use super::record::{Record, TracedRead, head, observation};
use super::requests::{Close, Closed, OpenRequest, Requests};
use super::restart::{Silences, WITHIN, is_own, was_killed};
use super::served::{ENDS_WITHIN, ForcedClose, ResetCache};
use super::window::Window;
use crate::logs::audit::{AuditEvent, AuditStage, MAX_LINE};
use crate::logs::envelope::Envelope;
use crate::logs::event_list::read_list;
use crate::logs::extent::LogExtent;
use crate::logs::klog::LogClock;
use crate::logs::line::LogLine;
use crate::logs::texts::{LogTexts, Understood};
use crate::logs::trace::{RequestTrace, TraceCollector};
use crate::observation::{
    Body, ExchangeEnd, ExchangeId, ExchangeObservation, ListenerState, Observation, RequestLine, ResponseLine, Subject,
    UpstreamName, UpstreamObservation,
};
use crate::routing::{RecordedRead, ServerVersion};
use crate::time::Timestamp;

/// Maximum number of records that wait to be put in order, and of their bytes.
const WINDOW: usize = 64 << 10;
const WINDOW_BYTES: usize = 64 << 20;

/// Makes observations of the lines of logs.
///
/// The records of a request carry the same audit ID. A log has no connections: all requests of one client (user, user agent and address)
/// count as those of one connection.
#[derive(Debug)]
pub struct LogReplay {
    /// By the number of the log.
    logs: BTreeMap<usize, Box<Log>>,
    silences: Silences,
    window: Window<Record>,
    clients: Clients,
    requests: Requests,
    own_ids: OwnIds,
    /// The last watches that were closed by force, and when: a watch may have two lines.
    closed_by_force: VecDeque<(Timestamp, ForcedClose)>,
    /// Whether the missing time in etcd of a slow list shows that etcd was not read.
    shows_absent_times: bool,
    has_version: bool,
    /// Whether later records wait while one is passed on.
    has_later_records: bool,
    /// The latest time in the present line.
    latest: Option<Timestamp>,
    extent: LogExtent,
}

/// One of the logs that are read together.
#[derive(Debug)]
struct Log {
    clock: LogClock,
    texts: LogTexts,
    traces: TraceCollector,
}

impl Log {
    fn of(clock: LogClock) -> Self {
        Self { clock, texts: LogTexts::default(), traces: TraceCollector::default() }
    }
}

impl Default for LogReplay {
    fn default() -> Self {
        Self::within(WINDOW, WINDOW_BYTES)
    }
}

impl LogReplay {
    /// A replay of which at most so many records, with at most so many bytes together, wait to be put in order. For each request without
    /// an earlier stage, its receipt is a record, too.
    pub fn within(records: usize, bytes: usize) -> Self {
        Self {
            logs: BTreeMap::new(),
            silences: Silences::default(),
            window: Window::of(records, bytes),
            clients: Clients::default(),
            requests: Requests::default(),
            own_ids: OwnIds::default(),
            closed_by_force: VecDeque::new(),
            shows_absent_times: false,
            has_version: false,
            has_later_records: true,
            latest: None,
            extent: LogExtent::default(),
        }
    }

    /// Sets the version of the API servers.
    #[must_use]
    pub fn with_version(mut self, version: &ServerVersion) -> Self {
        self.learn_version(version);
        self
    }

    /// Notes the version of an API server. Of several, all must time each read in etcd: the log may be that of any.
    fn learn_version(&mut self, version: &ServerVersion) {
        let times = AuditEvent::times_every_read(version);
        self.shows_absent_times = times && (self.shows_absent_times || !self.has_version);
        self.has_version = true;
    }

    /// Notes the version of an API server, if that is what a tap observed.
    pub fn learn_from(&mut self, observation: &Observation) {
        if let Subject::Upstream(_, UpstreamObservation::Profile { profile }) = &observation.subject
            && let Some(version) = &profile.version
        {
            self.learn_version(version);
        }
    }

    /// Passes records on without later ones, for a log that still grows. Later ones could contradict three facts, which are left out then: a
    /// read of etcd, a close by force that fits several watches, and the watches that a reset of their cache ended.
    #[must_use]
    pub fn without_later_records(mut self) -> Self {
        self.has_later_records = false;
        self
    }

    /// Sets the year and the zone of those lines of a log that have neither. Without it, they are taken for those of 1970.
    pub fn begin(&mut self, log: usize, clock: LogClock) {
        self.logs.insert(log, Box::new(Log::of(clock)));
    }

    /// Takes the next line of a log, without its end. `log` is the log's number among those that are read together. Empty lines are
    /// passed over. Returns the time that the line has; of several, the latest.
    pub fn line(&mut self, log: usize, line: &[u8], emit: &mut dyn FnMut(Observation)) -> Option<Timestamp> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        if line.len() > MAX_LINE {
            self.too_long();
            return None;
        }
        self.latest = None;
        let mut of = self.logs.remove(&log).unwrap_or_else(|| Box::new(Log::of(LogClock::of_year(1970, 0))));
        let Log { clock, texts, traces } = &mut *of;
        let others = texts.line(line, &mut |envelope, text| {
            let understood = self.text((log, clock, traces), text, emit);
            if let Some(envelope) = envelope.filter(|_| understood != Understood::No) {
                let number = self.extent.envelopes.entry(envelope).or_default();
                *number = number.saturating_add(1);
            }
            understood
        });
        self.extent.not_understood = self.extent.not_understood.saturating_add(others);
        self.logs.insert(log, of);
        self.release(emit);
        self.latest
    }

    /// Notes that a log has no further lines.
    pub fn end_of(&mut self, log: usize) {
        let Some(Log { mut texts, mut traces, .. }) = self.logs.remove(&log).map(|log| *log) else { return };
        self.extent.not_understood = self.extent.not_understood.saturating_add(texts.finish());
        traces.finish(&mut |trace| self.trace(&trace));
    }

    /// Notes a line that is longer than [`MAX_LINE`].
    pub fn too_long(&mut self) {
        self.extent.too_long = self.extent.too_long.saturating_add(1);
    }

    /// Passes on the records until a time, for logs that still grow. Records that come later and are older count as late.
    pub fn pass_on(&mut self, until: Timestamp, emit: &mut dyn FnMut(Observation)) {
        while let Some((at, record)) = self.window.pop_until(until) {
            self.reach(at, &record, emit);
        }
    }

    /// Notes that no log has further lines.
    pub fn finish(&mut self, emit: &mut dyn FnMut(Observation)) {
        while let Some((log, _)) = self.logs.first_key_value() {
            self.end_of(*log);
        }
        while let Some((at, record)) = self.window.pop() {
            self.reach(at, &record, emit);
        }
    }

    /// How much of the traffic the lines so far show.
    pub fn extent(&self) -> LogExtent {
        LogExtent { late: self.window.late(), ..self.extent.clone() }
    }

    /// Takes a line without its envelopes.
    fn text(
        &mut self,
        (log, clock, traces): (usize, &LogClock, &mut TraceCollector),
        text: &[u8],
        emit: &mut dyn FnMut(Observation),
    ) -> Understood {
        if text.first() == Some(&b'{') {
            if let Some(event) = AuditEvent::read(text) {
                self.audit_event(log, event, emit);
                return Understood::AsOther;
            }
            if read_list(text, &mut |event| self.audit_event(log, event, emit)) {
                return Understood::AsOther;
            }
        }
        let Some(line) = LogLine::read(text, clock) else { return Understood::No };
        self.latest = self.latest.max(line.at());
        if line == LogLine::Cut {
            self.extent.cut = self.extent.cut.saturating_add(1);
            return Understood::AsOther;
        }
        if !matches!(line, LogLine::Audit(_) | LogLine::AuditList(_) | LogLine::LegacyAudit(_)) {
            let number = self.extent.forms.entry(line.form()).or_default();
            *number = number.saturating_add(1);
        }
        let understood = Understood::of(&line);
        match line {
            LogLine::Audit(event) | LogLine::LegacyAudit(event) => self.audit_event(log, *event, emit),
            LogLine::AuditList(events) => events.into_iter().for_each(|event| self.audit_event(log, event, emit)),
            // It may be one of those in the audit log.
            LogLine::Request(request) if request.audit_id.is_empty() && self.extent.events > 0 => {}
            LogLine::Client(_) if self.extent.events > 0 => {}
            LogLine::Request(request) => {
                let event = as_event::of_request_log(&request, &mut self.own_ids);
                self.event(log, event, false);
            }
            LogLine::Client(request) => {
                if let Some(event) = as_event::of_client_request(&request, &mut self.own_ids) {
                    self.event(log, event, false);
                }
            }
            LogLine::Trace { at, parts } => {
                for part in parts {
                    traces.take(&part, at, &mut |trace| self.trace(&trace));
                }
            }
            LogLine::Etcd(line) => {
                if let Some(range) = EtcdRange::of(&line) {
                    self.window.push(range.ended, range.memory(), Record::EtcdRead(range));
                }
            }
            LogLine::Cache(line) => {
                if let Some((at, forced)) = ForcedClose::of(&line) {
                    self.window.push(at, forced.memory(), Record::ClosedByForce(forced));
                } else if let Some((at, reset)) = ResetCache::of(&line) {
                    self.window.push(at, reset.memory(), Record::CacheReset(reset));
                }
            }
            LogLine::GkeAudit(_) | LogLine::WatchStarted(_) | LogLine::Reflector(_) | LogLine::Cut | LogLine::Other { .. } => {}
        }
        understood
    }

    fn audit_event(&mut self, log: usize, event: AuditEvent, emit: &mut dyn FnMut(Observation)) {
        self.extent.note(&event);
        self.event(log, event, true);
        self.release(emit);
    }

    fn event(&mut self, log: usize, event: AuditEvent, is_audit: bool) {
        let Some(reached) = event.reached.or(event.received) else {
            self.extent.without_time = self.extent.without_time.saturating_add(1);
            return;
        };
        self.extent.note_time(reached);
        self.latest = self.latest.max(Some(reached));
        let received = event.received.unwrap_or(reached).min(reached);
        let (bytes, event) = (event.memory(), Arc::new(event));
        if event.stage != AuditStage::RequestReceived && !self.requests.has(&event.audit_id) {
            // The policy may omit the stages before it.
            let record = Record::Stage { stage: AuditStage::RequestReceived, event: Arc::clone(&event), log, is_audit };
            self.window.push_beginning(received, record);
        }
        self.window.push(reached, bytes, Record::Stage { stage: event.stage, event, log, is_audit });
    }

    fn trace(&mut self, trace: &RequestTrace) {
        let Some((at, traced)) = TracedRead::of(trace) else { return };
        self.window.push(at, traced.memory(), Record::Traced(traced));
    }

    /// Passes on what has no room to wait.
    fn release(&mut self, emit: &mut dyn FnMut(Observation)) {
        while let Some((at, record)) = self.window.pop_full() {
            self.reach(at, &record, emit);
        }
    }

    fn reach(&mut self, at: Timestamp, record: &Record, emit: &mut dyn FnMut(Observation)) {
        self.requests.reach(at);
        match record {
            Record::Stage { stage, event, log, is_audit } => {
                if self.silences.end(*log, at) && self.was_killed(at, record, *log) {
                    self.begin_again(at, *log, emit);
                }
                if *is_audit && self.is_repeated(*stage, event) {
                    self.extent.repeated = self.extent.repeated.saturating_add(1);
                }
                if *stage == AuditStage::RequestReceived {
                    return self.receive(at, event, *log, emit);
                }
                let is_own = self.requests.open_mut(&event.audit_id).is_some_and(|open| open.is_own);
                let emit: &mut dyn FnMut(Observation) = if is_own { &mut |_| {} } else { emit };
                self.answer(at, event, emit);
                match (stage, is_audit) {
                    (AuditStage::RequestReceived, _) | (AuditStage::ResponseStarted, true) => {}
                    (AuditStage::ResponseStarted, false) => self.leave(at, event, emit),
                    (AuditStage::ResponseComplete | AuditStage::Panic, _) => self.end(at, event, emit),
                }
            }
            Record::EtcdRead(range) => {
                if let Some(id) = self.requests.list_in(range).filter(|_| self.has_later_records) {
                    emit(observation(at, id, ExchangeObservation::Recorded { read: RecordedRead::EtcdRead }));
                }
            }
            Record::ClosedByForce(forced) => self.close_by_force(at, forced, emit),
            Record::CacheReset(reset) => self.reset_cache(at, reset, emit),
            Record::Traced(traced) => {
                if let Some(open) = self.requests.open_mut(&traced.audit_id).filter(|open| !open.is_own) {
                    emit(observation(at, open.id, ExchangeObservation::Recorded { read: traced.read }));
                }
            }
        }
    }

    /// Notes that the API server closed a watch by force: the one that its line is about, if there is only one.
    fn close_by_force(&mut self, at: Timestamp, forced: &ForcedClose, emit: &mut dyn FnMut(Observation)) {
        /// Maximum number of closes that are remembered.
        const MOST_CLOSES: usize = 64;
        while self.closed_by_force.front().is_some_and(|(before, _)| at.since(*before) > ENDS_WITHIN) {
            self.closed_by_force.pop_front();
        }
        if self.closed_by_force.iter().any(|(_, other)| other.is_about_the_same(forced)) {
            return;
        }
        let number = match self.requests.closed_by_force(forced, self.ends_after(at)) {
            Closed::Watch(audit_id) => {
                let Some(open) = self.requests.open_mut(&audit_id).filter(|open| !open.is_own) else { return };
                emit(observation(at, open.id, ExchangeObservation::ClosedByForce { waiting: forced.waiting }));
                if self.closed_by_force.len() >= MOST_CLOSES {
                    self.closed_by_force.pop_front();
                }
                self.closed_by_force.push_back((at, forced.clone()));
                &mut self.extent.closed_by_force
            }
            Closed::Ambiguous => &mut self.extent.ambiguous_closes,
            Closed::None => &mut self.extent.unmatched_closes,
        };
        *number = number.saturating_add(1);
    }

    /// Notes that the API server reset a watch cache, which ended the watches that it served: those that ended early then.
    fn reset_cache(&mut self, at: Timestamp, reset: &ResetCache, emit: &mut dyn FnMut(Observation)) {
        let ended: Vec<ExchangeId> = self.ends_after(at).filter_map(|event| self.requests.ended_by_reset(reset, event)).collect();
        self.extent.cache_resets = self.extent.cache_resets.saturating_add(1);
        for id in ended {
            emit(observation(at, id, ExchangeObservation::CacheReset));
        }
    }

    /// The last events of requests that ended shortly after a line about watches.
    fn ends_after(&self, at: Timestamp) -> impl Iterator<Item = &AuditEvent> {
        /// Maximum number of later records that are searched.
        const MOST_LATER: usize = 16 << 10;
        let most = if self.has_later_records { MOST_LATER } else { 0 };
        let stages = self.window.until(at.plus(ENDS_WITHIN)).take(most).filter_map(|(_, record)| record.staged());
        let ends = stages.filter(|(_, stage, _)| matches!(stage, AuditStage::ResponseComplete | AuditStage::Panic));
        ends.map(|(_, _, event)| event)
    }

    /// Whether a stage of a request has come before.
    fn is_repeated(&self, stage: AuditStage, event: &AuditEvent) -> bool {
        if stage == AuditStage::RequestReceived {
            // An event of a later stage stands for the receipt, too.
            return event.stage == stage && self.requests.has(&event.audit_id);
        }
        self.requests.closed(&event.audit_id) == Some(Close::Finished)
    }

    fn receive(&mut self, at: Timestamp, event: &AuditEvent, log: usize, emit: &mut dyn FnMut(Observation)) {
        if self.requests.has(&event.audit_id) {
            return;
        }
        let request = head(event);
        let is_own = is_own(event);
        let mut ignore = |_| {};
        let of_client: &mut dyn FnMut(Observation) = if is_own { &mut ignore } else { &mut *emit };
        let Some(id) = self.clients.exchange(at, event, of_client) else {
            self.extent.without_client = self.extent.without_client.saturating_add(1);
            return self.requests.note_closed(&event.audit_id, Close::GivenUp);
        };
        if let Some(watch) = self.requests.close_watch_before(id.connection, &request) {
            give_up(at, &watch, ExchangeEnd::Cut(None), emit);
        }
        if let Some(oldest) = self.requests.open(&event.audit_id, (log, is_own), id, &request) {
            self.extent.given_up = self.extent.given_up.saturating_add(1);
            give_up(at, &oldest, ExchangeEnd::NotObserved, emit);
        }
        if is_own {
            self.extent.own = self.extent.own.saturating_add(1);
            return;
        }
        self.extent.requests = self.extent.requests.saturating_add(1);
        emit(observation(at, id, ExchangeObservation::Requested { request: Box::new(request) }));
    }

    /// Whether the API server of a log was killed before this record, the first one after a silence.
    fn was_killed(&self, at: Timestamp, record: &Record, log: usize) -> bool {
        // The log of a cloud has the events of several API servers.
        let is_of_cloud = [Envelope::CloudWatch, Envelope::Azure].iter().any(|cloud| self.extent.envelopes.contains_key(cloud));
        let records = iter::once((at, record)).chain(self.window.until(at.plus(WITHIN)));
        let staged = records.filter_map(|(at, record)| Some((at, record.staged()?)));
        let of_log = staged.filter(|(_, (of, ..))| *of == log).map(|(at, (_, stage, event))| (at, stage, event));
        let is_watched = |event: &AuditEvent, request: &RequestLine| {
            self.clients.connection(event).is_some_and(|client| self.requests.has_watch_of(client, request))
        };
        !is_of_cloud && was_killed(at, of_log, is_watched)
    }

    /// Ends the open requests of an API server that was killed. It refused connections until it listened again.
    fn begin_again(&mut self, at: Timestamp, log: usize, emit: &mut dyn FnMut(Observation)) {
        self.extent.restarts = self.extent.restarts.saturating_add(1);
        for open in self.requests.close_all(log) {
            give_up(at, &open, ExchangeEnd::Cut(None), emit);
        }
        // The other API servers of a cluster did not refuse connections.
        if self.silences.logs() == 1 {
            for state in [ListenerState::Refusing, ListenerState::Listening] {
                let subject = Subject::Upstream(UpstreamName::default(), UpstreamObservation::Listener { state });
                emit(Observation { at, subject });
            }
        }
    }

    fn answer(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        let Some(open) = self.requests.open_mut(&event.audit_id) else { return };
        if std::mem::replace(&mut open.is_answered, true) {
            return;
        }
        let id = open.id;
        let status = Some(event.status).filter(|status| *status != 0);
        if status.is_none() && event.stage == AuditStage::ResponseComplete {
            // Nothing was written, so there was no response.
            return;
        }
        let audit_id = Some(&event.audit_id).filter(|audit_id| !OwnIds::has(audit_id)).cloned();
        let response = ResponseLine { status, audit_id, ..ResponseLine::default() };
        emit(observation(at, id, ExchangeObservation::Responded { response: Box::new(response) }));
        if let Some(status) = &event.refusal {
            emit(observation(at, id, ExchangeObservation::BodyRead { body: Body::Status(status.clone()) }));
        }
    }

    fn end(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        let Some(open) = self.requests.close(&event.audit_id, Close::Finished) else { return };
        if let Some(read) = event.recorded_read().filter(|read| *read != RecordedRead::NoEtcdTime || self.shows_absent_times) {
            emit(observation(at, open.id, ExchangeObservation::Recorded { read }));
        }
        let has_times = event.received.is_some() && event.reached.is_some();
        let end = if event.stage == AuditStage::Panic || event.status == 0 {
            ExchangeEnd::Cut(None)
        } else if event.verb == "watch" && !has_times {
            // Its length is unknown, and with that the reason of its end.
            ExchangeEnd::NotObserved
        } else {
            ExchangeEnd::Complete
        };
        emit(observation(at, open.id, ExchangeObservation::Ended { end }));
    }

    /// Leaves a watch of a log that has no ends of watches.
    fn leave(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        if let Some(open) = self.requests.close(&event.audit_id, Close::GivenUp) {
            emit(observation(at, open.id, ExchangeObservation::Ended { end: ExchangeEnd::NotObserved }));
        }
    }
}

/// Ends a request whose end is not in the log.
fn give_up(at: Timestamp, open: &OpenRequest, end: ExchangeEnd, emit: &mut dyn FnMut(Observation)) {
    if !open.is_own {
        emit(observation(at, open.id, ExchangeObservation::Ended { end }));
    }
}
