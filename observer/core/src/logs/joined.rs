//! Joins what a tap observed with what the logs of the same API server have of it, by audit ID.
//!
//! The bytes, the items and the times of a request come from the tap. Its user, its time in the API server and the proofs of its layer come from
//! the logs. A request that only the logs have is counted and gives no observation. So no request counts twice.
//!
//! The logs have to be ahead of the tap: events are emitted as they happen, and are never corrected. So the caller reads the logs further, or
//! holds the observations of the tap back.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use super::audit_id::AuditId;
use crate::http::{Identity, StreamId};
use crate::observation::{
    CaptureObservation, ConnectionId, ConnectionObservation, ExchangeEnd, ExchangeId, ExchangeObservation, JoinedRequests,
    Observation, RequestLine, RunObservation, Subject,
};
use crate::time::{Timestamp, microseconds};

/// Maximum number of requests of the logs, of open requests of the tap, and of audit IDs of the tap that are kept.
const MOST: usize = 64 << 10;
/// Maximum number of facts that wait for the request of the tap.
const MOST_FACTS: usize = 8;

/// Joins the observations of a tap with those that [`super::LogReplay`] makes of logs of the same time.
#[derive(Debug)]
pub struct JoinedLogs {
    logs: OfLogs,
    tap: OfTap,
    counts: JoinedRequests,
    most: usize,
}

/// The requests of the logs.
#[derive(Debug, Default)]
struct OfLogs {
    /// Those without an answer yet, and so without an audit ID.
    begun: HashMap<ExchangeId, Logged>,
    answered: HashMap<AuditId, Logged>,
    /// The audit IDs of the answered ones that have not ended.
    open: HashMap<ExchangeId, AuditId>,
    /// Those that have ended, in the order of their ends.
    ended: VecDeque<(Timestamp, AuditId)>,
}

/// A request of the logs.
#[derive(Debug)]
struct Logged {
    target: Option<u64>,
    received: Timestamp,
    /// Whether another request of the logs has its audit ID, too.
    is_ambiguous: bool,
    is_joined: bool,
    /// The facts that have not been passed on yet.
    user: Option<Identity>,
    took: Option<Duration>,
    facts: Vec<ExchangeObservation>,
}

/// The requests of the tap.
#[derive(Debug, Default)]
struct OfTap {
    begun: Option<Timestamp>,
    /// By the wall clock, as the logs have their times.
    now: Timestamp,
    /// The same, as the tap has it.
    at: Timestamp,
    open: BTreeMap<ExchangeId, Tapped>,
    /// The open ones that may be joined, by audit ID.
    answered: HashMap<AuditId, ExchangeId>,
    /// The latest audit IDs, of open requests and of ended ones.
    known: HashSet<AuditId>,
    /// The same, the oldest first.
    order: VecDeque<AuditId>,
}

/// An open request of the tap.
#[derive(Debug, Default)]
struct Tapped {
    target: Option<u64>,
    audit_id: Option<AuditId>,
    /// Whether its audit ID is that of another request, too.
    is_ambiguous: bool,
    is_joined: bool,
}

impl Default for JoinedLogs {
    fn default() -> Self {
        Self::within(MOST)
    }
}

impl JoinedLogs {
    /// How long a request of the logs waits for that of the tap, by the times of both. The clocks of both may differ by nearly as much.
    pub const WAITS: Duration = Duration::from_secs(10);

    /// Keeps at most so many requests of the logs, open requests of the tap, and audit IDs of the tap.
    pub fn within(most: usize) -> Self {
        Self { logs: OfLogs::default(), tap: OfTap::default(), counts: JoinedRequests::default(), most }
    }

    /// Takes the next observation of the logs. Passes on what it adds to an open request of the tap.
    pub fn logged(&mut self, observation: Observation, emit: &mut dyn FnMut(Observation)) {
        let Subject::Exchange(id, observed) = observation.subject else { return };
        let changed = match observed {
            ExchangeObservation::Requested { request } => {
                self.begin(id, Logged::of(observation.at, &request));
                None
            }
            ExchangeObservation::Responded { response } => self.logs.answer(id, response.audit_id.as_deref().and_then(AuditId::of)),
            fact @ (ExchangeObservation::Recorded { .. }
            | ExchangeObservation::ClosedByForce { .. }
            | ExchangeObservation::CacheReset) => self.logs.note(id, fact),
            ExchangeObservation::Ended { end } => self.logs.end(id, observation.at, end == ExchangeEnd::Complete),
            ExchangeObservation::InterimResponse { .. }
            | ExchangeObservation::BodyBytes { .. }
            | ExchangeObservation::BodyRead { .. }
            | ExchangeObservation::BodyNotRead { .. }
            | ExchangeObservation::BodyGap { .. }
            | ExchangeObservation::Upgraded { .. }
            | ExchangeObservation::Logged { .. } => None,
        };
        if let Some(audit_id) = changed {
            self.join(&audit_id, emit);
        }
    }

