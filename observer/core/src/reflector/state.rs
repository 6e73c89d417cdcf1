//! One reflector, and what the requests that it makes say of it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::cause::RelistCause;
use super::identity::{Key, ReflectorId};
use super::kin::Place;
use super::listing::{Failure, Listing};
use super::moment::{Happened, Timeline};
use super::polling::PollClock;
use super::servers::{Refusal, Server};
use super::spells::{Spell, Spells, Trouble};
use super::stalling::Stalling;
use super::told::{ListTold, ResumeTold, Told};
use super::versions::{RepeatCounter, Versions};
use super::watch_end::WatchEnd;
use super::watching::{PastWatch, Watching};
use crate::exchange::{Client, Exchange, Scope, Shape, of_structure};
use crate::k8s::{ListOptions, ResourceVersion, ResourceVersionMatch};
use crate::observation::{Body, ConnectionId};
use crate::time::{Rate, Timestamp};

/// A list and a watch after it, again and again, as client-go's `Reflector` does (client-go tools/cache/reflector.go), and others like it.
///
/// ```text
///            list asked                 whole list            watch asked            granted, events
///   (none) ─────────────► Listing ─────────────────► Listed ─────────────► Watching ────────────┐
///              │           ▲  ▲ │ failed, next page    │ list asked          │   ▲ ▲            │
///              │           │  └─┘                      │ (a poller)          │   │ └────────────┘
///              │           │◄──────────────────────────┘                     │   │ watch asked: a resume
///              │           │                                                 ▼   │
///              │           └─────────────────────────────────────────────  Waiting  (the watch ended or was refused)
///              │                list asked: a relist, with its cause
///              │
///              └─ watch asked with sendInitialEvents: Listing too, until the bookmark that ends the initial events; then Watching
/// ```
#[derive(Debug)]
pub(super) struct Reflector {
    pub id: ReflectorId,
    pub key: Key,
    pub client: Client,
    pub shape: Shape,
    pub state: State,
    /// The newest revision that it was given.
    pub revision: Option<u64>,
    pub revision_since: Timestamp,
    /// When the server chose that revision, at the earliest: so old it may be. `None` if that was not seen.
    pub revision_chosen: Option<Timestamp>,
    /// The revision of its last complete list, and when the server chose that.
    pub listed_revision: Option<(u64, Timestamp)>,
    pub objects: Versions,
    pub timeline: Timeline,
    pub counts: Counts,
    pub spells: Spells,
    pub age: Option<ClientAge>,
    pub first_seen: Timestamp,
    /// When it last asked for something, got something, or lost a watch.
    pub last_seen: Timestamp,
    pub last_relist: Option<Box<ListTold>>,
    /// Its first list, until its first watch shows that it is a reflector's.
    pub first_list: Option<Box<ListTold>>,
    /// The revision at which it asks in vain, how often, and since when.
    pub stuck: Option<Stuck>,
    /// The revision at which it was last stuck.
    pub last_stuck_at: Option<u64>,
    pub polls: PollClock,
    /// The last watch of use, if none followed it, and how many attempts did.
    pub interrupted: Option<Interrupted>,
    /// The resume that is told once the watch shows that it is one.
    pub resuming: Option<Box<ResumeTold>>,
    /// Whether it asked for a watch since its last whole list.
    pub watched_since_list: bool,
    /// In which form it last listed.
    pub last_form: Option<Form>,
    /// Where it is found while it has nothing under way.
    pub place: Option<Place>,
    /// On which connection it last asked for something.
    pub connection: ConnectionId,
    /// Whether it has had a whole list, seen or not: who watches from a revision has one.
    pub had_a_list: bool,
    pub list_failure: Option<Failure>,
    pub past_watch: Option<PastWatch>,
    pub useful_watch: Option<PastWatch>,
    pub stalling: Option<Stalling>,
    pub events_rate: Rate,
    /// When the last event about an object came.
    pub last_event: Option<Timestamp>,
    pub out_of_sight: bool,
}

/// A watch that ended, and what was tried since.
#[derive(Clone, Debug)]
pub(super) struct Interrupted {
    pub past: PastWatch,
    pub attempts: u64,
}

/// In which form a client lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    limit: u64,
    names_revision: bool,
    from_any: bool,
    revision_match: ResourceVersionMatch,
}

