//! Joins the records of each request, and makes the observations of a tap of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::as_event::{self, OwnIds};
use super::client_pairs::{ClientPairs, Paired};
use super::clients::Clients;
use super::etcd_range::EtcdRange;
use super::killed_server::give_up;
use super::record::{Record, TracedRead, head, is_own, observation};
use super::requests::{CloseReason, Opened, Requests};
use super::restart::Silences;
use super::served::{ForcedClose, ForcedCloses, ResetCache};
use super::window::Window;
use crate::logs::audit::{AuditEvent, AuditStage, MAX_LINE};
use crate::logs::envelope::Wrapping;
use crate::logs::event_list::read_list;
use crate::logs::extent::LogExtent;
use crate::logs::klog::LogClock;
use crate::logs::line::LogLine;
use crate::logs::request_log::RequestOutcome;
use crate::logs::texts::{LogTexts, Understood};
use crate::logs::trace::{RequestTrace, TraceCollector};
use crate::observation::{
    Body, ExchangeEnd, ExchangeObservation, Observation, ResponseLine, RunObservation, Subject, UpstreamObservation,
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
    pub(super) silences: Silences,
    pub(super) window: Window<Record>,
    pub(super) clients: Clients,
    pub(super) requests: Requests,
    own_ids: OwnIds,
    pub(super) closed_by_force: ForcedCloses,
    /// The latest time in each log that has no further lines.
    pub(super) ended: BTreeMap<usize, Timestamp>,
    /// Whether the missing time in etcd of a slow list shows that etcd was not read.
    shows_absent_times: bool,
    has_version: bool,
    /// Whether later records wait while one is passed on.
    pub(super) has_later_records: bool,
    /// The latest time in the present line.
    latest: Option<Timestamp>,
    pub(super) extent: LogExtent,
}

/// One of the logs that are read together.
#[derive(Debug)]
struct Log {
    clock: LogClock,
    texts: LogTexts,
    traces: TraceCollector,
    pairs: ClientPairs,
    /// The latest time so far.
    latest: Timestamp,
}

impl Log {
    fn of(clock: LogClock) -> Self {
        Self {
            clock,
            texts: LogTexts::default(),
            traces: TraceCollector::default(),
            pairs: ClientPairs::default(),
            latest: Timestamp::default(),
        }
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
            closed_by_force: ForcedCloses::default(),
            ended: BTreeMap::new(),
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

    /// Sets the year and the zone of those lines of a growing log that will have neither.
    pub fn renew_clock(&mut self, log: usize, clock: LogClock) {
        self.logs.entry(log).or_insert_with(|| Box::new(Log::of(clock))).clock = clock;
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
        let Log { clock, texts, traces, pairs, .. } = &mut *of;
        let others = texts.line(line, &mut |wrapping, text| {
            let clock = wrapping.and_then(|wrapping| wrapping.at).map_or(*clock, |at| clock.at_about(at));
            let understood = self.text((log, &clock, traces, pairs), text, emit);
            if let Some(Wrapping { envelope, .. }) = wrapping.filter(|_| understood != Understood::No) {
                let number = self.extent.envelopes.entry(envelope).or_default();
                *number = number.saturating_add(1);
            }
            understood
        });
        self.extent.not_understood = self.extent.not_understood.saturating_add(others);
        of.latest = self.latest.unwrap_or_default().max(of.latest);
        self.logs.insert(log, of);
        self.release(emit);
        self.latest
    }

    /// Notes that a log has no further lines.
    pub fn end_of(&mut self, log: usize) {
        let Some(Log { mut texts, mut traces, latest, .. }) = self.logs.remove(&log).map(|log| *log) else { return };
        self.ended.insert(log, latest);
        self.extent.not_understood = self.extent.not_understood.saturating_add(texts.finish());
        traces.finish(&mut |trace| self.trace(&trace));
        self.extent.torn_traces = self.extent.torn_traces.saturating_add(traces.not_joined());
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

    /// The parts of the logs that the observations lack so far.
    pub fn missed(&self) -> RunObservation {
        self.extent().missed()
    }

    /// Takes a line without its envelopes.
    fn text(
        &mut self,
        (log, clock, traces, pairs): (usize, &LogClock, &mut TraceCollector, &mut ClientPairs),
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
            // All JSON has complete times.
            self.extent.has_incomplete_times |= text.first() != Some(&b'{');
        }
        let understood = Understood::of(&line);
        match line {
            LogLine::Audit(event) | LogLine::LegacyAudit(event) => self.audit_event(log, *event, emit),
            LogLine::AuditList(events) => events.into_iter().for_each(|event| self.audit_event(log, event, emit)),
            // It may be one of those in the audit log.
            LogLine::Request(request) if request.audit_id.is_empty() && self.extent.events > 0 => {}
            LogLine::Client(_) if self.extent.events > 0 => {}
            LogLine::Request(request) => {
                self.extent.without_end += u64::from(request.outcome == RequestOutcome::UnknownLife);
                let event = as_event::of_request_log(&request, &mut self.own_ids);
                self.event(log, event, false);
            }
            LogLine::Client(request) => match pairs.take(*request) {
                Paired::Request(request) => {
                    if let Some(event) = as_event::of_client_request(&request, &mut self.own_ids) {
                        self.event(log, event, false);
                    }
                }
                Paired::Later => {}
                Paired::Unknown => self.extent.unpaired = self.extent.unpaired.saturating_add(1),
            },
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
        if event.stage != AuditStage::RequestReceived && !self.has_receipt_of(&event, is_audit) {
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
                let event = &*self.distinguished(event, *is_audit);
                if *is_audit && self.is_repeated(*stage, event) {
                    // A log that was read twice is no other server. An event of a later stage stands for the receipt, too.
                    let is_event = event.stage == *stage;
                    self.extent.repeated = self.extent.repeated.saturating_add(u64::from(is_event));
                    return;
                }
                if self.silences.end(*log, at) && self.was_killed(at, record, *log) {
                    self.begin_again(at, *log, emit);
                }
                if *stage == AuditStage::RequestReceived {
                    return self.receive(at, (event, *is_audit), *log, emit);
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
                let is_ambiguous = self.requests.is_ambiguous(&traced.audit_id);
                if let Some(open) = self.requests.open_mut(&traced.audit_id).filter(|open| !open.is_own && !is_ambiguous) {
                    emit(observation(at, open.id, ExchangeObservation::Recorded { read: traced.read }));
                }
            }
        }
    }

    /// Whether a stage of a request has come before.
    fn is_repeated(&self, stage: AuditStage, event: &AuditEvent) -> bool {
        let is_over = self.requests.closed(&event.audit_id) == Some(CloseReason::Finished);
        match stage {
            AuditStage::RequestReceived => self.requests.has(&event.audit_id),
            AuditStage::ResponseStarted => is_over || self.requests.is_answered(&event.audit_id),
            AuditStage::ResponseComplete | AuditStage::Panic => is_over,
        }
    }

    /// Whether the receipt of an event's request has been passed on.
    fn has_receipt_of(&self, event: &AuditEvent, is_audit: bool) -> bool {
        let other = if is_audit { self.requests.other_id(event) } else { None };
        self.requests.has(other.as_deref().unwrap_or(&event.audit_id))
    }

    /// The event, under an ID of its own if another request has its audit ID.
    fn distinguished<'e>(&self, event: &'e AuditEvent, is_audit: bool) -> Cow<'e, AuditEvent> {
        match if is_audit { self.requests.other_id(event) } else { None } {
            Some(audit_id) => Cow::Owned(AuditEvent { audit_id, ..event.clone() }),
            None => Cow::Borrowed(event),
        }
    }