    /// Notes the time of the next observation of the tap. Requests of the logs that ended long before it need no room.
    pub fn expect(&mut self, at: Timestamp) {
        (self.tap.now, self.tap.at) = (at.of_wall_clock(), at);
        self.tap.begun.get_or_insert(self.tap.now);
    }

    /// Takes the next observation of the tap. Passes it on, with what the logs add to it.
    pub fn observed(&mut self, observation: Observation, emit: &mut dyn FnMut(Observation)) {
        self.expect(observation.at);
        let mut answered = None;
        match &observation.subject {
            Subject::Exchange(id, ExchangeObservation::Requested { request }) => {
                self.leave(*id);
                if self.tap.open.len() < self.most {
                    self.tap.open.insert(*id, Tapped { target: target(request), ..Tapped::default() });
                } else {
                    self.counts.given_up = self.counts.given_up.saturating_add(1);
                }
            }
            Subject::Exchange(id, ExchangeObservation::Responded { response }) => {
                answered =
                    response.audit_id.as_deref().and_then(AuditId::of).filter(|audit_id| self.tap.answer(*id, audit_id, self.most));
            }
            Subject::Exchange(id, ExchangeObservation::Ended { .. }) => self.leave(*id),
            Subject::Connection(id, ConnectionObservation::Closed { .. } | ConnectionObservation::DecoderFailed) => {
                self.leave_all(*id..=*id);
            }
            Subject::Capture(CaptureObservation::Unrecorded { .. }) => self.leave_all(ConnectionId(0)..=ConnectionId(u64::MAX)),
            Subject::Exchange(..)
            | Subject::Connection(..)
            | Subject::Upstream(..)
            | Subject::Tap(_)
            | Subject::Capture(_)
            | Subject::Run(_)
            | Subject::Unknown => {}
        }
        emit(observation);
        if let Some(audit_id) = answered {
            self.join(&audit_id, emit);
        }
        self.forget_old();
    }

    /// Notes that neither the tap nor the logs have more. Passes on the numbers.
    pub fn finish(&mut self, emit: &mut dyn FnMut(Observation)) {
        self.leave_all(ConnectionId(0)..=ConnectionId(u64::MAX));
        let rest: Vec<AuditId> = self.logs.answered.keys().cloned().collect();
        for audit_id in &rest {
            self.forget(audit_id);
        }
        emit(self.numbers());
    }

    /// The numbers so far, as an observation of the run.
    pub fn numbers(&self) -> Observation {
        Observation { at: self.tap.at, subject: Subject::Run(RunObservation::Joined { requests: self.counts }) }
    }

    fn begin(&mut self, id: ExchangeId, logged: Logged) {
        if self.logs.begun.len() + self.logs.answered.len() >= self.most {
            self.forget_old();
        }
        if self.logs.begun.len() + self.logs.answered.len() >= self.most {
            self.counts.given_up = self.counts.given_up.saturating_add(1);
            match self.logs.ended.pop_front() {
                Some((_, audit_id)) => drop(self.logs.answered.remove(&audit_id)),
                None => return,
            }
        }
        self.logs.begun.insert(id, logged);
    }

    /// Passes on what the logs have of a request of the tap and has not been passed on.
    fn join(&mut self, audit_id: &AuditId, emit: &mut dyn FnMut(Observation)) {
        let Some(logged) = self.logs.answered.get_mut(audit_id) else { return };
        let Some(id) = self.tap.answered.get(audit_id).copied() else { return };
        let Some(tapped) = self.tap.open.get_mut(&id) else { return };
        if logged.is_ambiguous || logged.target.zip(tapped.target).is_some_and(|(one, other)| one != other) {
            tapped.is_ambiguous = true;
            self.tap.answered.remove(audit_id);
            return;
        }
        (logged.is_joined, tapped.is_joined) = (true, true);
        let (user, took_us) = (logged.user.take(), logged.took.take().map(microseconds));
        let logged_now = (user.is_some() || took_us.is_some()).then_some(ExchangeObservation::Logged { user, took_us });
        for observed in logged.facts.drain(..).chain(logged_now) {
            emit(Observation { at: self.tap.at, subject: Subject::Exchange(id, observed) });
        }
    }

