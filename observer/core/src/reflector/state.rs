//! One reflector: its state, and everything that its requests reveal about it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::cause::RelistCause;
use super::counts::Counts;
use super::events::{ListEvent, ReflectorEvent, ResumeEvent, StallEvent};
use super::failure::Failure;
use super::form::Form;
use super::futile_watches::{Futile, FutileEnd};
use super::identity::{Key, ReflectorId};
use super::key_group::IdleEntry;
use super::listing::Listing;
use super::moment::{Happened, Timeline};
use super::polling::PollClock;
use super::refusals::Refused;
use super::servers::{Refusal, Server};
use super::silence::Silence;
use super::spells::{Spell, Spells, Trouble};
use super::stalls::{PastStall, Stalling, Stalls};
use super::stuck::Stuck;
use super::unsynced::Unsyncings;
use super::versions::Versions;
use super::watch_end::WatchEnd;
use super::watching::{PastWatch, Watching};
use crate::exchange::{Client, Exchange, RequestLabels, Scope, Shape, of_structure};
use crate::observation::{Body, ConnectionId, ExchangeId};
use crate::thresholds::{LOOP_WITHIN, VERY_SHORT_WATCH};
use crate::time::{Rate, Timestamp, microseconds};

/// A list followed by a watch, repeatedly, as in client-go's `Reflector` (client-go tools/cache/reflector.go) and similar
/// libraries.
///
/// ```text
///            list asked                complete list          watch asked            accepted, events
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
    /// Labels of its first request in the series.
    pub labels: RequestLabels,
    pub shape: Shape,
    pub state: State,
    /// The newest revision that it received.
    pub revision: Option<u64>,
    pub revision_since: Timestamp,
    /// Earliest time at which the server can have chosen `revision`, so a bound for the age of the revision. `None` if that time
    /// was not observed.
    pub revision_chosen: Option<Timestamp>,
    /// Revision of its last complete list, and the earliest time at which the server can have chosen it.
    pub listed_revision: Option<(u64, Timestamp)>,
    /// The same time for a list of a log, which lacks its revision: the next watch requests it.
    pub unlogged_revision: Option<Timestamp>,
    pub objects: Versions,
    pub timeline: Timeline,
    pub counts: Counts,
    pub spells: Spells,
    pub age: Option<ClientAge>,
    pub first_seen: Timestamp,
    /// Time of its last request, its last delivery, or the end of its last watch.
    pub last_seen: Timestamp,
    pub last_relist: Option<Box<ListEvent>>,
    /// Its first list, kept until its first watch shows that it is a reflector.
    pub first_list: Option<Box<ListEvent>>,
    /// The revision that the server refuses as not reached yet; `None` while it refuses none.
    pub stuck: Option<Stuck>,
    /// Revision at which it was last stuck.
    pub last_stuck_at: Option<u64>,
    pub polls: PollClock,
    /// The last useful watch, or else the first failed one, and the number of failed attempts. `None` once a resume is confirmed,
    /// or after a list.
    pub interrupted: Option<Interrupted>,
    /// The resume to report once the watch is confirmed.
    pub resuming: Option<Box<ResumeEvent>>,
    /// Whether it requested a watch after its last complete list.
    pub watched_since_list: bool,
    /// Form of its last list.
    pub last_form: Option<Form>,
    /// Its place in the index of idle reflectors; `None` while it is busy.
    pub place: Option<IdleEntry>,
    /// Connection of its last request.
    pub connection: ConnectionId,
    /// Whether it has had a complete list, observed or not. A watch from a revision implies one.
    pub had_a_list: bool,
    pub list_failure: Option<Failure>,
    /// The first request of its last complete list.
    pub last_list: Option<ExchangeId>,
    pub past_watch: Option<PastWatch>,
    pub useful_watch: Option<PastWatch>,
    pub stalls: Stalls,
    /// Evidence of its last deaf watch.
    pub deaf: Option<Silence>,
    /// Evidence of its last watch that was ahead of the server.
    pub ahead: Option<Silence>,
    /// Silence does not count before this time: the client did not read, or nothing was observed.
    pub heard_from: Timestamp,
    /// When a pending timer examines its watch.
    pub examined_at: Option<Timestamp>,
    /// The process ID of the client, if the process is known and no other reflector has the same key. Otherwise the requests may
    /// come from several clients, since a process may be a proxy in front of them.
    pub pid: Option<u32>,
    /// Its watches from one revision that deliver nothing.
    pub futile: Futile,
    /// Its streaming list that has not ended, and the last such list that was reported.
    pub unsynced: Unsyncings,
    pub refused: Refused,
    /// When its first list was complete.
    pub synced: Option<Timestamp>,
    pub events_rate: Rate,
    /// When the last event about an object arrived.
    pub last_event: Option<Timestamp>,
    pub out_of_sight: bool,
    /// Its memory as counted in the table of reflectors, in bytes.
    pub counted_memory: usize,
}

