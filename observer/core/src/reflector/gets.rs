//! Clients that get objects again and again instead of watching them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::polling::{PollClock, Polling, PollingKind};
use crate::exchange::{Client, ClientId, Exchange, Shape};
use crate::k8s::{self, RequestInfo, Verb};
use crate::thresholds::{BUSY_GETS, BUSY_OVER, MOST_WAITS};
use crate::time::Timestamp;

/// Bound for the objects that are followed, and for the pairs of client and resource.
const MAX_FOLLOWED: usize = 1_024;
/// An object that was not asked for during this time makes room for another one.
const IDLE: Duration = Duration::from_mins(5);
/// A pause of this length ends a series of gets that followed each other without a pause.
const PAUSE: Duration = Duration::from_secs(5);
/// Minimum time between two attempts to make room.
const MAKE_ROOM_EVERY: Duration = Duration::from_secs(10);

/// A client that gets objects of one resource again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GetPoller {
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource and objects.
    pub shape: Shape,
    /// How it gets them.
    pub pace: GetPace,
}

/// How a client gets objects again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GetPace {
    /// One object, at even intervals or without a pause.
    OneObject(Polling),
    /// Objects of one resource, many each second.
    Many {
        /// Number of gets in all busy windows.
        gets: u64,
        /// Highest number of gets per second, averaged over a window of 30 s.
        per_second: u64,
        /// Start of the first busy window, and end of the last one.
        between: (Timestamp, Timestamp),
    },
}

/// All gets that are followed.
#[derive(Debug)]
pub(super) struct Gets {
    objects: BTreeMap<(ClientId, ObjectKey), Object>,
    resources: BTreeMap<(ClientId, String), Resource>,
    made_room: Option<Timestamp>,
    /// No window of a resource without a busy one began before this time.
    oldest: Timestamp,
    forgotten: u64,
    /// The keys of the present request. They keep their room, since each get has some.
    object: (ClientId, ObjectKey),
    resource: (ClientId, String),
}

/// Resource, namespace and name of an object.
type ObjectKey = (String, String, String);

/// The gets of one object by one client.
#[derive(Debug)]
struct Object {
    client: Client,
    shape: Shape,
    clock: PollClock,
    /// Whether the client also writes the object: leader election and controllers read before they write.
    is_written: bool,
    last: Timestamp,
}

/// The gets of one resource by one client.
#[derive(Debug)]
struct Resource {
    client: Client,
    shape: Shape,
    /// Start of the present window, and the gets and writes in it.
    began: Timestamp,
    gets: u64,
    writes: u64,
    /// Number of seconds in the window during which a get was requested, and the last of these seconds.
    seconds: u64,
    last_second: u64,
    busy: Option<GetPace>,
}

impl Gets {
    pub(super) const fn new() -> Self {
        const NO_CLIENT: ClientId = ClientId(0);
        Self {
            objects: BTreeMap::new(),
            resources: BTreeMap::new(),
            made_room: None,
            oldest: Timestamp::from_nanos(0),
            forgotten: 0,
            object: (NO_CLIENT, (String::new(), String::new(), String::new())),
            resource: (NO_CLIENT, String::new()),
        }
    }

    /// Notes a request.
    pub(super) fn asked(&mut self, client: ClientId, exchange: &Exchange) {
        let Some(info) = exchange.request.info.as_ref().filter(|info| info.resource.is_some()) else { return };
        match info.verb {
            Verb::Get
                if info.subresource.is_empty() && info.resource.as_ref().is_none_or(|resource| resource.resource != "leases") =>
            {
                self.point_at(client, exchange, info);
                self.note_of_resource(exchange);
                self.note_of_object(exchange);
            }
            Verb::Update | Verb::Patch | Verb::Delete => {
                self.point_at(client, exchange, info);
                if let Some(resource) = self.resources.get_mut(&self.resource) {
                    resource.writes = resource.writes.saturating_add(1);
                }
                if let Some(object) = self.objects.get_mut(&self.object) {
                    object.is_written = true;
                }
            }
            Verb::Get | Verb::List | Verb::Watch | Verb::Create | Verb::DeleteCollection | Verb::Proxy | Verb::Other => {}
        }
    }

    /// Sets the keys to those of the object of a request.
    fn point_at(&mut self, client: ClientId, exchange: &Exchange, info: &RequestInfo) {
        let Some(k8s::Resource { group, resource, .. }) = &info.resource else { return };
        let (of_client, name) = &mut self.resource;
        *of_client = client;
        name.clear();
        name.push_str(resource);
        if !group.is_empty() {
            name.extend([".", group]);
        }
        name.extend([" ", &exchange.upstream.0]);
        let (of_client, (of_resource, of_namespace, of_name)) = &mut self.object;
        *of_client = client;
        of_resource.clone_from(name);
        of_namespace.clone_from(&info.namespace);
        of_name.clone_from(&info.name);
    }