    /// Counts a request of the tap that is over.
    fn leave(&mut self, id: ExchangeId) {
        let Some(tapped) = self.tap.open.remove(&id) else { return };
        let number = match &tapped.audit_id {
            _ if tapped.is_ambiguous => &mut self.counts.ambiguous,
            _ if tapped.is_joined => &mut self.counts.joined,
            Some(_) => &mut self.counts.without_event,
            None => &mut self.counts.without_id,
        };
        *number = number.saturating_add(1);
        if let Some(audit_id) = tapped.audit_id
            && self.tap.answered.get(&audit_id) == Some(&id)
        {
            self.tap.answered.remove(&audit_id);
        }
    }

    fn leave_all(&mut self, connections: std::ops::RangeInclusive<ConnectionId>) {
        let (first, last) = (*connections.start(), *connections.end());
        let of = |connection, stream| ExchangeId { connection, stream: StreamId(stream) };
        let over: Vec<ExchangeId> = self.tap.open.range(of(first, 0)..=of(last, u64::MAX)).map(|(id, _)| *id).collect();
        for id in over {
            self.leave(id);
        }
    }

    /// Drops the requests of the logs that have waited long enough.
    fn forget_old(&mut self) {
        let until = self.tap.now.minus(Self::WAITS);
        while let Some((_, audit_id)) = self.logs.ended.pop_front_if(|(ended, _)| *ended < until) {
            self.forget(&audit_id);
        }
    }

    /// Drops a request of the logs. It counts if the tap has not seen it, although it was there.
    fn forget(&mut self, audit_id: &AuditId) {
        let Some(logged) = self.logs.answered.remove(audit_id) else { return };
        let is_of_the_time = self.tap.begun.is_some_and(|begun| (begun..=self.tap.now).contains(&logged.received));
        if is_of_the_time && !logged.is_joined && !self.tap.known.contains(audit_id) {
            self.counts.only_logged = self.counts.only_logged.saturating_add(1);
        }
    }
}

impl Logged {
    fn of(received: Timestamp, request: &RequestLine) -> Self {
        let (target, user) = (target(request), request.identity.clone());
        Self { target, received, is_ambiguous: false, is_joined: false, user, took: None, facts: Vec::new() }
    }
}

impl OfLogs {
    /// Notes the answer to a request. Returns its audit ID. Of two with one ID, the first is kept; equal targets make it ambiguous.
    fn answer(&mut self, id: ExchangeId, audit_id: Option<AuditId>) -> Option<AuditId> {
        let logged = self.begun.remove(&id)?;
        let audit_id = audit_id?;
        if let Some(other) = self.answered.get_mut(&audit_id) {
            other.is_ambiguous |= logged.target.is_none() || other.target.is_none() || logged.target == other.target;
        } else {
            self.open.insert(id, audit_id.clone());
            self.answered.insert(audit_id.clone(), logged);
        }
        Some(audit_id)
    }

    /// Notes a fact about a request. Returns its audit ID, if that is known.
    fn note(&mut self, id: ExchangeId, fact: ExchangeObservation) -> Option<AuditId> {
        let audit_id = self.open.get(&id);
        let logged = match audit_id {
            Some(audit_id) => self.answered.get_mut(audit_id)?,
            None => self.begun.get_mut(&id)?,
        };
        if logged.facts.len() < MOST_FACTS {
            logged.facts.push(fact);
        }
        audit_id.cloned()
    }

    /// Notes the end of a request. Returns its audit ID. Only an end that `is_logged` has a time of its own.
    fn end(&mut self, id: ExchangeId, at: Timestamp, is_logged: bool) -> Option<AuditId> {
        // Without an answer, there is nothing to join.
        self.begun.remove(&id);
        let audit_id = self.open.remove(&id)?;
        let logged = self.answered.get_mut(&audit_id)?;
        // An event that lacks one of its two times has the same for both.
        logged.took = is_logged.then(|| at.since(logged.received)).filter(|took| !took.is_zero());
        self.ended.push_back((at, audit_id.clone()));
        Some(audit_id)
    }
}

