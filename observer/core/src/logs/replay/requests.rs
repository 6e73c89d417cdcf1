//! The requests in logs, by their audit IDs: the open ones, and the last ones that were closed.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::as_event::OwnIds;
use super::etcd_range::EtcdRange;
use super::lately_used::LatelyUsed;
use super::lists::{ListedKeys, OpenLists};
use super::served::{Candidates, ForcedClose, ResetCache, Served, ServedWatches, ended_early};
use crate::k8s::{Continue, ResourceVersion, ResourceVersionMatch, Verb};
use crate::logs::audit::AuditEvent;
use crate::observation::{ConnectionId, ExchangeId, RequestLine};
use crate::time::Timestamp;

/// Maximum number of requests that are open at once, and of closed ones whose audit IDs are remembered.
const MOST_REQUESTS: usize = 64 << 10;

/// The requests that are open, or were closed last.
#[derive(Debug)]
pub(super) struct Requests {
    /// By audit ID. Each record looks its request up several times.
    known: HashMap<Arc<str>, Known, RandomState>,
    /// The audit IDs of the open requests, in the order in which they were opened.
    opened: BTreeMap<u64, Arc<str>>,
    lists: OpenLists,
    /// The time that the log has reached.
    now: Timestamp,
    next: u64,
    /// The ordinals of the open watches, by what they watch.
    watches: HashMap<Watched, BTreeSet<u64>, RandomState>,
    served: ServedWatches,
    /// Number of watches whose ends were logged, and that no request has followed yet.
    ended: LatelyUsed<Watched, u32>,
    /// The audit IDs of the closed requests, in the order in which they were closed.
    closed: VecDeque<Arc<str>>,
    hasher: RandomState,
}

/// A request with an audit ID.
#[derive(Debug)]
struct Known {
    /// Hash of its verb and its URI. `None` if its first record was not of an audit log.
    asked: Option<u64>,
    /// Whether another request has the same audit ID. Clients may choose it.
    is_ambiguous: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    Open(Box<OpenRequest>),
    Closed(CloseReason),
}

/// The facts about a request that is opened.
pub(super) struct Opened<'o> {
    pub audit_id: &'o str,
    /// The number of the log that it was read from.
    pub log: usize,
    pub is_own: bool,
    pub asked: Option<u64>,
}

/// A request whose last stage has not come yet.
#[derive(Debug)]
pub(super) struct OpenRequest {
    pub id: ExchangeId,
    /// The number of the log that it was read from.
    pub log: usize,
    pub is_answered: bool,
    /// Whether an API server itself made it. No tap sees such requests, so they give no observations.
    pub is_own: bool,
    ordinal: u64,
    watched: Option<Watched>,
    listed: Option<ListedKeys>,
    served: Option<Served>,
}

/// The watch that a line about a close by force is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ForcedMatch {
    /// The one with this audit ID.
    Watch(String),
    /// One of several.
    Ambiguous,
    /// None of those that are open.
    None,
}

/// Why a request is no longer open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseReason {
    /// Its last stage has come.
    Finished,
    /// There was no room for it, or the log shows that its end was not logged.
    GivenUp,
}

/// The objects that a client watches or lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Watched {
    client: ConnectionId,
    resource: String,
    namespace: String,
    selectors: [String; 2],
}

impl Default for Requests {
    fn default() -> Self {
        Self {
            known: HashMap::default(),
            opened: BTreeMap::new(),
            lists: OpenLists::default(),
            now: Timestamp::default(),
            next: 0,
            watches: HashMap::default(),
            served: ServedWatches::default(),
            ended: LatelyUsed::of(2 * MOST_REQUESTS),
            closed: VecDeque::new(),
            hasher: RandomState::default(),
        }
    }
}

impl Known {
    const fn of(asked: Option<u64>, state: State) -> Self {
        Self { asked, is_ambiguous: false, state }
    }
}

impl Requests {
    /// Hash of the verb and the URI of an event. The user may change between two stages: the first one lacks the impersonated user
    /// (kubernetes/apiserver `pkg/server/config.go`, `DefaultBuildHandlerChain`: `WithAudit` comes before `WithImpersonation`).
    pub(super) fn asked(&self, event: &AuditEvent) -> u64 {
        self.hasher.hash_one((event.verb.as_str(), event.uri.0.as_str()))
    }

    /// The ID under which the request of an event is known, if another request has its audit ID.
    pub(super) fn other_id(&self, event: &AuditEvent) -> Option<String> {
        let asked = self.asked(event);
        let known = self.known.get(event.audit_id.as_str())?.asked?;
        (known != asked).then(|| OwnIds::of_another(&event.audit_id, asked))
    }

