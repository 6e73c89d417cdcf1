//! All reflectors: which request belongs to which, and bounds for their number and memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use super::alarms::{Alarms, Purpose};
use super::clients::Clients;
use super::identity::{Key, ReflectorId};
use super::kin::Kin;
use super::limits::ReflectorLimits;
use super::pacing::{Pacing, RateLimit};
use super::propagation::{Propagation, PropagationRow};
use super::record::ReflectorRow;
use super::servers::{Servers, Shown};
use super::state::{Context, Form, Reflector, Room, State};
use super::told::Told;
use super::watch_end::WatchEnd;
use crate::exchange::{Exchange, MemoryUse};
use crate::k8s::{Continue, ListOptions, ResourceVersion, Verb};
use crate::observation::{Body, ConnectionId, ExchangeId, ListenerState, Process, UpstreamName};
use crate::time::Timestamp;

/// What fell out of the tables of reflectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ReflectorsMissed {
    /// Reflectors that were forgotten for others.
    pub forgotten: u64,
    /// Requests that belong to no reflector, because there was no room for another one.
    pub requests: u64,
    /// How often half of the versions of a reflector were dropped, so that its spurious updates are estimated.
    pub thinned: u64,
    /// Own writes that were not waited for any longer, and clients whose times of own writes were forgotten, for others.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub own_writes: u64,
    /// Clients that were forgotten for others, so that their own limit of requests a second may not be found.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub rate_limits: u64,
}

impl ReflectorsMissed {
    /// Whether nothing did.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// All reflectors.
#[derive(Debug)]
pub struct Reflectors {
    limits: ReflectorLimits,
    clients: Clients,
    servers: Servers,
    by_key: BTreeMap<Key, Kin>,
    known: BTreeMap<ReflectorId, Box<Reflector>>,
    memory: MemoryUse,
    of_exchange: BTreeMap<ExchangeId, ReflectorId>,
    /// Versions of objects that all of them keep.
    objects: usize,
    /// When what is under way will have shown what it is.
    alarms: Alarms,
    propagation: Propagation,
    pacing: Pacing,
    next: u64,
    missed: ReflectorsMissed,
}

impl Reflectors {
    /// No reflectors yet.
    pub const fn new(limits: ReflectorLimits) -> Self {
        Self {
            limits,
            clients: Clients::new(&limits),
            servers: Servers::new(limits.servers, limits.resources),
            by_key: BTreeMap::new(),
            known: BTreeMap::new(),
            memory: MemoryUse::of(limits.memory),
            of_exchange: BTreeMap::new(),
            objects: 0,
            alarms: Alarms::new(limits.reflectors.saturating_mul(2)),
            propagation: Propagation::new(),
            pacing: Pacing::new(),
            next: 1,
            missed: ReflectorsMissed { forgotten: 0, requests: 0, thinned: 0, own_writes: 0, rate_limits: 0 },
        }
    }

    /// A client connected.
    pub fn connected(&mut self, connection: ConnectionId, process: Option<Process>) {
        self.clients.connected(connection, process);
    }

    /// A connection is over.
    pub fn disconnected(&mut self, connection: ConnectionId, at: Timestamp) {
        self.clients.disconnected(connection, at);
    }

    /// An API server began or ceased to refuse.
    pub fn listener(&mut self, upstream: &UpstreamName, state: ListenerState, at: Timestamp) {
        self.servers.listener(upstream, state, at);
    }