/// From which revision a list is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListsFrom {
    /// None is named: the newest.
    Newest,
    /// `resourceVersion=0`: any that the API server has at hand.
    Any,
    /// One that is named.
    Named,
}

impl Form {
    pub(super) const fn lists_from(self) -> ListsFrom {
        match (self.from_any, self.names_revision) {
            (true, _) => ListsFrom::Any,
            (false, true) => ListsFrom::Named,
            (false, false) => ListsFrom::Newest,
        }
    }

    pub(super) const fn of(options: &ListOptions) -> Self {
        Self {
            limit: options.limit,
            names_revision: matches!(options.resource_version, ResourceVersion::At(_) | ResourceVersion::Invalid),
            from_any: matches!(options.resource_version, ResourceVersion::Any),
            revision_match: options.resource_version_match,
        }
    }
}

/// How many versions of objects a reflector may keep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub versions: usize,
    /// How often it was exceeded.
    pub exceeded: u64,
}

impl Room {
    /// Whether so many are too many, so that half of them go.
    pub(super) const fn is_exceeded_by(&mut self, kept: usize) -> bool {
        let is_exceeded = kept > self.versions;
        if is_exceeded {
            self.exceeded = self.exceeded.saturating_add(1);
        }
        is_exceeded
    }
}

/// What is known beside a reflector when it asks for something.
#[derive(Debug)]
pub(super) struct Context<'c> {
    pub server: Option<&'c Server>,
    /// When its client came back after all of its connections had ended, if it is known by its words only.
    pub client_returned: Option<Timestamp>,
}

impl Context<'_> {
    /// The time in which the server refused, if some of that lies between the two.
    pub(super) fn refused_between(&self, from: Timestamp, until: Timestamp) -> Option<Refusal> {
        self.server.and_then(|server| server.refused_between(from, until))
    }
}

/// What a reflector is about.
#[derive(Debug)]
pub(super) enum State {
    /// It lists, or is about to try again. Of a streaming list the watch is there too.
    Listing(Box<Listing>, Option<Box<Watching>>),
    /// It has a whole list and has not watched since.
    Listed,
    /// It watches.
    Watching(Box<Watching>),
    /// Its watch is over, and nothing followed.
    Waiting,
}

/// What its requests show of a client's age (§6.1 of the semantics reference). That is inferred, not said: other libraries may look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientAge {
    /// It lists again from `resourceVersion=0` with a limit: client-go until 1.17.
    Until1_17,
    /// It lists again from its own revision without a limit: client-go from 1.18 on.
    From1_18,
    /// It asks for streaming lists: client-go from 1.35 on, or from 1.27 on with `WatchListClient`.
    WatchList,
}

/// Numbers of a reflector.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub list_requests: u64,
    pub watch_requests: u64,
    /// Lists although it had one; those of clients that had forgotten it are beginnings.
    pub relists: u64,
    pub beginnings: u64,
    /// When the last relists began.
    pub last_relists: VecDeque<Timestamp>,
    pub resumes: u64,
    pub events: u64,
    pub bookmarks: u64,
    pub items: u64,
    /// Those of them that came as events of a watch.
    pub streamed_items: u64,
    pub bytes: u64,
    /// Bytes of the last whole list.
    pub last_list_bytes: u64,
    /// Events and lists of a revision below the one before.
    pub went_back: u64,
    /// Watches in a row that ended within a second, before any event.
    pub short_watches: u64,
    /// The most of them in a row.
    pub most_short_watches: u64,
    /// Streaming lists that were refused, so that a list in the old form followed.
    pub fallbacks: u64,
    /// Times of a second and more in which it did not read, and how long they lasted.
    pub stalls: u64,
    pub stalled_us: u64,
    /// Watches that the server ended early in or after such a time.
    pub ended_stalled: u64,
    pub causes: BTreeMap<RelistCause, u64>,
    pub repeats: RepeatCounter,
    /// Whether some of the traffic that it counts was not seen.
    pub repeats_at_least: bool,
}

impl Counts {
    /// Whether the last five relists were within ten minutes.
    pub(super) fn is_loop(&self) -> bool {
        let (Some(first), Some(last)) = (self.last_relists.front(), self.last_relists.back()) else { return false };
        self.last_relists.len() >= RELISTS_KEPT && last.since(*first) <= LOOP
    }

