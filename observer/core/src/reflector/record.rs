//! A reflector as plain data, for snapshots and reports.

use std::collections::BTreeMap;

use serde::Serialize;

use super::cause::RelistCause;
use super::events::ListEvent;
use super::form::{Form, ListsFrom};
use super::identity::{ReflectorId, Representation};
use super::moment::Moment;
use super::polling::Polling;
use super::servers::Server;
use super::spells::{Spell, Trouble};
use super::state::{ClientAge, Reflector, State};
use super::troubles::TroubleEvidence;
use super::versions::Repeats;
use super::watch_end::WatchEnd;
use super::watching::Watching;
use crate::exchange::{Client, ClientId, Shape};
use crate::k8s::ResourceVersion;
use crate::observation::{Blockage, Process};
use crate::quantity::Amount;
use crate::time::{PerSecond, Timestamp, microseconds};

/// State of a reflector, as reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReflectorState {
    /// It repeatedly asks for a revision that the server does not reach.
    Stuck,
    /// It lists, or retries a list.
    Listing,
    /// It has a list and does not watch.
    Listed,
    /// Its watch ended or was refused, and no request followed.
    Waiting,
    /// It watches, but has not read for at least 1 s, so the server cannot send.
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
    /// The client, as its requests identify it.
    pub client: Client,
    /// The client's process; `None` if it is not on this machine or is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Resource, objects and options of its lists and watches.
    #[serde(flatten)]
    pub shape: Shape,
    /// Group and version of the resource in its requests: `v1`, `apps/v1`.
    pub api_version: String,
    /// How much of each object it gets.
    pub representation: Representation,
    /// The client's client-go release, inferred from its requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age: Option<ClientAge>,
    /// Its current state.
    pub state: ReflectorState,
    /// When this state began.
    pub since: Timestamp,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// When it last sent a request or received something.
    pub last_seen: Timestamp,
    /// The newest revision that it received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<u64>,
    /// The API server's own revision, from its last refusal; `None` unless the reflector is stuck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_revision: Option<u64>,
    /// How far `resource_version` is behind the newest revision seen of this resource, in revisions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<u64>,
    /// How far `resource_version` is behind the newest revision seen in the same etcd. A watch cache that is reset starts at that
    /// newest revision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_store: Option<u64>,
    /// Number of objects that it has; an estimate if [`Repeats::error`] is above 0.
    pub objects: Amount,
    /// Bytes of its last complete list.
    pub last_list_bytes: Amount,
    /// When the last event about an object arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event: Option<Timestamp>,
    /// Recent rate of events about objects.
    #[serde(skip_serializing_if = "PerSecond::is_none")]
    pub events_per_second: PerSecond,
    /// Mean time between bookmarks of the open watch, in microseconds; `None` before the second bookmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bookmark_every_us: Option<u64>,
    /// When the last bookmark of the open watch arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_bookmark: Option<Timestamp>,
    /// Number of lists with a lower revision than the reflector already had, without lists with `resourceVersion=0`.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub went_back: u64,
    /// The cause of its current stall; `None` unless it has not read for at least 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stalled_by: Option<Blockage>,
    /// Number of stalls of at least 1 s, without the current one.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub stalls: u64,
    /// Total time of its stalls in microseconds, the current one included.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub stalled_us: u64,
    /// Watches that the server ended early during or shortly after a stall.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub ended_stalled: u64,
    /// Watches that the server closed by force, because the client read too slowly, as the server's log shows.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub closed_by_force: u64,
    /// Highest number of consecutive watches that ended within a second, before any event.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub short_watches: u64,
    /// Lists that replaced refused streaming lists.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub fallbacks: u64,
    /// Requests for lists, including pages and retries.
    pub list_requests: u64,
    /// Requests for watches.
    pub watch_requests: u64,
    /// Watches that resumed from the last resource version.
    pub resumes: u64,
    /// Relists of a client that still had its state.
    pub relists: u64,
    /// Relists of a client that had lost its state: its process was restarted, or it rebuilt its informer.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub beginnings: u64,
    /// Whether its last five relists were within ten minutes.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub relists_in_a_loop: bool,
    /// Number of other reflectors of the same process that listed or watched the same objects at the same time, for at least 3 s.
    /// The number is 0 if the process is unknown.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub duplicates: u64,
    /// Whether its client has no open connection.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub client_left: bool,
    /// The cause of the relist that is under way; `None` if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relisting: Option<String>,
    /// Relists and beginnings by cause.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub causes: BTreeMap<String, u64>,
    /// Events about objects.
    pub events: Amount,
    /// Bookmarks received.
    pub bookmarks: Amount,
    /// Items of complete lists.
    pub items: Amount,
    /// The items among them that arrived as initial events of a watch.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub streamed_items: u64,
    /// Bytes of all responses that have ended.
    pub bytes: Amount,
    /// Objects received, and those among them that were unchanged since the last delivery.
    pub repeats: Repeats,
    /// Evidence of deaf watches, watches that are ahead of the server, futile watches, and lists that do not end.
    #[serde(flatten)]
    pub evidence: TroubleEvidence,
    /// Number of objects in its last complete list.
    pub listed_objects: Amount,
    /// Number of objects in its first complete list.
    #[serde(skip)]
    pub first_list_items: u64,
    /// When its initial list was complete; `None` if the initial list was not observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synced: Option<Timestamp>,
    /// Its troubles, with counts and times.
    #[serde(skip)]
    pub spells: BTreeMap<Trouble, Spell>,
    /// The revision at which it is stuck, or was last stuck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stuck_at: Option<u64>,
    /// The revision that its last list asked for.
    #[serde(skip)]
    pub lists_from: Option<ListsFrom>,
    /// How it polls; `None` if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polling: Option<Polling>,
    /// How its last watch ended; `None` before the first end, and after a later list or resume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_end: Option<WatchEnd>,
    /// Its last relist, with the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_relist: Option<Box<ListEvent>>,
    /// Its latest moments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
    /// Number of earlier moments that were dropped.
    #[serde(skip_serializing_if = "crate::left_out::is_zero")]
    pub timeline_dropped: u64,
}