    /// A request began.
    pub fn requested(&mut self, exchange: &Exchange, told: &mut dyn FnMut(Told)) {
        let client = self.clients.of(exchange.id.connection, &exchange.request, exchange.started);
        if let Some(client) = client {
            self.pacing.asked(client, exchange);
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
        let Some(id) = self.find(&key, exchange, is_list).or_else(|| self.add(key, exchange)) else {
            self.missed.requests = self.missed.requests.saturating_add(1);
            return;
        };
        self.of_exchange.insert(exchange.id, id);
        let known = self.clients.get(client).filter(|client| client.process.is_none());
        let client_returned = known.and_then(|client| client.returned);
        let context = Context { server: self.servers.get(&exchange.upstream), client_returned };
        let Some(reflector) = self.known.get_mut(&id) else { return };
        let kept = reflector.kept_objects();
        if is_list {
            reflector.lists(exchange, &context, told);
        } else {
            reflector.watches(exchange);
        }
        reflector.connection = exchange.id.connection;
        if let Some(kin) = self.by_key.get_mut(&reflector.key) {
            kin.begin(id, reflector.place.take(), exchange.started);
        }
        let now = reflector.kept_objects();
        self.objects = (self.objects + now).saturating_sub(kept);
    }

    /// The head of an answer came.
    pub fn answered(&mut self, exchange: &Exchange, at: Timestamp, told: &mut dyn FnMut(Told)) {
        let Some(reflector) = self.of(exchange.id) else { return };
        reflector.answered(exchange, at, told);
        if reflector.resuming.is_some() {
            let due = at.plus(Duration::from_nanos(WatchEnd::VERY_SHORT_NANOS));
            let id = reflector.id;
            self.alarms.set(due, id, Purpose::Resume);
        } else if let Some(due) = reflector.state_due(at) {
            let id = reflector.id;
            self.alarms.set(due, id, Purpose::State);
        }
    }

    /// What a request of a reflector delivers has to wait for its reader, or can go on.
    pub fn blockage_changed(&mut self, exchange: &Exchange, at: Timestamp, told: &mut dyn FnMut(Told)) {
        let Some(reflector) = self.of(exchange.id) else { return };
        let before = reflector.stalling;
        reflector.blockage_changed(exchange, at, told);
        let (id, after) = (reflector.id, reflector.stalling);
        if let Some(before) = before {
            self.alarms.unset(before.due(), id, Purpose::Stall);
        }
        if let Some(after) = after.filter(|stalling| !stalling.told) {
            self.alarms.set(after.due(), id, Purpose::Stall);
        }
    }

    /// Time has come to `at`.
    pub fn pass(&mut self, at: Timestamp, told: &mut dyn FnMut(Told)) {
        while let Some(id) = self.alarms.next(at) {
            if let Some(reflector) = self.known.get_mut(&id) {
                let kept = reflector.kept_objects();
                reflector.pass(at, told);
                self.objects = (self.objects + reflector.kept_objects()).saturating_sub(kept);
                if let Some(due) = reflector.state_due(at) {
                    self.alarms.set(due, id, Purpose::State);
                }
            }
        }
    }

    /// Whether something will be told once time has passed.
    pub fn awaits_time(&self) -> bool {
        !self.alarms.is_empty()
    }

    /// A part of a body was understood.
    pub fn understood(&mut self, exchange: &Exchange, at: Timestamp, body: &Body, told: &mut dyn FnMut(Told)) {
        let options = &exchange.request.options;
        if let (Some(revision), Some(resource)) = (body.newest_revision(options.resource_version), exchange.request.resource()) {
            let is_newest = matches!(body, Body::List(_)) && options.asks_for_newest();
            let shown = Shown { revision, at, newest_at: is_newest.then_some(exchange.started) };
            self.servers.shown(&exchange.upstream, resource, shown);
        }
        let (limit, share) = (self.limits.objects, self.limits.objects / self.limits.reflectors.max(1));
        let all = self.objects;
        let Some(reflector) = self.of(exchange.id) else { return };
        let kept = reflector.kept_objects();
        // It may have what the others leave, and its share in any case.
        let mut room = Room { versions: (limit + kept).saturating_sub(all).max(share), exceeded: 0 };
        reflector.understood(exchange, at, body, &mut room, told);
        let (client, now) = (reflector.key.client, reflector.kept_objects());
        self.objects = (self.objects + now).saturating_sub(kept);
        self.missed.thinned = self.missed.thinned.saturating_add(room.exceeded);
        if let Body::Events(frames) = body {
            self.propagation.delivered(client, exchange, frames, at);
        }
    }

    /// A request is over.
    pub fn ended(&mut self, exchange: &Exchange, told: &mut dyn FnMut(Told)) {
        if Propagation::is_write(exchange) {
            if let Some(client) = self.clients.on(exchange.id.connection) {
                self.propagation.written(client, exchange);
            }
            return;
        }
        let Some(reflector) = self.of(exchange.id) else { return };
        let kept = reflector.kept_objects();
        reflector.ended(exchange, told);
        let now = reflector.kept_objects();
        self.objects = (self.objects + now).saturating_sub(kept);
        let id = self.of_exchange.remove(&exchange.id);
        let Some(reflector) = id.and_then(|id| self.known.get_mut(&id)).filter(|reflector| !reflector.is_busy()) else { return };
        let place = (reflector.last_seen, reflector.revision);
        if let Some(kin) = self.by_key.get_mut(&reflector.key) {
            kin.take_up(reflector.id, reflector.place.replace(place));
            kin.rest(reflector.id, place);
        }
    }

    /// Nothing is known of what happened until now: a capture lacks it.
    pub fn lose_sight(&mut self, at: Timestamp) {
        self.known.values_mut().for_each(|reflector| reflector.lose_sight(at));
    }

    /// All of them, without what they did one by one: what is stuck, then what listed again most often, then what cost most.
    pub fn rows(&self, now: Timestamp) -> Vec<ReflectorRow> {
        let mut worst: Vec<&Reflector> = self.known.values().map(Box::as_ref).collect();
        worst.sort_by_key(|reflector| {
            let counts = &reflector.counts;
            (Reverse((reflector.is_stuck(), counts.relists, counts.bytes)), reflector.id)
        });
        let row = |reflector: &Reflector| {
            let client = self.clients.get(reflector.key.client);
            let process = client.and_then(|client| client.process.clone());
            // Looked up for those only of whom it is told.
            let kin = (process.is_some() && reflector.has_watched()).then(|| self.by_key.get(&reflector.key)).flatten();
            let together = kin.map_or(1, |kin| kin.most_together(now));
            let row = ReflectorRow::of(reflector, process, self.servers.get(&reflector.key.upstream), now);
            let client_left = self.client_left(reflector);
            let polling = row.polling.map(|polling| if client_left { polling.of_one_that_left() } else { polling });
            ReflectorRow { client_left, polling, duplicates: together.saturating_sub(1) as u64, ..row }
        };
        worst.into_iter().map(row).collect()
    }

    /// How many are stuck, of clients that are connected.
    pub fn stuck(&self) -> u64 {
        self.known.values().filter(|reflector| reflector.is_stuck() && !self.client_left(reflector)).count() as u64
    }

    /// Adds to `row` what its reflector did, and the evidence of its last relist.
    pub fn add_detail(&self, row: &mut ReflectorRow) {
        if let Some(reflector) = self.known.get(&row.reflector) {
            row.last_relist.clone_from(&reflector.last_relist);
            row.timeline = reflector.timeline.moments();
            row.timeline_dropped = reflector.timeline.dropped();
        }
    }

    /// How long clients wait for their own writes to come back, the slowest first.
    pub fn propagation(&self) -> Vec<PropagationRow> {
        self.propagation.rows()
    }

    /// Clients that hold their own requests back.
    pub fn rate_limits(&self) -> Vec<RateLimit> {
        self.pacing.limits()
    }

    /// What fell out.
    pub const fn missed(&self) -> ReflectorsMissed {
        ReflectorsMissed { own_writes: self.propagation.forgotten(), rate_limits: self.pacing.forgotten(), ..self.missed }
    }

    fn client_left(&self, reflector: &Reflector) -> bool {
        self.clients.get(reflector.key.client).is_none_or(|client| client.open_connections == 0)
    }

    /// When its client left; nothing while it is there. Of a client that was forgotten that is long ago.
    pub(super) fn left(&self, reflector: &Reflector) -> Option<Timestamp> {
        self.clients.get(reflector.key.client).map_or(Some(Timestamp::default()), |client| client.left)
    }

    pub(super) fn get(&self, id: ReflectorId) -> Option<&Reflector> {
        self.known.get(&id).map(Box::as_ref)
    }

    fn of(&mut self, exchange: ExchangeId) -> Option<&mut Reflector> {
        let id = self.of_exchange.get(&exchange)?;
        self.known.get_mut(id).map(Box::as_mut)
    }

    /// Which reflector of those with `key` makes a request: of those that can be expected to, the one that fits best.
    fn find(&self, key: &Key, exchange: &Exchange, is_list: bool) -> Option<ReflectorId> {
        let options = &exchange.request.options;
        let fits = |id: ReflectorId| {
            let reflector = self.known.get(&id).filter(|reflector| !reflector.is_busy())?;
            let same_connection = reflector.connection == exchange.id.connection;
            let fit = if is_list { fit_of_list(reflector, options, same_connection)? } else { fit_of_watch(reflector, options)? };
            // Of equals the one that was there last: others may be of clients that are gone.
            Some((fit, same_connection, reflector.last_seen, Reverse(id)))
        };
        self.by_key.get(key)?.candidates(options.resource_version.revision()).filter_map(fits).max().map(|(.., Reverse(id))| id)
    }

    fn add(&mut self, key: Key, exchange: &Exchange) -> Option<ReflectorId> {
        let id = ReflectorId(self.next);
        let reflector = Box::new(Reflector::new(id, key, exchange));
        let memory = reflector.memory();
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

    /// Makes room by dropping those that have done nothing for longest, a sixteenth of all that there may be or are; whether there were any.
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
        self.memory.remove(reflector.memory());
        self.objects = self.objects.saturating_sub(reflector.kept_objects());
        if let Some(kin) = self.by_key.get_mut(&reflector.key)
            && kin.leave(id, reflector.place)
        {
            self.by_key.remove(&reflector.key);
        }
    }
}

/// How well a list fits what a reflector did before; nothing if it does not at all. Greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// The very request that failed, or the page that was announced.
    is_expected: bool,
    names_its_revision: bool,
    /// It never watched, and listed in this form before.
    is_poller: bool,
    likely: u8,
}

fn fit_of_list(reflector: &Reflector, options: &ListOptions, same_connection: bool) -> Option<Fit> {
    let is_page = options.continue_token != Continue::Unset;
    let names_its_revision =
        matches!(options.resource_version, ResourceVersion::At(revision) if reflector.revision == Some(revision));
    let is_poller = !options.watch && !reflector.has_watched() && reflector.last_form == Some(Form::of(options));
    // Who polls and watches without a revision does two things at once.
    let is_anothers = options.watch && !options.ends_state_with_bookmark() && reflector.polls.again();
    let fit = |is_expected, likely| Some(Fit { is_expected, names_its_revision, is_poller, likely });
    match &reflector.state {
        State::Listing(listing, _) if is_page => {
            (listing.expects_page() && listing.announces(&options.continue_token)).then(|| fit(true, 4))?
        }
        _ if is_page => None,
        State::Listing(listing, _) if listing.failure.is_some() => fit(listing.options == *options, 3),
        State::Waiting if reflector.client_may_be_gone() => fit(false, 1),
        State::Waiting => fit(false, 2),
        State::Listed if is_anothers => None,
        State::Listed => fit(false, 1),
        // It had enough of the pages, and begins again.
        State::Listing(..) if is_poller && same_connection => fit(false, 0),
        State::Listing(..) | State::Watching(_) => None,
    }
}

fn fit_of_watch(reflector: &Reflector, options: &ListOptions) -> Option<Fit> {
    let is_waiting = matches!(reflector.state, State::Waiting);
    if !is_waiting && !matches!(reflector.state, State::Listed) {
        return None;
    }
    let (names_its_revision, likely) = match (options.resource_version, reflector.revision) {
        (ResourceVersion::At(from), Some(own)) if from == own => (true, 3),
        // What was under way when the watch broke did not reach the client.
        (ResourceVersion::At(from), Some(own)) if from < own => (false, 2),
        // Revisions that are no numbers cannot be compared here.
        (ResourceVersion::At(_), _) | (ResourceVersion::Invalid, None) => (false, 1),
        // A client without a list.
        (ResourceVersion::Unset | ResourceVersion::Any | ResourceVersion::Invalid, _) => {
            if is_waiting {
                (false, 1)
            } else {
                return None;
            }
        }
    };
    let gone = u8::from(reflector.client_may_be_gone());
    Some(Fit { is_expected: is_waiting, names_its_revision, is_poller: false, likely: 2 * likely - gone })
}