    fn receive(&mut self, at: Timestamp, (event, is_audit): (&AuditEvent, bool), log: usize, emit: &mut dyn FnMut(Observation)) {
        if self.requests.has(&event.audit_id) {
            return;
        }
        let request = head(event);
        let is_own = is_own(event);
        let mut ignore = |_| {};
        let of_client: &mut dyn FnMut(Observation) = if is_own { &mut ignore } else { &mut *emit };
        let id = self.clients.exchange(at, event, of_client);
        if let Some(stated) = OwnIds::stated(&event.audit_id).filter(|stated| *stated != event.audit_id) {
            self.extent.same_ids = self.extent.same_ids.saturating_add(1);
            self.requests.make_ambiguous(stated);
        }
        if let Some(watch) = self.requests.close_watch_before(id.connection, &request) {
            give_up(at, &watch, ExchangeEnd::Cut(None), emit);
        }
        let asked = is_audit.then(|| self.requests.asked(event));
        let opened = Opened { audit_id: &event.audit_id, log, is_own, asked };
        if let Some(oldest) = self.requests.open(&opened, id, &request) {
            self.extent.given_up = self.extent.given_up.saturating_add(1);
            give_up(at, &oldest, ExchangeEnd::NotObserved, emit);
        }
        if is_own {
            self.extent.own = self.extent.own.saturating_add(1);
            self.extent.note_server(&event.user_agent);
            return;
        }
        self.extent.requests = self.extent.requests.saturating_add(1);
        emit(observation(at, id, ExchangeObservation::Requested { request: Box::new(request) }));
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
        let audit_id = OwnIds::stated(&event.audit_id).map(str::to_owned);
        let response = ResponseLine { status, audit_id, ..ResponseLine::default() };
        emit(observation(at, id, ExchangeObservation::Responded { response: Box::new(response) }));
        if let Some(status) = &event.refusal {
            emit(observation(at, id, ExchangeObservation::BodyRead { body: Body::Status(status.clone()) }));
        }
    }

    fn end(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        let Some(open) = self.requests.close(&event.audit_id, CloseReason::Finished) else { return };
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
        if let Some(open) = self.requests.close(&event.audit_id, CloseReason::GivenUp) {
            emit(observation(at, open.id, ExchangeObservation::Ended { end: ExchangeEnd::NotObserved }));
        }
    }
}
