//! A reflector as plain data.

use std::collections::BTreeMap;

use serde::Serialize;

use super::clients::ClientId;
use super::identity::{ReflectorId, Representation};
use super::moment::Moment;
use super::polling::Polling;
use super::servers::Server;
use super::spells::{Spell, Trouble};
use super::state::{ClientAge, Form, ListsFrom, Reflector, State};
use super::told::ListTold;
use super::versions::Repeats;
use super::watch_end::WatchEnd;
use super::watching::Watching;
use crate::exchange::{Client, Shape};
use crate::k8s::ResourceVersion;
use crate::observation::{Blockage, Process};
use crate::time::{PerSecond, Timestamp, microseconds};

/// What a reflector is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReflectorState {
    /// It asks in vain for a revision that the server does not reach.
    Stuck,
    /// It lists, or tries to.
    Listing,
    /// It has a list and does not watch.
    Listed,
    /// Its watch is over, and nothing followed yet.
    Waiting,
    /// It watches, and has not read for a second or more: the server cannot send.
    Stalled,
    /// It watches.
    Watching,
}

/// A reflector, or a client that only lists or only watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReflectorRow {
    /// Its number.
    pub reflector: ReflectorId,
    /// The number of its client.
    pub client_id: ClientId,
    /// Its client.
    pub client: Client,
    /// The client's process, if it is one of this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// What it lists and watches.
    #[serde(flatten)]
    pub shape: Shape,
    /// Group and version in which it asks for it: `v1`, `apps/v1`.
    pub api_version: String,
    /// How much of each object it gets.
    pub representation: Representation,
    /// What its requests show of the client's age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<ClientAge>,
    /// What it is about.
    pub state: ReflectorState,
    /// Since when.
    pub since: Timestamp,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When it last asked for something or got something.
    pub last_seen: Timestamp,
    /// The newest revision that it was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<u64>,
    /// Of one that is stuck: the revision that the API server has, as it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_revision: Option<u64>,
    /// How far that is behind the newest revision seen of its resource, in revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// How far it is behind the newest revision seen of anything in the same etcd: a watch cache that begins anew begins there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_store: Option<u64>,
    /// Objects that it has; an estimate where [`Repeats::error`] says that not all are kept.
    pub objects: u64,
    /// Bytes of its last whole list.
    pub last_list_bytes: u64,
    /// When the last event about an object came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<Timestamp>,
    /// Events about objects, of late.
    #[serde(skip_serializing_if = "PerSecond::is_none")]
    pub events_per_second: PerSecond,
    /// The mean time between bookmarks of its watch, in microseconds; nothing before the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark_every_us: Option<u64>,
    /// When the last bookmark of its watch came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_bookmark: Option<Timestamp>,
    /// Lists of a revision below the one that it had.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub went_back: u64,
    /// What keeps the server from sending to it, where it has not read for a second or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled_by: Option<Blockage>,
    /// How often it had not read for a second or more, the present time not counted.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub stalls: u64,
    /// How long it has not read, all together and until now, in microseconds.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub stalled_us: u64,
    /// Watches that the server ended early in or after such a time.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub ended_stalled: u64,
    /// The most watches in a row that ended within a second, before any event.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub short_watches: u64,
    /// Lists in place of streaming lists that were refused.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub fallbacks: u64,
    /// Requests for lists, pages and repetitions included.
    pub list_requests: u64,
    /// Requests for watches.
    pub watch_requests: u64,
    /// Watches that went on where the one before had ended.
    pub resumes: u64,
    /// Lists although it had one.
    pub relists: u64,
    /// Lists of a client that had forgotten what it had: it was started anew, or began from nothing.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub beginnings: u64,
    /// Whether its last five relists were within ten minutes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub relists_in_a_loop: bool,
    /// How many others of its process listed or watched the same at the same time, for three seconds and more; nought where the process is not known.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub duplicates: u64,
    /// Whether its client has no connection any more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub client_left: bool,
    /// The same by cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub causes: BTreeMap<String, u64>,
    /// Events about objects.
    pub events: u64,
    /// Bookmarks.
    pub bookmarks: u64,
    /// Items of whole lists.
    pub items: u64,
    /// Those of them that came as events, of watches that begin with all objects.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub streamed_items: u64,
    /// Bytes of all answers that are over.
    pub bytes: u64,
    /// Objects that came, and those that the reflector had in the very version.
    pub repeats: Repeats,
    /// What was wrong with it, and when.
    #[serde(skip)]
    pub spells: BTreeMap<Trouble, Spell>,
    /// The revision at which it is stuck, or was last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck_at: Option<u64>,
    /// From which revision it last listed.
    #[serde(skip)]
    pub lists_from: Option<ListsFrom>,
    /// How it polls; nothing if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polling: Option<Polling>,
    /// How its last watch ended; nothing while none has, or a list followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_end: Option<WatchEnd>,
    /// Its last relist, with the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_relist: Option<Box<ListTold>>,
    /// What it did, the latest moments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
    /// How many moments before them are not kept.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub timeline_dropped: u64,
}

