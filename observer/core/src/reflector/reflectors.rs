//! All reflectors: assigns requests to them, and bounds their number and memory.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::alarms::{Alarms, Purpose};
use super::client_requests::ClientRow;
use super::clients::{Clients, Origin};
use super::events::ReflectorEvent;
use super::fit::{fit_of_list, fit_of_watch};
use super::gets::{GetPoller, Gets};
use super::identity::{Key, ReflectorId};
use super::key_group::KeyGroup;
use super::limits::ReflectorLimits;
use super::missed::ReflectorsMissed;
use super::pacing::{Pacing, RateLimit};
use super::propagation::{Propagation, PropagationRow};
use super::record::ReflectorRow;
use super::servers::{Servers, Shown};
use super::signs::ChangeSource;
use super::state::{Context, Reflector, Room};
use crate::exchange::{Exchange, MemoryUse, RequestLabels};
use crate::k8s::Verb;
use crate::observation::{Blockage, Body, ConnectionId, ExchangeId, ListenerState, UpstreamName};
use crate::thresholds::{SUSPENDED, VERY_SHORT_WATCH};
use crate::time::{Timestamp, microseconds};

/// All reflectors, with their clients and API servers.
#[derive(Debug)]
pub struct Reflectors {
    limits: ReflectorLimits,
    clients: Clients,
    servers: Servers,
    /// Looked up several times for each list and watch, and never in order.
    by_key: HashMap<Key, KeyGroup, RandomState>,
    known: BTreeMap<ReflectorId, Box<Reflector>>,
    memory: MemoryUse,
    of_exchange: HashMap<ExchangeId, ReflectorId, RandomState>,
    /// Number of object versions that all reflectors keep together.
    objects: usize,
    /// Timers for facts that only time reveals.
    alarms: Alarms,
    propagation: Propagation,
    pacing: Pacing,
    gets: Gets,
    next: u64,
    missed: ReflectorsMissed,
}

impl Reflectors {
    /// An empty table.
    pub fn new(limits: ReflectorLimits) -> Self {
        Self {
            limits,
            clients: Clients::new(&limits),
            servers: Servers::new(limits.servers, limits.resources),
            by_key: HashMap::default(),
            known: BTreeMap::new(),
            memory: MemoryUse::of(limits.memory),
            of_exchange: HashMap::default(),
            objects: 0,
            alarms: Alarms::new(limits.reflectors.saturating_mul(4)),
            propagation: Propagation::new(),
            pacing: Pacing::new(),
            gets: Gets::new(),
            next: 1,
            missed: ReflectorsMissed { forgotten: 0, requests: 0, thinned: 0, own_writes: 0, rate_limits: 0, gets: 0, clients: 0 },
        }
    }

    /// Notes a new connection, and where it comes from.
    pub fn connected(&mut self, connection: ConnectionId, origin: Origin, at: Timestamp) {
        self.clients.connected(connection, origin, at);
    }

    /// Notes the end of a connection.
    pub fn disconnected(&mut self, connection: ConnectionId, at: Timestamp) {
        self.clients.disconnected(connection, at);
    }

    /// Notes that an API server started or stopped refusing connections.
    pub fn listener(&mut self, upstream: &UpstreamName, state: ListenerState, at: Timestamp) {
        self.servers.listener(upstream, state, at);
    }

    /// Assigns a new request to its client.
    pub fn assign(&mut self, exchange: &mut Exchange) {
        exchange.client = self.clients.of(exchange.id.connection, &exchange.request, exchange.started);
    }

