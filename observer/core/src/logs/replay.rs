//! Joins the records of each request, and makes the observations of a tap of them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use super::audit::{AuditEvent, AuditStage, MAX_LINE};
use super::envelope::Unwrapper;
use super::extent::LogExtent;
use super::window::Window;
use crate::http::{Field, Identity, RequestHead, StreamId, Target};
use crate::observation::{
    Body, ConnectionId, ConnectionObservation, ExchangeEnd, ExchangeId, ExchangeObservation, LoggedClient, Observation,
    RequestLine, ResponseLine, Subject, UpstreamName,
};
use crate::time::Timestamp;

/// Maximum number of records that wait to be put in order, and of their bytes.
const WINDOW: usize = 64 << 10;
const WINDOW_BYTES: usize = 64 << 20;
/// Maximum number of requests that are open at once, and of finished ones whose audit IDs are remembered.
const MOST_REQUESTS: usize = 64 << 10;
/// Maximum number of clients that are distinguished.
const MOST_CLIENTS: usize = 64 << 10;

/// Makes observations of the events of audit logs.
///
/// The events of a request carry the same audit ID. A log has no connections: all requests of one client (user, user agent and address)
/// count as those of one connection.
#[derive(Debug)]
pub struct LogReplay {
    unwrapper: Unwrapper,
    /// Each event with the stage that its time belongs to: its own, or the receipt of its request.
    window: Window<(AuditStage, Arc<AuditEvent>)>,
    clients: HashMap<ClientKey, Connection>,
    open: BTreeMap<String, OpenRequest>,
    /// The audit IDs of finished requests, the latest one last.
    finished: Finished,
    next_connection: u64,
    /// The latest time in the present line.
    latest: Option<Timestamp>,
    extent: LogExtent,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ClientKey {
    user: String,
    user_agent: String,
    address: String,
}

#[derive(Debug)]
struct Connection {
    id: ConnectionId,
    next_stream: u64,
}

#[derive(Debug)]
struct OpenRequest {
    id: ExchangeId,
    is_answered: bool,
}

#[derive(Debug, Default)]
struct Finished {
    ids: HashSet<String>,
    order: VecDeque<String>,
}

impl Default for LogReplay {
    fn default() -> Self {
        Self {
            unwrapper: Unwrapper::default(),
            window: Window::of(WINDOW, WINDOW_BYTES),
            clients: HashMap::new(),
            open: BTreeMap::new(),
            finished: Finished::default(),
            next_connection: 1,
            latest: None,
            extent: LogExtent::default(),
        }
    }
}

impl LogReplay {
    /// Takes the next line of a log, without its end. Empty lines are passed over. Returns the time that the line has; of several, the
    /// latest.
    pub fn line(&mut self, line: &[u8], emit: &mut dyn FnMut(Observation)) -> Option<Timestamp> {
        if line.trim_ascii().is_empty() {
            return None;
        }
        if line.len() > MAX_LINE {
            self.too_long();
            return None;
        }
        self.latest = None;
        let mut unwrapper = std::mem::take(&mut self.unwrapper);
        let is_understood = unwrapper.unwrap(line, &mut |envelope, text| {
            let is_understood = self.text(text);
            if let Some(envelope) = envelope.filter(|_| is_understood) {
                let number = self.extent.envelopes.entry(envelope).or_default();
                *number = number.saturating_add(1);
            }
            is_understood
        });
        self.unwrapper = unwrapper;
        self.extent.not_understood = self.extent.not_understood.saturating_add(u64::from(!is_understood));
        while let Some((at, (stage, event))) = self.window.pop_full() {
            self.reach(at, stage, &event, emit);
        }
        self.latest
    }

    /// Notes a line that is longer than [`MAX_LINE`].
    pub fn too_long(&mut self) {
        self.extent.too_long = self.extent.too_long.saturating_add(1);
    }

    /// Notes that there are no further lines.
    pub fn finish(&mut self, emit: &mut dyn FnMut(Observation)) {
        while let Some((at, (stage, event))) = self.window.pop() {
            self.reach(at, stage, &event, emit);
        }
    }

    /// How much of the traffic the lines so far show.
    pub fn extent(&self) -> LogExtent {
        LogExtent { late: self.window.late(), ..self.extent.clone() }
    }

    /// Takes a line without its envelopes. Returns whether it is understood.
    fn text(&mut self, text: &[u8]) -> bool {
        if text.first() != Some(&b'{') {
            return false;
        }
        if let Some(event) = AuditEvent::read(text) {
            self.event(event);
            return true;
        }
        let Some(events) = AuditEvent::read_list(text) else { return false };
        for event in events {
            self.event(event);
        }
        true
    }

    fn event(&mut self, event: AuditEvent) {
        self.extent.note(&event);
        let Some(reached) = event.reached.or(event.received) else {
            self.extent.without_time = self.extent.without_time.saturating_add(1);
            return;
        };
        self.latest = self.latest.max(Some(reached));
        let received = event.received.unwrap_or(reached).min(reached);
        let (bytes, event) = (event.memory(), Arc::new(event));
        if event.stage != AuditStage::RequestReceived {
            // The policy may omit the stages before it.
            self.window.push(received, 0, (AuditStage::RequestReceived, Arc::clone(&event)));
        }
        self.window.push(reached, bytes, (event.stage, event));
    }