    fn note_of_object(&mut self, exchange: &Exchange) {
        let at = exchange.started;
        if !self.objects.contains_key(&self.object) {
            if !self.has_room_for_object(at) {
                self.forgotten = self.forgotten.saturating_add(1);
                return;
            }
            let (client, shape) = (Client::of(exchange), Shape::watched(exchange));
            let object = Object { client, shape, clock: PollClock::default(), is_written: false, last: at };
            self.objects.insert(self.object.clone(), object);
        }
        let Some(object) = self.objects.get_mut(&self.object) else { return };
        // Gets without a pause are a series only until they pause.
        let has_paused = at.since(object.last) > PAUSE;
        if has_paused && object.clock.polling(at).is_some_and(|polling| polling.kind == PollingKind::HotLoop) {
            object.clock = PollClock::default();
        }
        object.last = at;
        object.clock.list(at);
        object.clock.note_complete();
    }

    fn has_room_for_object(&mut self, at: Timestamp) -> bool {
        if self.objects.len() >= MAX_FOLLOWED && self.made_room.is_none_or(|before| at.since(before) >= MAKE_ROOM_EVERY) {
            self.made_room = Some(at);
            self.objects.retain(|_, object| at.since(object.last) < IDLE);
        }
        self.objects.len() < MAX_FOLLOWED
    }

    fn note_of_resource(&mut self, exchange: &Exchange) {
        let at = exchange.started;
        if !self.resources.contains_key(&self.resource) {
            if !self.has_room_for_resource(at) {
                self.forgotten = self.forgotten.saturating_add(1);
                return;
            }
            let shape = Shape { scope: None, options: String::new(), ..Shape::of(exchange) };
            self.resources.insert(self.resource.clone(), Resource::of(Client::of(exchange), shape, at));
            self.oldest = self.oldest.min(at);
        }
        if let Some(resource) = self.resources.get_mut(&self.resource) {
            resource.note_get(at);
        }
    }

    fn has_room_for_resource(&mut self, at: Timestamp) -> bool {
        if self.resources.len() >= MAX_FOLLOWED && at.since(self.oldest) >= IDLE {
            self.resources.retain(|_, resource| resource.busy.is_some() || at.since(resource.began) < IDLE);
            let idle = self.resources.values().filter(|resource| resource.busy.is_none());
            self.oldest = idle.map(|resource| resource.began).min().unwrap_or(at);
        }
        self.resources.len() < MAX_FOLLOWED
    }

    /// The clients that get objects again and again, as of `now`.
    pub(super) fn pollers(&self, now: Timestamp) -> Vec<GetPoller> {
        let objects = self.objects.values().filter(|object| !object.is_written).filter_map(|object| {
            let polling = object.clock.polling(now)?;
            let is_one = match polling.kind {
                PollingKind::Poller => true,
                PollingKind::Polls => polling.lasted() > MOST_WAITS,
                PollingKind::HotLoop => polling.lasted() >= BUSY_OVER,
                PollingKind::Wait => false,
            };
            let Object { client, shape, .. } = object;
            is_one.then(|| GetPoller { client: client.clone(), shape: shape.clone(), pace: GetPace::OneObject(polling) })
        });
        let resources = self.resources.values().filter_map(|resource| {
            let Resource { client, shape, .. } = resource;
            Some(GetPoller { client: client.clone(), shape: shape.clone(), pace: resource.busy? })
        });
        resources.chain(objects).collect()
    }

    /// Number of gets that were not followed, for lack of room.
    pub(super) const fn forgotten(&self) -> u64 {
        self.forgotten
    }
}

impl Resource {
    fn of(client: Client, shape: Shape, at: Timestamp) -> Self {
        Self { client, shape, began: at, gets: 0, writes: 0, seconds: 0, last_second: u64::MAX, busy: None }
    }

    fn note_get(&mut self, at: Timestamp) {
        if at.since(self.began) >= BUSY_OVER {
            self.close_window();
            (self.began, self.gets, self.writes, self.seconds) = (at, 0, 0, 0);
        }
        self.gets = self.gets.saturating_add(1);
        let second = at.as_nanos() / 1_000_000_000;
        self.seconds = self.seconds.saturating_add(u64::from(second != self.last_second));
        self.last_second = second;
    }

    /// Ends a window of [`BUSY_OVER`].
    fn close_window(&mut self) {
        let per_second = self.gets / BUSY_OVER.as_secs();
        // A burst is no pace, and controllers read an object before they write it.
        let is_steady = self.seconds.saturating_mul(3) >= BUSY_OVER.as_secs().saturating_mul(2);
        if per_second < BUSY_GETS || !is_steady || self.writes.saturating_mul(2) > self.gets {
            return;
        }
        let until = self.began.plus(BUSY_OVER);
        let (gets, most, since) = match self.busy {
            Some(GetPace::Many { gets, per_second: most, between: (since, _) }) => (gets, most, since),
            Some(GetPace::OneObject(_)) | None => (0, 0, self.began),
        };
        self.busy =
            Some(GetPace::Many { gets: gets.saturating_add(self.gets), per_second: most.max(per_second), between: (since, until) });
    }
}