    /// Assigns a new request to a reflector, if it is a list or a watch.
    pub fn requested(&mut self, exchange: &Exchange, emit: &mut dyn FnMut(ReflectorEvent)) {
        let client = exchange.client;
        if let Some(client) = client {
            self.clients.begin(client, exchange);
            self.pacing.asked(client, exchange);
            self.gets.asked(client, exchange);
            if Propagation::is_write(exchange) {
                self.propagation.asked(client, exchange);
            }
        }
        if !Key::is_of_interest(exchange) {
            return;
        }
        let Some(client) = client else {
            self.missed.requests = self.missed.requests.saturating_add(1);
            return;
        };
        let Some(key) = Key::of(exchange, client) else { return };
        let is_list = exchange.verb() == Some(Verb::List) || exchange.request.options.begins_with_state();
        let found = self.find(&key, exchange, is_list);
        let before = if found.is_none() && !is_list { self.of_process_before(&key) } else { None };
        let Some(id) = found.or_else(|| self.add(key, exchange)) else {
            self.missed.requests = self.missed.requests.saturating_add(1);
            return;
        };
        self.inherit(before, id, exchange);
        self.of_exchange.insert(exchange.id, id);
        let known = self.clients.get(client).filter(|client| client.process.is_none());
        let client_returned = known.and_then(|client| client.returned);
        let context = Context { server: self.servers.get(&exchange.upstream), client_returned };
        let pid = self.clients.get(client).and_then(|client| client.process.as_ref()).map(|process| process.pid);
        let Some(reflector) = self.known.get_mut(&id) else { return };
        reflector.pid = pid.filter(|_| self.by_key.get(&reflector.key).is_none_or(KeyGroup::is_of_one));
        let kept = reflector.kept_objects();
        if is_list {
            reflector.lists(exchange, &context, emit);
        } else {
            reflector.watches(exchange);
        }
        reflector.connection = exchange.id.connection;
        if let Some(group) = self.by_key.get_mut(&reflector.key) {
            group.begin(id, reflector.place.take(), exchange.started);
        }
        let now = reflector.kept_objects();
        self.objects = (self.objects + now).saturating_sub(kept);
        self.count_memory(id);
    }

    /// Processes the head of a response.
    pub fn answered(&mut self, exchange: &Exchange, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(reflector) = self.of(exchange.id) else { return };
        reflector.answered(exchange, at, emit);
        let id = reflector.id;
        let resume = reflector.resuming.is_some().then(|| at.plus(VERY_SHORT_WATCH));
        let due = [(resume, Purpose::Resume), (reflector.state_due(at), Purpose::State)];
        for (due, purpose) in due {
            if let Some(due) = due {
                self.alarms.set(due, id, purpose);
            }
        }
        self.set_examination(id, at);
    }

    /// Processes the start or end of a blockage: the response has to wait for a client that does not read.
    ///
    /// A stall ends `now`, at the time of the latest observation, because its length until then has been shown. Observations of several
    /// connections are not quite in order, so its own time may be earlier.
    pub fn blockage_changed(&mut self, exchange: &Exchange, now: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some(reflector) = self.of(exchange.id) else { return };
        let before = reflector.stalls.due();
        reflector.blockage_changed(exchange, now, emit);
        let (id, after) = (reflector.id, reflector.stalls.report_due());
        if let Some(before) = before {
            self.alarms.unset(before, id, Purpose::Stall);
        }
        if let Some(after) = after {
            self.alarms.set(after, id, Purpose::Stall);
        }
    }