    pub(super) fn note_relist(&mut self, at: Timestamp, cause: RelistCause) {
        let of_cause = self.causes.entry(cause).or_default();
        *of_cause = of_cause.saturating_add(1);
        if cause.begins_from_nothing() {
            self.beginnings = self.beginnings.saturating_add(1);
            return;
        }
        self.relists = self.relists.saturating_add(1);
        if self.last_relists.len() >= RELISTS_KEPT {
            self.last_relists.pop_front();
        }
        self.last_relists.push_back(at);
    }
}

/// Over which time events are counted for their rate.
const EVENTS_OVER: Duration = Duration::from_secs(10);
/// Times of relists that are kept of a reflector: so many within a short time are a loop.
const RELISTS_KEPT: usize = 5;
const LOOP: Duration = Duration::from_mins(10);

/// A reflector that asks for a revision that the server does not reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stuck {
    pub revision: u64,
    /// The revision that the server had when it refused it last.
    pub current: Option<u64>,
    pub since: Timestamp,
    pub refusals: u64,
    pub told: bool,
}

/// Refusals at one revision until a reflector counts as stuck: one more than a client's transport repeats a request before the reflector hears
/// of it.
pub(super) const STUCK_AFTER: u64 = 12;

impl Reflector {
    pub(super) fn new(id: ReflectorId, key: Key, exchange: &Exchange) -> Self {
        Self {
            id,
            key,
            client: Client::of(exchange),
            shape: Shape::watched(exchange),
            state: State::Waiting,
            revision: None,
            revision_since: exchange.started,
            revision_chosen: None,
            listed_revision: None,
            objects: Versions::default(),
            timeline: Timeline::default(),
            counts: Counts::default(),
            spells: Spells::default(),
            age: None,
            first_seen: exchange.started,
            last_seen: exchange.started,
            last_relist: None,
            first_list: None,
            stuck: None,
            last_stuck_at: None,
            polls: PollClock::default(),
            interrupted: None,
            resuming: None,
            watched_since_list: false,
            last_form: None,
            place: None,
            connection: exchange.id.connection,
            had_a_list: false,
            list_failure: None,
            past_watch: None,
            useful_watch: None,
            stalling: None,
            events_rate: Rate::new(EVENTS_OVER),
            last_event: None,
            out_of_sight: false,
        }
    }

    /// About how much memory it takes, in bytes, without the versions of its objects. It does not change.
    pub(super) fn memory(&self) -> usize {
        /// Its list or watch, its last relist, and its latest moments.
        const BESIDE: usize = 1_024;
        // The index has the key once more; the last relist has client and shape, a list that is under way its selectors.
        of_structure::<Self>() + BESIDE + 2 * (self.key.memory() + self.client.memory() + self.shape.memory())
    }

    /// Whether a request of it is under way.
    pub(super) fn is_busy(&self) -> bool {
        match &self.state {
            State::Listing(listing, watching) => listing.exchange.is_some() || watching.is_some(),
            State::Watching(_) => true,
            State::Listed | State::Waiting => false,
        }
    }

    /// Whether it has ever watched; what only lists is no reflector.
    pub(super) const fn has_watched(&self) -> bool {
        self.counts.watch_requests > 0
    }