/// An interrupted watch, and the attempts since.
#[derive(Clone, Debug)]
pub(super) struct Interrupted {
    pub past: PastWatch,
    pub attempts: u64,
}

/// Bound for the object versions of a reflector.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub versions: usize,
    /// How often the bound was exceeded.
    pub exceeded: u64,
}

impl Room {
    /// Whether `kept` versions exceed the bound. If so, this is counted, and the caller drops half of them.
    pub(super) const fn is_exceeded_by(&mut self, kept: usize) -> bool {
        let is_exceeded = kept > self.versions;
        if is_exceeded {
            self.exceeded = self.exceeded.saturating_add(1);
        }
        is_exceeded
    }
}

/// Facts from outside a reflector that apply to its request.
#[derive(Debug)]
pub(super) struct Context<'c> {
    pub server: Option<&'c Server>,
    /// When the client returned after all of its connections had ended. `None` if the client did not return, or if its process is
    /// known.
    pub client_returned: Option<Timestamp>,
}

impl Context<'_> {
    /// The period in which the server refused connections, if it overlaps the time from `from` to `until`.
    pub(super) fn refused_between(&self, from: Timestamp, until: Timestamp) -> Option<Refusal> {
        self.server.and_then(|server| server.refused_between(from, until))
    }
}

/// The state of a reflector's list-and-watch.
#[derive(Debug)]
pub(super) enum State {
    /// It lists, or is about to retry. A streaming list also has its watch.
    Listing(Box<Listing>, Option<Box<Watching>>),
    /// It has a complete list and has not watched since.
    Listed,
    /// It watches.
    Watching(Box<Watching>),
    /// Its watch ended or was refused, and no request followed.
    Waiting,
}

/// The client-go release of a client, inferred from its requests (§6.1 of docs/semantics.md). Other libraries may look the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientAge {
    /// It relists from `resourceVersion=0` with a limit: client-go up to 1.17.
    Until1_17,
    /// It relists from its own revision without a limit: client-go since 1.18.
    From1_18,
    /// It requests streaming lists: client-go since 1.35, or since 1.27 with `WatchListClient`.
    WatchList,
}

/// Time over which the event rate is averaged.
const EVENTS_OVER: Duration = Duration::from_secs(10);

impl Reflector {
    pub(super) fn new(id: ReflectorId, key: Key, exchange: &Exchange) -> Self {
        Self {
            id,
            key,
            client: Client::of(exchange),
            labels: exchange.counted.labels,
            shape: Shape::watched(exchange),
            state: State::Waiting,
            revision: None,
            revision_since: exchange.started,
            revision_chosen: None,
            listed_revision: None,
            unlogged_revision: None,
            objects: Versions::default(),
            timeline: Timeline::default(),
            counts: Counts::of(exchange.is_logged),
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
            last_list: None,
            useful_watch: None,
            stalls: Stalls::default(),
            deaf: None,
            ahead: None,
            heard_from: Timestamp::default(),
            examined_at: None,
            pid: None,
            futile: Futile::default(),
            unsynced: Unsyncings::default(),
            refused: Refused::default(),
            synced: None,
            events_rate: Rate::new(EVENTS_OVER),
            last_event: None,
            out_of_sight: false,
            counted_memory: 0,
        }
    }

