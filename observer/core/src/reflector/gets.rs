//! Clients that get objects again and again instead of watching them.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clients::ClientId;
use super::polling::{PollClock, Polling, PollingKind};
use crate::exchange::{Client, Exchange, Shape};
use crate::k8s::Verb;
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
#[derive(Debug, Default)]
pub(super) struct Gets {
    objects: BTreeMap<(ClientId, ObjectKey), Object>,
    resources: BTreeMap<(ClientId, String), Resource>,
    made_room: Option<Timestamp>,
    forgotten: u64,
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
        Self { objects: BTreeMap::new(), resources: BTreeMap::new(), made_room: None, forgotten: 0 }
    }

    /// Notes a request.
    pub(super) fn asked(&mut self, client: ClientId, exchange: &Exchange) {
        let Some(info) = exchange.request.info.as_ref().filter(|info| info.resource.is_some()) else { return };
        let key = || {
            let resource = info.resource.as_ref().map(ToString::to_string).unwrap_or_default();
            (client, (format!("{resource} {}", exchange.upstream.0), info.namespace.clone(), info.name.clone()))
        };
        match info.verb {
            Verb::Get
                if info.subresource.is_empty() && info.resource.as_ref().is_none_or(|resource| resource.resource != "leases") =>
            {
                let key = key();
                self.note_of_resource((client, key.1.0.clone()), exchange);
                self.note_of_object(key, exchange);
            }
            Verb::Update | Verb::Patch | Verb::Delete => {
                let key = key();
                if let Some(resource) = self.resources.get_mut(&(client, key.1.0.clone())) {
                    resource.writes = resource.writes.saturating_add(1);
                }
                if let Some(object) = self.objects.get_mut(&key) {
                    object.is_written = true;
                }
            }
            Verb::Get | Verb::List | Verb::Watch | Verb::Create | Verb::DeleteCollection | Verb::Proxy | Verb::Other => {}
        }
    }

    fn note_of_object(&mut self, key: (ClientId, ObjectKey), exchange: &Exchange) {
        let at = exchange.started;
        if self.objects.len() >= MAX_FOLLOWED && !self.objects.contains_key(&key) {
            if self.made_room.is_none_or(|before| at.since(before) >= MAKE_ROOM_EVERY) {
                self.made_room = Some(at);
                self.objects.retain(|_, object| at.since(object.last) < IDLE);
            }
            if self.objects.len() >= MAX_FOLLOWED {
                self.forgotten = self.forgotten.saturating_add(1);
                return;
            }
        }
        let object = self.objects.entry(key).or_insert_with(|| Object {
            client: Client::of(exchange),
            shape: Shape::watched(exchange),
            clock: PollClock::default(),
            is_written: false,
            last: at,
        });
        // Gets without a pause are a series only until they pause.
        let is_hot = object.clock.polling(at).is_some_and(|polling| polling.kind == PollingKind::HotLoop);
        if is_hot && at.since(object.last) > PAUSE {
            object.clock = PollClock::default();
        }
        object.last = at;
        object.clock.list(at);
        object.clock.note_complete();
    }

    fn note_of_resource(&mut self, key: (ClientId, String), exchange: &Exchange) {
        let at = exchange.started;
        if self.resources.len() >= MAX_FOLLOWED && !self.resources.contains_key(&key) {
            self.resources.retain(|_, resource| resource.busy.is_some() || at.since(resource.began) < IDLE);
            if self.resources.len() >= MAX_FOLLOWED {
                self.forgotten = self.forgotten.saturating_add(1);
                return;
            }
        }
        let resource = self.resources.entry(key).or_insert_with(|| Resource {
            client: Client::of(exchange),
            shape: Shape { scope: None, options: String::new(), ..Shape::of(exchange) },
            began: at,
            gets: 0,
            writes: 0,
            seconds: 0,
            last_second: u64::MAX,
            busy: None,
        });
        if at.since(resource.began) >= BUSY_OVER {
            resource.close_window();
            (resource.began, resource.gets, resource.writes, resource.seconds) = (at, 0, 0, 0);
        }
        resource.gets = resource.gets.saturating_add(1);
        let second = at.as_nanos() / 1_000_000_000;
        resource.seconds = resource.seconds.saturating_add(u64::from(second != resource.last_second));
        resource.last_second = second;
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