impl ReflectorRow {
    pub(super) fn of(reflector: &Reflector, process: Option<Process>, server: Option<&Server>, now: Timestamp) -> Self {
        let counts = &reflector.counts;
        let stalling = reflector.stalling.filter(|stalling| stalling.told);
        let watching = watching(reflector);
        let newest = server.and_then(|server| server.newest(&reflector.key.resource));
        Self {
            reflector: reflector.id,
            client_id: reflector.key.client,
            client: reflector.client.clone(),
            process,
            shape: reflector.shape.clone(),
            api_version: reflector.key.resource.api_version(),
            representation: reflector.key.representation,
            age: reflector.age,
            state: state(reflector),
            since: since(reflector),
            first_seen: reflector.first_seen,
            last_seen: reflector.last_seen,
            resource_version: reflector.revision,
            server_revision: reflector.stuck.filter(|stuck| stuck.told).and_then(|stuck| stuck.current),
            behind: behind(newest, reflector.revision),
            behind_store: behind(server.and_then(|server| server.newest_beside(&reflector.key.resource)), reflector.revision),
            objects: reflector.objects.estimated_len(),
            last_list_bytes: counts.last_list_bytes,
            last_event: reflector.last_event,
            events_per_second: PerSecond::rounded(reflector.events_rate.per_second(now)),
            last_bookmark: watching.and_then(|watching| watching.last_bookmark),
            bookmark_every_us: watching.and_then(Watching::bookmark_every).map(microseconds),
            went_back: counts.went_back,
            stalled_by: stalling.map(|stalling| stalling.by),
            stalls: counts.stalls,
            stalled_us: counts.stalled_us.saturating_add(stalling.map_or(0, |stalling| microseconds(now.since(stalling.since)))),
            ended_stalled: counts.ended_stalled,
            short_watches: counts.most_short_watches,
            fallbacks: counts.fallbacks,
            list_requests: counts.list_requests,
            watch_requests: counts.watch_requests,
            resumes: counts.resumes,
            relists: counts.relists,
            beginnings: counts.beginnings,
            relists_in_a_loop: counts.is_loop(),
            duplicates: 0,
            client_left: false,
            causes: counts.causes.iter().map(|(cause, number)| (cause.id(), *number)).collect(),
            events: counts.events,
            bookmarks: counts.bookmarks,
            items: counts.items,
            streamed_items: counts.streamed_items,
            bytes: counts.bytes,
            repeats: counts.repeats.repeats(counts.repeats_at_least),
            spells: reflector.spells_at(now),
            stuck_at: reflector.last_stuck_at,
            lists_from: reflector.last_form.map(Form::lists_from),
            polling: reflector.polls.polling(now),
            last_end: reflector.past_watch.as_ref().map(|watch| watch.end),
            last_relist: None,
            timeline: Vec::new(),
            timeline_dropped: 0,
        }
    }

    /// Where there is one API server, nobody needs to hear its name.
    pub fn drop_upstream_name(&mut self) {
        self.shape.upstream = None;
        if let Some(relist) = &mut self.last_relist {
            relist.shape.upstream = None;
        }
    }

    /// Whether it watches `events`, for which the API server has no watch cache.
    pub fn is_of_events(&self) -> bool {
        matches!(self.shape.resource.as_str(), "events" | "events.events.k8s.io")
    }

    /// Whether a watch of it is open.
    pub const fn is_watching(&self) -> bool {
        matches!(self.state, ReflectorState::Watching | ReflectorState::Stalled)
    }

    /// Whether it is a reflector, or something like it: it has watched.
    pub const fn has_watched(&self) -> bool {
        self.watch_requests > 0
    }
}

fn behind(newest: Option<u64>, own: Option<u64>) -> Option<u64> {
    newest.zip(own).map(|(newest, own)| newest.saturating_sub(own))
}

fn watching(reflector: &Reflector) -> Option<&Watching> {
    match &reflector.state {
        State::Watching(watching) | State::Listing(_, Some(watching)) => Some(watching),
        State::Listing(_, None) | State::Listed | State::Waiting => None,
    }
}

fn state(reflector: &Reflector) -> ReflectorState {
    match &reflector.state {
        State::Listing(listing, _) if reflector.is_stuck() && listing.options.resource_version != ResourceVersion::Unset => {
            ReflectorState::Stuck
        }
        State::Listing(..) => ReflectorState::Listing,
        State::Listed => ReflectorState::Listed,
        State::Watching(_) if reflector.stalling.is_some_and(|stalling| stalling.told) => ReflectorState::Stalled,
        State::Watching(_) => ReflectorState::Watching,
        State::Waiting => ReflectorState::Waiting,
    }
}

fn since(reflector: &Reflector) -> Timestamp {
    match (&reflector.state, &reflector.stuck) {
        (State::Listing(..), Some(stuck)) if reflector.is_stuck() => stuck.since,
        (State::Listing(listing, _), _) => listing.began,
        (State::Watching(watching), _) => {
            let stalled = reflector.stalling.filter(|stalling| stalling.told).map(|stalling| stalling.since);
            stalled.or(watching.opened).unwrap_or(watching.asked)
        }
        (State::Listed, _) => reflector.revision_since,
        (State::Waiting, _) => reflector.past_watch.as_ref().map_or(reflector.last_seen, |watch| watch.ended),
    }
}