    /// Estimated memory in bytes, without the versions of its objects.
    pub(super) fn memory(&self) -> usize {
        /// Estimated bytes of its entries in the indices.
        const INDICES: usize = 256;
        let listing = match &self.state {
            State::Listing(listing, _) => listing.memory(),
            State::Listed | State::Watching(_) | State::Waiting => 0,
        };
        let lists = [&self.last_relist, &self.first_list].into_iter().flatten().map(|list| list.memory()).sum::<usize>();
        // The index has a second copy of the key.
        of_structure::<Self>()
            + of_structure::<Watching>()
            + INDICES
            + 2 * self.key.memory()
            + self.client.memory()
            + self.shape.memory()
            + listing
            + lists
            + self.timeline.memory()
    }

    /// The cause of the relist that is under way; `None` if none is.
    pub(super) fn relisting(&self) -> Option<RelistCause> {
        match &self.state {
            State::Listing(listing, _) => listing.origin.cause(),
            State::Listed | State::Watching(_) | State::Waiting => None,
        }
    }

    /// The exchange of its open watch.
    pub(super) fn watch_exchange(&self) -> Option<ExchangeId> {
        match &self.state {
            State::Watching(watching) | State::Listing(_, Some(watching)) => Some(watching.exchange),
            State::Listing(_, None) | State::Listed | State::Waiting => None,
        }
    }

    /// Whether one of its requests is under way.
    pub(super) fn is_busy(&self) -> bool {
        match &self.state {
            State::Listing(listing, watching) => listing.exchange.is_some() || watching.is_some(),
            State::Watching(_) => true,
            State::Listed | State::Waiting => false,
        }
    }

    /// Whether it has ever watched. A client that only lists is no reflector.
    pub(super) const fn has_watched(&self) -> bool {
        self.counts.sums().watch_requests > 0
    }

    /// Its troubles until `now`. A relist loop is over when its last relist was more than ten minutes ago; it then ended at that relist.
    pub(super) fn spells_at(&self, now: Timestamp) -> BTreeMap<Trouble, Spell> {
        let mut spells = self.spells.all();
        let last = self.counts.loop_over(now);
        if let (Some(spell), Some(last)) = (spells.get_mut(&Trouble::RelistLoop), last) {
            *spell = spell.over_at(last);
        }
        // A client that makes no further attempt has given up.
        let futile = |end| self.futile.reported(end).map(|watches| watches.last);
        for (trouble, last) in [
            (Trouble::ExpiredLoop, futile(FutileEnd::Expired)),
            (Trouble::SilentExpired, futile(FutileEnd::Empty)),
            (Trouble::Refused, self.refused.reported().map(|refusals| refusals.last)),
        ] {
            let last = last.filter(|last| now.since(*last) > LOOP_WITHIN);
            if let (Some(spell), Some(last)) = (spells.get_mut(&trouble), last) {
                *spell = spell.over_at(last);
            }
        }
        spells
    }

    /// Whether its client ended its last watch by disconnecting.
    pub(super) fn client_may_be_gone(&self) -> bool {
        self.past_watch.as_ref().is_some_and(|watch| watch.end == WatchEnd::ClientLeft)
    }

    /// Advances time to `at`. Confirms a resume once its watch has lasted a second. Also completes an initial state after a pause,
    /// and reports a blockage of a second as a stall.
    pub(super) fn pass(&mut self, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let lived = |resume: &ResumeEvent| at.since(resume.at) >= VERY_SHORT_WATCH;
        if self.resuming.as_deref().is_some_and(lived) {
            self.confirm_resume(emit);
        }
        self.pass_state(at, emit);
        if let Some(stalling) = self.stalls.pass(at) {
            self.report_stall(stalling, at, emit);
        }
    }

    /// Processes the start or end of a blockage.
    pub(super) fn blockage_changed(&mut self, exchange: &Exchange, now: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        self.heard_from = now;
        if let Some(past) = self.stalls.note(now, exchange.stall.now()) {
            self.report_stall_end(past, now, emit);
        }
    }

    fn report_stall(&mut self, stalling: Stalling, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        self.spells.begin(Trouble::Stalled, stalling.since);
        self.timeline.push(at, Happened::Stalled { by: stalling.by, since: stalling.since });
        emit(ReflectorEvent::Stalled(self.stall_event(stalling, at)));
    }