    /// Whether it asks again and again for a revision that the server does not reach.
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck.is_some_and(|stuck| stuck.told)
    }

    /// What was wrong until `now`. A loop is over once its last relist is long ago.
    pub(super) fn spells_at(&self, now: Timestamp) -> BTreeMap<Trouble, Spell> {
        let mut spells = self.spells.all();
        let last = self.counts.last_relists.back().copied().filter(|last| now.since(*last) > LOOP);
        if let (Some(spell), Some(last)) = (spells.get_mut(&Trouble::RelistLoop), last) {
            *spell = spell.over_at(last);
        }
        spells
    }

    /// What it asked for in vain has come, or it asks for something else.
    pub(super) fn end_stuck(&mut self, at: Timestamp) {
        self.stuck = None;
        self.spells.end(Trouble::Stuck, at);
    }

    /// Whether its client ended its last watch by leaving.
    pub(super) fn client_may_be_gone(&self) -> bool {
        self.past_watch.as_ref().is_some_and(|watch| watch.end == WatchEnd::ClientLeft)
    }

    /// Time has come to `at`: a watch that was granted and still lives goes on from where the one before had ended, and what was not read for
    /// long is a stall.
    pub(super) fn pass(&mut self, at: Timestamp, told: &mut dyn FnMut(Told)) {
        let lived = |resume: &ResumeTold| at.since(resume.at).as_nanos() >= u128::from(WatchEnd::VERY_SHORT_NANOS);
        if self.resuming.as_deref().is_some_and(lived) {
            self.confirm_resume(told);
        }
        self.pass_state(at, told);
        self.pass_stall(at, told);
    }

    /// Versions of objects that are kept for it.
    pub(super) fn kept_objects(&self) -> usize {
        let listed = match &self.state {
            State::Listing(listing, _) => listing.objects.len(),
            State::Listed | State::Watching(_) | State::Waiting => 0,
        };
        self.objects.len() + listed
    }

    /// Keeps half of them.
    pub(super) fn thin(&mut self) {
        self.objects.thin();
        if let State::Listing(listing, _) = &mut self.state {
            listing.objects.thin();
        }
    }

    /// A part of a body came.
    pub(super) fn understood(
        &mut self,
        exchange: &Exchange,
        at: Timestamp,
        body: &Body,
        room: &mut Room,
        told: &mut dyn FnMut(Told),
    ) {
        self.last_seen = at;
        if self.shape.scope == Some(Scope::All) && exchange.namespaced.is_some() {
            self.shape = Shape::watched(exchange);
        }
        match body {
            Body::Items(items) => {
                if let State::Listing(listing, None) = &mut self.state
                    && listing.exchange == Some(exchange.id)
                {
                    // How far the client says that it has come, or is known to.
                    let until = listing.options.resource_version.revision().or(self.revision);
                    for item in items {
                        listing.take(item, &self.objects, until);
                        let kept = self.objects.len() + listing.objects.len();
                        if room.is_exceeded_by(kept) {
                            self.objects.thin();
                            listing.objects.thin();
                        }
                    }
                }
            }
            Body::Events(events) => self.delivered(exchange, at, events, room, told),
            Body::MediaType(_) | Body::Kind(_) | Body::List(_) | Body::Object(_) | Body::Status(_) | Body::Version(_) => {}
        }
    }

    /// A request of it is over.
    pub(super) fn ended(&mut self, exchange: &Exchange, told: &mut dyn FnMut(Told)) {
        let Some((at, _)) = exchange.ended else { return };
        self.last_seen = at;
        self.counts.bytes = self.counts.bytes.saturating_add(exchange.response_bytes);
        self.end_stall(at, told);
        self.end_state_with(exchange, told);
        let is_lossy = exchange.missed_bytes > 0 || exchange.not_read.is_some();
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::Listing(mut listing, None) if listing.exchange == Some(exchange.id) => {
                let is_whole = listing.end(exchange, at);
                self.note_list_end(exchange, &listing, at);
                if is_whole {
                    self.state = State::Listed;
                    self.whole(*listing, at, told);
                } else {
                    self.note_too_large(exchange, &listing, at, told);
                    self.state = State::Listing(listing, None);
                }
            }
            State::Listing(mut listing, Some(watching)) if watching.exchange == exchange.id => {
                listing.exchange = None;
                listing.note_answer(exchange);
                self.watch_ended(exchange, &watching, at, told);
                listing.failure = self.past_watch.as_ref().map(Failure::of_streaming);
                self.state = State::Listing(listing, None);
            }
            State::Watching(watching) if watching.exchange == exchange.id => {
                self.objects.is_partial |= is_lossy;
                self.counts.repeats_at_least |= is_lossy;
                self.watch_ended(exchange, &watching, at, told);
            }
            other @ (State::Listing(..) | State::Listed | State::Watching(_) | State::Waiting) => self.state = other,
        }
    }

    /// What is under way goes on unseen.
    pub(super) fn lose_sight(&mut self, at: Timestamp) {
        self.out_of_sight = true;
        self.objects.is_partial = true;
        self.timeline.push(at, Happened::OutOfSight);
    }
}