    /// Notes that another request has an audit ID, too.
    pub(super) fn make_ambiguous(&mut self, audit_id: &str) {
        if let Some(known) = self.known.get_mut(audit_id) {
            known.is_ambiguous = true;
        }
    }

    /// Whether several requests have this audit ID.
    pub(super) fn is_ambiguous(&self, audit_id: &str) -> bool {
        self.known.get(audit_id).is_some_and(|known| known.is_ambiguous)
    }

    /// Notes the time of the next record.
    pub(super) fn reach(&mut self, at: Timestamp) {
        self.now = at;
    }

    /// Whether the receipt of a request has been passed on.
    pub(super) fn has(&self, audit_id: &str) -> bool {
        self.known.contains_key(audit_id)
    }

    /// Whether a request is open and answered.
    pub(super) fn is_answered(&self, audit_id: &str) -> bool {
        self.open_one(audit_id).is_some_and(|open| open.is_answered)
    }

    /// How a request was closed, if it was.
    pub(super) fn closed(&self, audit_id: &str) -> Option<CloseReason> {
        match &self.known.get(audit_id)?.state {
            State::Open(_) => None,
            State::Closed(reason) => Some(*reason),
        }
    }

    /// An open request.
    pub(super) fn open_mut(&mut self, audit_id: &str) -> Option<&mut OpenRequest> {
        match &mut self.known.get_mut(audit_id)?.state {
            State::Open(open) => Some(open),
            State::Closed(_) => None,
        }
    }

    /// Opens a request. Returns the oldest one if there was no room for both.
    pub(super) fn open(&mut self, opened: &Opened<'_>, id: ExchangeId, request: &RequestLine) -> Option<OpenRequest> {
        let Opened { audit_id, log, is_own, asked } = *opened;
        let given_up = (self.opened.len() >= MOST_REQUESTS).then(|| self.close_oldest()).flatten();
        let ordinal = self.next;
        self.next = self.next.saturating_add(1);
        let is_watch = request.info.as_ref().is_some_and(|info| info.verb == Verb::Watch);
        let watched = is_watch.then(|| Watched::of(id.connection, request)).flatten();
        if let Some(watched) = &watched {
            self.watches.entry(watched.clone()).or_default().insert(ordinal);
            self.follow_end(watched);
        }
        let served = Served::of(request);
        if let Some(served) = &served {
            self.served.open(served, ordinal);
        }
        let listed = ListedKeys::of(request);
        if let Some(listed) = &listed {
            self.lists.open(listed, ordinal, self.now);
        }
        let audit_id: Arc<str> = Arc::from(audit_id);
        let open = OpenRequest { id, log, is_answered: false, is_own, ordinal, watched, listed, served };
        self.known.insert(Arc::clone(&audit_id), Known::of(asked, State::Open(Box::new(open))));
        self.opened.insert(ordinal, audit_id);
        given_up
    }

    /// Closes an open request.
    pub(super) fn close(&mut self, audit_id: &str, reason: CloseReason) -> Option<OpenRequest> {
        let state = &mut self.known.get_mut(audit_id).filter(|known| matches!(known.state, State::Open(_)))?.state;
        let State::Open(open) = std::mem::replace(state, State::Closed(reason)) else { return None };
        let audit_id = self.opened.remove(&open.ordinal);
        if let Some(listed) = &open.listed {
            self.lists.close(listed, open.ordinal, self.now);
        }
        if let Some(served) = &open.served {
            self.served.close(served, open.ordinal);
        }
        if let Some(watched) = &open.watched
            && let Some(ordinals) = self.watches.get_mut(watched)
        {
            ordinals.remove(&open.ordinal);
            if ordinals.is_empty() {
                self.watches.remove(watched);
            }
            if reason == CloseReason::Finished {
                match self.ended.touch(watched) {
                    Some(ends) => *ends = ends.saturating_add(1),
                    None => self.ended.insert(watched.clone(), 1),
                }
            }
        }
        if let Some(audit_id) = audit_id {
            self.remember(audit_id);
        }
        Some(*open)
    }

    /// Notes that a request was closed last. Forgets the one that was closed first, if there is no room for both.
    fn remember(&mut self, audit_id: Arc<str>) {
        if self.closed.len() >= MOST_REQUESTS
            && let Some(oldest) = self.closed.pop_front()
        {
            self.known.remove(&oldest);
        }
        self.closed.push_back(audit_id);
    }

    fn open_one(&self, audit_id: &str) -> Option<&OpenRequest> {
        match &self.known.get(audit_id)?.state {
            State::Open(open) => Some(open),
            State::Closed(_) => None,
        }
    }