    fn report_stall_end(&mut self, past: PastStall, at: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        if past.is_news {
            self.report_stall(past.stalling, at, emit);
        }
        self.spells.end(Trouble::Stalled, at);
        self.timeline.push(at, Happened::ReadAgain { after_us: past.lasted_us });
        emit(ReflectorEvent::StallEnded(self.stall_event(past.stalling, at)));
    }

    fn stall_event(&self, Stalling { since, by, .. }: Stalling, at: Timestamp) -> Box<StallEvent> {
        Box::new(StallEvent {
            at,
            reflector: self.id,
            client: self.client.clone(),
            shape: self.shape.clone(),
            by,
            since,
            lasted_us: microseconds(at.since(since)),
        })
    }

    /// Number of object versions kept for it.
    pub(super) fn kept_objects(&self) -> usize {
        let listed = match &self.state {
            State::Listing(listing, _) => listing.objects.len(),
            State::Listed | State::Watching(_) | State::Waiting => 0,
        };
        self.objects.len() + listed
    }

    /// Drops half of the object versions.
    pub(super) fn thin(&mut self) {
        self.objects.thin();
        if let State::Listing(listing, _) = &mut self.state {
            listing.objects.thin();
        }
    }

    /// Processes a decoded part of a body.
    pub(super) fn understood(
        &mut self,
        exchange: &Exchange,
        at: Timestamp,
        body: &Body,
        room: &mut Room,
        emit: &mut dyn FnMut(ReflectorEvent),
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
                    // The revision that the client has reached: by its own request, or else as observed.
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
            Body::Events(events) => self.delivered(exchange, at, events, room, emit),
            Body::MediaType(_) | Body::Kind(_) | Body::List(_) | Body::Object(_) | Body::Status(_) | Body::Version(_) => {}
        }
    }

    /// Processes the end of one of its requests. A stall ends `now`, at the time of the latest observation.
    pub(super) fn ended(&mut self, exchange: &Exchange, now: Timestamp, emit: &mut dyn FnMut(ReflectorEvent)) {
        let Some((at, _)) = exchange.ended else { return };
        self.last_seen = at;
        self.counts.note_bytes(exchange.response_bytes);
        if let Some(past) = self.stalls.end(now) {
            self.report_stall_end(past, now, emit);
        }
        self.end_state_with(exchange, emit);
        self.note_refusal(exchange, at, emit);
        let is_lossy = exchange.missed_bytes > 0 || exchange.not_read.is_some();
        match std::mem::replace(&mut self.state, State::Waiting) {
            State::Listing(mut listing, None) if listing.exchange == Some(exchange.id) => {
                let is_complete = listing.end(exchange, at);
                self.note_list_end(exchange, &listing, at);
                if is_complete {
                    self.state = State::Listed;
                    self.complete_list(*listing, at, emit);
                } else {
                    self.note_too_large(exchange, &listing, at, emit);
                    self.state = State::Listing(listing, None);
                }
            }
            State::Listing(mut listing, Some(watching)) if watching.exchange == exchange.id => {
                listing.exchange = None;
                listing.note_answer(exchange);
                self.watch_ended(exchange, &watching, at, emit);
                if let (true, Some(past)) = (listing.options.ends_state_with_bookmark(), &self.past_watch) {
                    self.note_cut_list(past.end, listing.items, at, emit);
                }
                listing.failure = self.past_watch.as_ref().map(PastWatch::failure_of_list);
                self.state = State::Listing(listing, None);
            }
            State::Watching(watching) if watching.exchange == exchange.id => {
                self.objects.is_partial |= is_lossy;
                self.counts.note_loss(is_lossy);
                self.watch_ended(exchange, &watching, at, emit);
            }
            other @ (State::Listing(..) | State::Listed | State::Watching(_) | State::Waiting) => self.state = other,
        }
    }

    /// Marks that part of its traffic was not observed.
    pub(super) fn lose_sight(&mut self, at: Timestamp) {
        self.out_of_sight = true;
        self.objects.is_partial = true;
        self.timeline.push(at, Happened::NotObserved);
    }
}