impl ReflectorRow {
    pub(super) fn of(reflector: &Reflector, process: Option<Process>, server: Option<&Server>, now: Timestamp) -> Self {
        let counts = reflector.counts.sums();
        let amount = |number| reflector.counts.amount(number);
        let stalling = reflector.stalls.reported();
        let watching = watching(reflector);
        let newest = server.and_then(|server| server.newest(&reflector.key.resource));
        // A reflector that waits for the server to reach its revision is ahead of it.
        let own = reflector.revision.filter(|_| !reflector.is_stuck());
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
            server_revision: reflector.stuck.filter(|stuck| stuck.reported).and_then(|stuck| stuck.current),
            behind: behind(newest, own),
            behind_store: behind(server.and_then(|server| server.newest_beside(&reflector.key.resource)), own),
            objects: amount(reflector.objects.estimated_len()),
            last_list_bytes: amount(counts.last_list_bytes),
            last_event: reflector.last_event,
            events_per_second: PerSecond::rounded(reflector.events_rate.per_second(now)),
            last_bookmark: watching.and_then(|watching| watching.last_bookmark),
            bookmark_every_us: watching.and_then(Watching::bookmark_every).map(microseconds),
            went_back: counts.went_back,
            stalled_by: stalling.map(|stalling| stalling.by),
            stalls: reflector.stalls.ended(),
            stalled_us: reflector.stalls.lasted_us(now),
            ended_stalled: counts.ended_stalled,
            closed_by_force: counts.closed_by_force,
            short_watches: counts.most_short_watches,
            fallbacks: counts.fallbacks,
            list_requests: counts.list_requests,
            watch_requests: counts.watch_requests,
            resumes: counts.resumes,
            relists: counts.relists,
            beginnings: counts.beginnings,
            relists_in_a_loop: reflector.counts.loop_since().is_some(),
            duplicates: 0,
            client_left: false,
            relisting: reflector.relisting().map(RelistCause::id),
            causes: reflector.counts.causes().map(|(cause, number)| (cause.id(), number)).collect(),
            events: amount(counts.events),
            bookmarks: amount(counts.bookmarks),
            items: amount(counts.items),
            streamed_items: counts.streamed_items,
            bytes: amount(counts.bytes),
            repeats: reflector.counts.repeats(),
            evidence: reflector.evidence(),
            listed_objects: amount(counts.last_list_items),
            first_list_items: counts.first_list_items,
            synced: reflector.synced,
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

    /// Removes the API server's name, for runs with only one API server.
    pub fn drop_upstream_name(&mut self) {
        self.shape.upstream = None;
        if let Some(relist) = &mut self.last_relist {
            relist.shape.upstream = None;
        }
    }

    /// Whether it lists or watches `events`, for which the API server has no watch cache.
    pub fn is_of_events(&self) -> bool {
        matches!(self.shape.resource.as_str(), "events" | "events.events.k8s.io")
    }

    /// By how many objects it has grown since its last complete list.
    pub fn grown(&self) -> u64 {
        self.objects.saturating_sub(self.listed_objects).or_zero()
    }

    /// Whether a watch of it is open.
    pub const fn is_watching(&self) -> bool {
        matches!(self.state, ReflectorState::Watching | ReflectorState::Stalled)
    }

    /// Whether it has requested a watch. A client that only lists is no reflector.
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
        State::Watching(_) if reflector.stalls.reported().is_some() => ReflectorState::Stalled,
        State::Watching(_) => ReflectorState::Watching,
        State::Waiting => ReflectorState::Waiting,
    }
}

fn since(reflector: &Reflector) -> Timestamp {
    match (&reflector.state, &reflector.stuck) {
        (State::Listing(..), Some(stuck)) if reflector.is_stuck() => stuck.since,
        (State::Listing(listing, _), _) => listing.began,
        (State::Watching(watching), _) => {
            let stalled = reflector.stalls.reported().map(|stalling| stalling.since);
            stalled.or(watching.opened).unwrap_or(watching.asked)
        }
        (State::Listed, _) => reflector.revision_since,
        (State::Waiting, _) => reflector.past_watch.as_ref().map_or(reflector.last_seen, |watch| watch.ended),
    }
}