    fn reach(&mut self, at: Timestamp, stage: AuditStage, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        match stage {
            AuditStage::RequestReceived => self.receive(at, event, emit),
            AuditStage::ResponseStarted => self.answer(at, event, emit),
            AuditStage::ResponseComplete | AuditStage::Panic => {
                self.answer(at, event, emit);
                self.end(at, event, emit);
            }
        }
    }

    fn receive(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        if self.open.contains_key(&event.audit_id) || self.finished.ids.contains(&event.audit_id) {
            let is_repeated = event.stage == AuditStage::RequestReceived;
            self.extent.repeated = self.extent.repeated.saturating_add(u64::from(is_repeated));
            return;
        }
        if self.open.len() >= MOST_REQUESTS {
            self.extent.given_up = self.extent.given_up.saturating_add(1);
            return;
        }
        self.extent.requests = self.extent.requests.saturating_add(1);
        let Some(id) = self.exchange(at, event, emit) else {
            self.extent.given_up = self.extent.given_up.saturating_add(1);
            return;
        };
        let request = request(event);
        let open = OpenRequest { id, is_answered: false };
        self.open.insert(event.audit_id.clone(), open);
        emit(observation(at, id, ExchangeObservation::Requested { request: Box::new(request) }));
    }

    fn answer(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        let Some(open) = self.open.get_mut(&event.audit_id) else {
            self.extent.repeated = self.extent.repeated.saturating_add(u64::from(self.finished.ids.contains(&event.audit_id)));
            return;
        };
        if std::mem::replace(&mut open.is_answered, true) {
            return;
        }
        let id = open.id;
        let status = Some(event.status).filter(|status| *status != 0);
        let response = ResponseLine { status, audit_id: Some(event.audit_id.clone()), ..ResponseLine::default() };
        emit(observation(at, id, ExchangeObservation::Responded { response: Box::new(response) }));
        if let Some(status) = &event.refusal {
            emit(observation(at, id, ExchangeObservation::BodyRead { body: Body::Status(status.clone()) }));
        }
    }

    fn end(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) {
        let Some(open) = self.open.remove(&event.audit_id) else { return };
        self.finished.add(event.audit_id.clone());
        if let Some(read) = event.recorded_read() {
            emit(observation(at, open.id, ExchangeObservation::Recorded { read }));
        }
        let end = if event.stage == AuditStage::Panic { ExchangeEnd::Cut(None) } else { ExchangeEnd::Complete };
        emit(observation(at, open.id, ExchangeObservation::Ended { end }));
    }

    /// The identifier of a new exchange of the event's client. `None` if there are too many clients.
    fn exchange(&mut self, at: Timestamp, event: &AuditEvent, emit: &mut dyn FnMut(Observation)) -> Option<ExchangeId> {
        let AuditEvent { user, user_agent, address, .. } = event;
        let key = ClientKey { user: user.clone(), user_agent: user_agent.clone(), address: address.clone() };
        if !self.clients.contains_key(&key) {
            if self.clients.len() >= MOST_CLIENTS {
                return None;
            }
            let id = ConnectionId(self.next_connection);
            self.next_connection = self.next_connection.saturating_add(1);
            let opened = ConnectionObservation::Opened {
                upstream: UpstreamName::default(),
                protocol: None,
                process: None,
                container_name: None,
                attached_late: false,
                logged: Some(LoggedClient { address: address.clone() }),
            };
            emit(Observation { at, subject: Subject::Connection(id, opened) });
            self.clients.insert(key, Connection { id, next_stream: 2 });
            return Some(ExchangeId { connection: id, stream: StreamId(1) });
        }
        let connection = self.clients.get_mut(&key)?;
        let stream = StreamId(connection.next_stream);
        connection.next_stream = connection.next_stream.saturating_add(1);
        Some(ExchangeId { connection: connection.id, stream })
    }
}

impl Finished {
    fn add(&mut self, id: String) {
        if self.order.len() >= MOST_REQUESTS
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        self.order.push_back(id.clone());
        self.ids.insert(id);
    }
}

const fn observation(at: Timestamp, id: ExchangeId, observed: ExchangeObservation) -> Observation {
    Observation { at, subject: Subject::Exchange(id, observed) }
}

/// The head of the request that an event is about.
fn request(event: &AuditEvent) -> RequestLine {
    let method = match event.verb.as_str() {
        "get" | "list" | "watch" => "GET",
        "create" | "post" => "POST",
        "update" | "put" => "PUT",
        "patch" => "PATCH",
        "delete" | "deletecollection" => "DELETE",
        "head" => "HEAD",
        "options" => "OPTIONS",
        _other => "OTHER",
    };
    let head = RequestHead {
        method: Field::Known(method.to_owned()),
        target: Field::Known(Target::parse(event.uri.as_bytes())),
        identity: if event.user.is_empty() { Field::Absent } else { Field::Known(Identity::of_user(&event.user)) },
        ..RequestHead::default()
    };
    RequestLine { user_agent: Some(event.user_agent.clone()).filter(|agent| !agent.is_empty()), ..RequestLine::of(&head, "") }
}