impl OfTap {
    /// Notes the answer to a request. Whether no other request has its audit ID.
    fn answer(&mut self, id: ExchangeId, audit_id: &AuditId, most: usize) -> bool {
        let Some(tapped) = self.open.get_mut(&id).filter(|tapped| tapped.audit_id.is_none()) else { return false };
        tapped.audit_id = Some(audit_id.clone());
        tapped.is_ambiguous = self.known.contains(audit_id);
        if tapped.is_ambiguous {
            return false;
        }
        if self.order.len() >= most
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.known.insert(audit_id.clone());
        self.order.push_back(audit_id.clone());
        self.answered.insert(audit_id.clone(), id);
        true
    }
}

/// A mark of the objects that a request is for, and of its options: both records of a request have the same. `None` if they are unknown.
fn target(request: &RequestLine) -> Option<u64> {
    let (info, options) = (request.info.as_ref()?, &request.options);
    let mut hasher = DefaultHasher::new();
    (&info.resource, &info.subresource, &info.namespace, &info.name, &info.non_resource_path).hash(&mut hasher);
    (options.watch, options.limit, options.resource_version, options.resource_version_match).hash(&mut hasher);
    (&options.label_selector, &options.field_selector).hash(&mut hasher);
    Some(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::{ListOptions, RequestInfo};
    use crate::observation::{ExchangeEnd, ResponseLine};
    use crate::routing::RecordedRead;

    const LIST: &str = "/api/v1/pods?limit=500";

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }

    const fn id(connection: u64) -> ExchangeId {
        ExchangeId { connection: ConnectionId(connection), stream: StreamId(1) }
    }

    fn of_exchange(second: u64, connection: u64, observed: ExchangeObservation) -> Observation {
        Observation { at: at(second), subject: Subject::Exchange(id(connection), observed) }
    }

    fn requested(second: u64, connection: u64, uri: &str, user: Option<&str>) -> Observation {
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        let options = ListOptions::parse(query);
        let info = Some(RequestInfo::parse("GET", path, &options, ""));
        let identity = user.map(Identity::of_user);
        let request = Box::new(RequestLine { info, options, identity, ..RequestLine::default() });
        of_exchange(second, connection, ExchangeObservation::Requested { request })
    }

    fn responded(second: u64, connection: u64, audit_id: Option<&str>) -> Observation {
        let response = ResponseLine { status: Some(200), audit_id: audit_id.map(str::to_owned), ..ResponseLine::default() };
        of_exchange(second, connection, ExchangeObservation::Responded { response: Box::new(response) })
    }

    fn ended(second: u64, connection: u64) -> Observation {
        of_exchange(second, connection, ExchangeObservation::Ended { end: ExchangeEnd::Complete })
    }

    /// A request of the logs, which are read before the tap.
    fn log(joined: &mut JoinedLogs, connection: u64, uri: &str, audit_id: &str, (received, reached): (u64, u64)) {
        let recorded = ExchangeObservation::Recorded { read: RecordedRead::EtcdTime };
        for one in [
            requested(received, connection, uri, Some("u")),
            responded(reached, connection, Some(audit_id)),
            of_exchange(reached, connection, recorded),
            ended(reached, connection),
        ] {
            joined.logged(one, &mut |other| panic!("{other:?}"));
        }
    }

    /// The observations that are passed on for these of the tap, in words, and the numbers.
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others are shown as they are")]
    fn taken(joined: &mut JoinedLogs, tap: Vec<Observation>) -> (String, JoinedRequests) {
        let mut words = Vec::new();
        let mut take = |observation: Observation| {
            words.push(match observation.subject {
                Subject::Exchange(id, ExchangeObservation::Requested { .. }) => format!("{}-requested", id.connection),
                Subject::Exchange(id, ExchangeObservation::Responded { .. }) => format!("{}-responded", id.connection),
                Subject::Exchange(id, ExchangeObservation::Recorded { .. }) => format!("{}-recorded", id.connection),
                Subject::Exchange(id, ExchangeObservation::Logged { user, took_us }) => {
                    format!("{}-logged-{}-{}", id.connection, u8::from(user.is_some()), took_us.unwrap_or(0))
                }
                Subject::Exchange(id, ExchangeObservation::Ended { .. }) => format!("{}-ended", id.connection),
                other => format!("{other:?}"),
            });
        };
        for one in tap {
            joined.observed(one, &mut take);
        }
        let mut numbers = None;
        joined.finish(&mut |observation| {
            if let Subject::Run(RunObservation::Joined { requests }) = observation.subject {
                numbers = Some(requests);
            }
        });
        (words.join(" "), numbers.unwrap())
    }

    fn request(second: u64, connection: u64, uri: &str, audit_id: Option<&str>) -> Vec<Observation> {
        vec![requested(second, connection, uri, None), responded(second + 1, connection, audit_id), ended(second + 2, connection)]
    }

    #[test]
    fn request_of_both_is_passed_on_once_with_what_the_log_has() {
        let mut joined = JoinedLogs::default();
        log(&mut joined, 100, LIST, "a", (1, 3));
        let (words, numbers) = taken(&mut joined, request(1, 1, LIST, Some("a")));
        assert_eq!(words, "1-requested 1-responded 1-recorded 1-logged-1-2000000 1-ended");
        assert_eq!(numbers, JoinedRequests { joined: 1, ..JoinedRequests::default() });
    }

    #[test]
    fn requests_of_one_side_only_are_counted_apart() {
        let mut joined = JoinedLogs::default();
        log(&mut joined, 100, LIST, "before", (1, 1));
        log(&mut joined, 101, LIST, "bypasses", (11, 12));
        log(&mut joined, 102, LIST, "after", (90, 91));
        let tap = [request(10, 1, LIST, Some("unlogged")), request(20, 2, LIST, None)].concat();
        let (words, numbers) = taken(&mut joined, tap);
        assert!(!words.contains("logged"), "{words}");
        let expected = JoinedRequests { without_event: 1, without_id: 1, only_logged: 1, ..JoinedRequests::default() };
        assert_eq!(numbers, expected);
    }

    #[test]
    fn audit_id_of_two_requests_is_joined_once_and_that_of_another_request_never() {
        let mut joined = JoinedLogs::default();
        log(&mut joined, 100, LIST, "twice", (1, 3));
        log(&mut joined, 101, "/api/v1/secrets", "other", (1, 3));
        log(&mut joined, 102, LIST, "logged-twice", (1, 3));
        log(&mut joined, 103, LIST, "logged-twice", (1, 3));
        let tap = (1..).zip(["twice", "twice", "other", "logged-twice"]);
        let (words, numbers) = taken(&mut joined, tap.flat_map(|(number, id)| request(number, number, LIST, Some(id))).collect());
        assert_eq!(words.matches("-logged-").count(), 1, "{words}");
        assert_eq!(numbers, JoinedRequests { joined: 1, ambiguous: 3, ..JoinedRequests::default() });
    }

    #[test]
    fn user_of_an_open_watch_is_known_before_its_end() {
        const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=7";
        let mut joined = JoinedLogs::default();
        let mut nothing = |other| panic!("{other:?}");
        joined.logged(requested(1, 100, WATCH, Some("u")), &mut nothing);
        joined.logged(responded(1, 100, Some("w")), &mut nothing);
        let mut passed = 0;
        joined.observed(requested(1, 1, WATCH, None), &mut |_| passed += 1);
        joined.observed(responded(1, 1, Some("w")), &mut |_| passed += 1);
        assert_eq!(passed, 3, "and the user");
        joined.logged(ended(300, 100), &mut |_| passed += 1);
        assert_eq!(passed, 4, "and the time");
        let (words, numbers) = taken(&mut joined, vec![ended(300, 1)]);
        assert_eq!((words.as_str(), numbers.joined), ("1-ended", 1));
    }

    #[test]
    fn requests_from_before_the_run_need_no_room() {
        let mut joined = JoinedLogs::within(4);
        joined.expect(at(1_000));
        for number in 0..100 {
            log(&mut joined, 100 + number, LIST, &format!("id-{number}"), (number, number + 1));
        }
        let (_, numbers) = taken(&mut joined, request(1_000, 1, LIST, Some("a")));
        assert_eq!(numbers, JoinedRequests { without_event: 1, ..JoinedRequests::default() });
    }

    #[test]
    fn memory_is_bounded() {
        let mut joined = JoinedLogs::within(4);
        for number in 0..100 {
            log(&mut joined, 100 + number, LIST, &format!("id-{number}"), (1, 2));
        }
        assert_eq!(joined.logs.answered.len(), 4);
        let tap = (0..100).flat_map(|number| request(1, number, LIST, Some(&format!("id-{number}")))).collect();
        let (_, numbers) = taken(&mut joined, tap);
        assert_eq!((numbers.joined, numbers.given_up, numbers.only_logged), (4, 96, 0));
        assert!(joined.tap.known.len() <= 4 && joined.tap.open.is_empty());
    }
}