    /// Advances time to `at`. `open` returns an open exchange.
    pub fn pass<'e>(
        &mut self,
        at: Timestamp,
        open: &dyn Fn(ExchangeId) -> Option<&'e Exchange>,
        emit: &mut dyn FnMut(ReflectorEvent),
    ) {
        while let Some((due, id, purpose)) = self.alarms.next(at) {
            let Some(reflector) = self.known.get_mut(&id) else { continue };
            match purpose {
                Purpose::Resume | Purpose::Stall | Purpose::State => {
                    let kept = reflector.kept_objects();
                    reflector.pass(at, emit);
                    self.objects = (self.objects + reflector.kept_objects()).saturating_sub(kept);
                    if let Some(due) = reflector.state_due(at) {
                        self.alarms.set(due, id, Purpose::State);
                    }
                }
                Purpose::Examine => {
                    reflector.examined_at = None;
                    if at.since(due) > SUSPENDED {
                        // Nothing was observed meanwhile, since this machine was suspended. Events may be about to arrive.
                        reflector.heard_from = at;
                    }
                    let exchange = reflector.watch_exchange().and_then(open);
                    reflector.examine_silence(exchange, self.servers.get(&reflector.key.upstream), at, emit);
                    reflector.examine_unsynced(at, emit);
                }
            }
            self.set_examination(id, at);
        }
    }

    /// Sets the timer for the next examination of a watch, unless it is pending.
    fn set_examination(&mut self, id: ReflectorId, at: Timestamp) {
        let Some(reflector) = self.known.get_mut(&id).filter(|reflector| reflector.examined_at.is_none()) else { return };
        if let Some(due) = reflector.silence_due(at).or_else(|| reflector.unsynced_due(at)) {
            reflector.examined_at = Some(due);
            self.alarms.set(due, id, Purpose::Examine);
        }
    }

    /// Whether a timer is due at `at`.
    pub fn is_due(&self, at: Timestamp) -> bool {
        self.alarms.is_due(at)
    }

    /// Processes a decoded part of a body.
    pub fn understood(&mut self, exchange: &Exchange, at: Timestamp, body: &Body, emit: &mut dyn FnMut(ReflectorEvent)) {
        let options = &exchange.request.options;
        if let Some(resource) = exchange.request.resource() {
            let is_newest = matches!(body, Body::List(_)) && options.asks_for_newest();
            let newest_at = is_newest.then_some(exchange.started);
            let shown = body.newest_revision(options.resource_version).map(|revision| Shown { revision, newest_at });
            self.servers.heard(&exchange.upstream, resource, at, (body, ChangeSource::of(exchange)), shown);
        }
        let (limit, share) = (self.limits.objects, self.limits.objects / self.limits.reflectors.max(1));
        let all = self.objects;
        let Some(reflector) = self.of(exchange.id) else { return };
        let kept = reflector.kept_objects();
        // It may use the room that the other reflectors leave, and at least an equal share.
        let mut room = Room { versions: (limit + kept).saturating_sub(all).max(share), exceeded: 0 };
        reflector.understood(exchange, at, body, &mut room, emit);
        let (client, now, id) = (reflector.key.client, reflector.kept_objects(), reflector.id);
        let is_unexamined = reflector.examined_at.is_none();
        self.objects = (self.objects + now).saturating_sub(kept);
        self.missed.thinned = self.missed.thinned.saturating_add(room.exceeded);
        if is_unexamined {
            self.set_examination(id, at);
        }
        if let Body::Events(frames) = body {
            self.propagation.delivered(client, exchange, (frames, at), emit);
        }
    }

    /// Processes the end of a request. `now` is the time of the latest observation, as in [`Self::blockage_changed`].
    pub fn ended(&mut self, exchange: &Exchange, now: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if let Some(client) = exchange.client {
            self.clients.end(client, exchange);
        }
        if Propagation::is_write(exchange) {
            if let Some(client) = exchange.client {
                self.propagation.written(client, exchange, emit);
            }
            if let (Some(object), Some(resource), Some((at, _))) = (&exchange.object, exchange.request.resource(), exchange.ended) {
                self.servers.wrote(&exchange.upstream, resource, at, object);
            }
            return;
        }
        let Some(id) = self.of_exchange.remove(&exchange.id) else { return };
        let Some(reflector) = self.known.get_mut(&id) else { return };
        let kept = reflector.kept_objects();
        reflector.ended(exchange, now, emit);
        let kept_now = reflector.kept_objects();
        self.objects = (self.objects + kept_now).saturating_sub(kept);
        if !reflector.is_busy() {
            let place = (reflector.last_seen, reflector.revision);
            if let Some(group) = self.by_key.get_mut(&reflector.key) {
                group.take_up(reflector.id, reflector.place.replace(place));
                group.rest(reflector.id, place);
            }
        }
        self.count_memory(id);
    }

    /// Updates the counted memory of a reflector whose list or latest moments may have grown. If the bound is then exceeded, drops
    /// its older moments. If that is not enough, drops idle reflectors.
    fn count_memory(&mut self, id: ReflectorId) {
        self.count_again(id);
        if self.memory.is_exceeded()
            && let Some(reflector) = self.known.get_mut(&id)
        {
            reflector.timeline.shorten();
            self.count_again(id);
        }
        if self.memory.is_exceeded() {
            self.forget_some();
        }
    }

    fn count_again(&mut self, id: ReflectorId) {
        let Some(reflector) = self.known.get_mut(&id) else { return };
        let memory = reflector.memory();
        self.memory.recount(&mut reflector.counted_memory, memory);
    }

    /// Notes that observations before `at` are missing from the capture.
    pub fn lose_sight(&mut self, at: Timestamp) {
        self.known.values_mut().for_each(|reflector| reflector.lose_sight(at));
    }

    /// All reflectors without their moments: stuck ones first, then by number of relists, then by bytes.
    pub fn rows(&self, now: Timestamp) -> Vec<ReflectorRow> {
        let mut worst: Vec<&Reflector> = self.known.values().map(Box::as_ref).collect();
        worst.sort_by_key(|reflector| {
            let counts = reflector.counts.sums();
            (Reverse((reflector.is_stuck(), counts.relists, counts.bytes)), reflector.id)
        });
        let row = |reflector: &Reflector| {
            let client = self.clients.get(reflector.key.client);
            let process = client.and_then(|client| client.process.clone());
            // The group is looked up only for rows that report duplicates.
            let group = (process.is_some() && reflector.has_watched()).then(|| self.by_key.get(&reflector.key)).flatten();
            let together = group.map_or(1, |group| group.most_together(now));
            let row = ReflectorRow::of(reflector, process, self.servers.get(&reflector.key.upstream), now);
            let client_left = self.client_left(reflector);
            let polling = row.polling.map(|polling| if client_left { polling.of_one_that_left() } else { polling });
            ReflectorRow { client_left, polling, duplicates: together.saturating_sub(1) as u64, ..row }
        };
        worst.into_iter().map(row).collect()
    }

    /// The clients whose requests took longest in total, the longest first; at most `most`. Also the number of those left out.
    pub fn clients(&self, most: usize) -> (Vec<ClientRow>, u64) {
        (self.clients.rows(most), self.clients.number().saturating_sub(most) as u64)
    }

    /// Number of stuck reflectors with connected clients.
    pub fn stuck(&self) -> u64 {
        self.known.values().filter(|reflector| reflector.is_stuck() && !self.client_left(reflector)).count() as u64
    }

    /// Adds its moments and the evidence of its last relist to `row`.
    pub fn add_detail(&self, row: &mut ReflectorRow) {
        if let Some(reflector) = self.known.get(&row.reflector) {
            row.last_relist.clone_from(&reflector.last_relist);
            row.timeline = reflector.timeline.moments();
            row.timeline_dropped = reflector.timeline.dropped();
        }
    }

    /// How long clients wait for their own writes to arrive on their watches, the slowest first.
    pub fn propagation(&self) -> Vec<PropagationRow> {
        self.propagation.rows()
    }

    /// Clients with a rate limit of their own.
    pub fn rate_limits(&self) -> Vec<RateLimit> {
        self.pacing.limits()
    }

    /// Clients that get objects again and again, as of `now`.
    pub fn get_pollers(&self, now: Timestamp) -> Vec<GetPoller> {
        self.gets.pollers(now)
    }

    /// Data that was dropped to keep the bounds.
    pub const fn missed(&self) -> ReflectorsMissed {
        ReflectorsMissed {
            own_writes: self.propagation.forgotten(),
            rate_limits: self.pacing.forgotten(),
            gets: self.gets.forgotten(),
            clients: self.clients.forgotten(),
            ..self.missed
        }
    }

    fn client_left(&self, reflector: &Reflector) -> bool {
        self.clients.get(reflector.key.client).is_none_or(|client| client.open_connections == 0)
    }

    /// When its client disconnected; `None` while it is connected. The zero timestamp for a client that was dropped.
    pub(super) fn left(&self, reflector: &Reflector) -> Option<Timestamp> {
        self.clients.get(reflector.key.client).map_or(Some(Timestamp::default()), |client| client.left)
    }

    /// The labels of a reflector in the series: those of its first request. `None` if it was dropped.
    pub(crate) fn labels(&self, id: ReflectorId) -> Option<RequestLabels> {
        self.get(id).map(|reflector| reflector.labels)
    }

    /// The present stalls: labels of the reflector, cause, and length until `now` in microseconds.
    pub(crate) fn present_stalls(&self, now: Timestamp) -> impl Iterator<Item = (RequestLabels, Blockage, u64)> {
        self.known.values().filter_map(move |reflector| {
            let stalling = reflector.stalls.reported()?;
            Some((reflector.labels, stalling.by, microseconds(now.since(stalling.since))))
        })
    }

    pub(super) fn get(&self, id: ReflectorId) -> Option<&Reflector> {
        self.known.get(&id).map(Box::as_ref)
    }

    fn of(&mut self, exchange: ExchangeId) -> Option<&mut Reflector> {
        let id = self.of_exchange.get(&exchange)?;
        self.known.get_mut(id).map(Box::as_mut)
    }

    /// The reflector with `key` that makes this request: the best fit among those that are idle.
    fn find(&self, key: &Key, exchange: &Exchange, is_list: bool) -> Option<ReflectorId> {
        let options = &exchange.request.options;
        let fits = |id: ReflectorId| {
            let reflector = self.known.get(&id).filter(|reflector| !reflector.is_busy())?;
            let same_connection = reflector.connection == exchange.id.connection;
            let fit = if is_list { fit_of_list(reflector, options, same_connection)? } else { fit_of_watch(reflector, options)? };
            // Of equal fits, the one that was seen last wins, because the others may belong to clients that have left.
            Some((fit, same_connection, reflector.last_seen, Reverse(id)))
        };
        self.by_key.get(key)?.candidates(options.resource_version.revision()).filter_map(fits).max().map(|(.., Reverse(id))| id)
    }

    /// The latest reflector that made the requests of `key` in an earlier process of the same program, if that process has left.
    fn of_process_before(&self, key: &Key) -> Option<ReflectorId> {
        let before = self.clients.get(key.client)?.before?;
        self.clients.get(before)?.left?;
        self.by_key.get(&Key { client: before, ..key.clone() })?.candidates(None).next()
    }

    /// Lets a new reflector continue the futile watches of one in an earlier process.
    fn inherit(&mut self, before: Option<ReflectorId>, id: ReflectorId, exchange: &Exchange) {
        let Some(mut earlier) = before.and_then(|before| self.known.remove(&before)) else { return };
        if let Some(reflector) = self.known.get_mut(&id) {
            reflector.inherit_futile(&mut earlier, exchange);
        }
        self.known.insert(earlier.id, earlier);
    }

    fn add(&mut self, key: Key, exchange: &Exchange) -> Option<ReflectorId> {
        let id = ReflectorId(self.next);
        let mut reflector = Box::new(Reflector::new(id, key, exchange));
        let memory = reflector.memory();
        reflector.counted_memory = memory;
        while self.known.len() >= self.limits.reflectors || !self.memory.has_room(memory) {
            if !self.forget_some() {
                return None;
            }
        }
        self.next = self.next.saturating_add(1);
        self.by_key.entry(reflector.key.clone()).or_default().join(exchange.started);
        self.known.insert(id, reflector);
        self.memory.add(memory);
        Some(id)
    }

    /// Makes room by dropping a sixteenth of all reflectors, those that have been idle for longest. Returns whether any was
    /// dropped.
    fn forget_some(&mut self) -> bool {
        let mut idle: Vec<(Timestamp, ReflectorId)> = self
            .known
            .values()
            .filter(|reflector| !reflector.is_busy())
            .map(|reflector| (reflector.last_seen, reflector.id))
            .collect();
        idle.sort_unstable();
        idle.truncate((self.limits.reflectors.min(self.known.len()) / 16).max(1));
        for (_, id) in &idle {
            self.forget(*id);
            self.missed.forgotten = self.missed.forgotten.saturating_add(1);
        }
        !idle.is_empty()
    }

    fn forget(&mut self, id: ReflectorId) {
        let Some(reflector) = self.known.remove(&id) else { return };
        self.memory.remove(reflector.counted_memory);
        self.objects = self.objects.saturating_sub(reflector.kept_objects());
        if let Some(group) = self.by_key.get_mut(&reflector.key)
            && group.leave(id, reflector.place)
        {
            self.by_key.remove(&reflector.key);
        }
    }
}