    /// Closes the open watch that a list of its client shows to be over. A reflector lists at its own revision only after its watch has
    /// ended for it. The API server ends the watch later, if their connection was lost. With several such watches, it is unknown which one
    /// has ended.
    pub(super) fn close_watch_before(&mut self, client: ConnectionId, list: &RequestLine) -> Option<OpenRequest> {
        let options = &list.options;
        let is_list = list.info.as_ref().is_some_and(|info| info.verb == Verb::List) && options.continue_token == Continue::Unset;
        let is_relist = (is_list || options.ends_state_with_bookmark())
            && options.limit == 0
            && options.resource_version_match != ResourceVersionMatch::Exact
            && matches!(options.resource_version, ResourceVersion::At(_));
        let watched = is_relist.then(|| Watched::of(client, list))??;
        if self.follow_end(&watched) {
            return None;
        }
        let open = self.watches.get(&watched).filter(|open| open.len() == 1)?;
        let audit_id = Arc::clone(self.opened.get(open.first()?)?);
        self.close(&audit_id, CloseReason::GivenUp)
    }

    /// The open list that read these keys of etcd. `None` if there may be several, or if the API server sent the list itself.
    pub(super) fn list_in(&self, range: &EtcdRange) -> Option<ExchangeId> {
        let list = self.open_one(self.opened.get(&self.lists.only_one_in(range)?)?)?;
        (!list.is_own).then_some(list.id)
    }

    /// The open watch that a line is about. `ended` has the last events of requests within [`super::served::ENDS_WITHIN`] after it: of several
    /// watches, it is the only one that ended early.
    pub(super) fn closed_by_force<'e>(&self, forced: &ForcedClose, ended: impl Iterator<Item = &'e AuditEvent>) -> ForcedMatch {
        let Candidates::These(candidates) = self.served.that(forced) else { return ForcedMatch::Ambiguous };
        if candidates.len() <= 1 {
            let only = candidates.first().and_then(|ordinal| self.opened.get(ordinal));
            return only.map_or(ForcedMatch::None, |audit_id| ForcedMatch::Watch(audit_id.to_string()));
        }
        let is_one = |event: &&AuditEvent| {
            let open = self.open_one(&event.audit_id);
            open.is_some_and(|open| candidates.contains(&open.ordinal)) && ended_early(event)
        };
        let mut found: Option<&str> = None;
        for event in ended.filter(is_one) {
            if found.replace(event.audit_id.as_str()).is_some_and(|other| other != event.audit_id) {
                return ForcedMatch::Ambiguous;
            }
        }
        found.map_or(ForcedMatch::Ambiguous, |audit_id| ForcedMatch::Watch(audit_id.to_owned()))
    }

    /// The open watch that ended early with this event, if its resource is that of the watch cache.
    pub(super) fn ended_by_reset(&self, reset: &ResetCache, event: &AuditEvent) -> Option<ExchangeId> {
        let open = self.open_one(&event.audit_id).filter(|open| !open.is_own)?;
        let is_of_it = open.watched.as_ref().is_some_and(|watched| reset.is_of(&watched.resource));
        (is_of_it && ended_early(event)).then_some(open.id)
    }

    /// Whether the client has an open watch of the objects that a request lists.
    pub(super) fn has_watch_of(&self, client: ConnectionId, list: &RequestLine) -> bool {
        Watched::of(client, list).is_some_and(|watched| self.watches.contains_key(&watched))
    }

    /// Closes the open requests of some logs, the oldest first.
    pub(super) fn close_all(&mut self, is_of_them: impl Fn(usize) -> bool) -> Vec<OpenRequest> {
        let is_of_it = |audit_id: &&Arc<str>| self.open_one(audit_id).is_some_and(|open| is_of_them(open.log));
        let ids: Vec<Arc<str>> = self.opened.values().filter(is_of_it).cloned().collect();
        ids.iter().filter_map(|audit_id| self.close(audit_id, CloseReason::GivenUp)).collect()
    }

    /// Attributes a request to a watch that has ended. Whether there was one.
    fn follow_end(&mut self, watched: &Watched) -> bool {
        let Some(ends) = self.ended.touch(watched) else { return false };
        *ends -= 1;
        if *ends == 0 {
            self.ended.remove(watched);
        }
        true
    }

    fn close_oldest(&mut self) -> Option<OpenRequest> {
        let audit_id = Arc::clone(self.opened.first_key_value()?.1);
        self.close(&audit_id, CloseReason::GivenUp)
    }
}

impl Watched {
    fn of(client: ConnectionId, request: &RequestLine) -> Option<Self> {
        let info = request.info.as_ref()?;
        let selectors = [request.options.label_selector.clone(), request.options.field_selector.clone()];
        Some(Self { client, resource: request.resource()?.to_string(), namespace: info.namespace.clone(), selectors })
    }
}
