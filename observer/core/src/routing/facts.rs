//! Sorts a request and a server into the classes of the tables' columns.

use super::columns::{GateIs, InitialEvents, Keys, Match, Snapshot, Token, Version};
use super::gates::Gate;
use super::keys::{Scope, scope_of};
use super::profile::ServerProfile;
use super::version::Release;
use crate::k8s::{Continue, ContinueRevision, ListOptions, RequestInfo, ResourceVersion, ResourceVersionMatch};

/// The first release that knows `resourceVersionMatch`.
const KNOWS_MATCH: Release = Release::new(19, 0);
/// The first release that knows `sendInitialEvents`.
const KNOWS_INITIAL_EVENTS: Release = Release::new(27, 0);
/// The first release that reads the namespace from an exact `metadata.namespace` selector if a list names one object
/// (kubernetes/apiserver `pkg/registry/generic/registry/store.go` `ListPredicate`: absent in v0.26.0, present in v0.27.0).
const READS_NAMESPACE_SELECTOR: Release = Release::new(27, 0);

/// One possible combination of values for the facts that are unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct World {
    pub(super) release: Release,
    /// Whether etcd answers progress requests.
    pub(super) progress: bool,
    pub(super) keys: Keys,
    pub(super) snapshot: Snapshot,
}

/// The facts that the tables' conditions are checked against.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own, and all their combinations occur")]
pub(super) struct Facts<'q> {
    pub(super) profile: &'q ServerProfile,
    pub(super) release: Release,
    pub(super) ready: bool,
    pub(super) progress: bool,
    pub(super) keys: Keys,
    pub(super) snapshot: Snapshot,
    pub(super) token: Token,
    pub(super) matching: Match,
    pub(super) version: Version,
    pub(super) limit: bool,
    pub(super) selective: bool,
    pub(super) initial: InitialEvents,
    pub(super) bookmarks: bool,
    /// Value of the `watch` parameter. If it is true, the server validates the options as options of a watch, whatever the path is.
    pub(super) as_watch: bool,
}

impl<'q> Facts<'q> {
    pub(super) fn new(profile: &'q ServerProfile, ready: bool, options: &ListOptions, world: World) -> Self {
        let World { release, progress, keys, snapshot } = world;
        let matching = if release < KNOWS_MATCH { Match::Unset } else { Match::of(options.resource_version_match) };
        let version = Version::of(options.resource_version);
        let initial = if release < KNOWS_INITIAL_EVENTS { None } else { options.send_initial_events };
        let is_legacy = matching == Match::Unset && matches!(version, Version::Unset | Version::Zero);
        let is_rewritten = options.watch && is_legacy && profile.gate(Gate::WatchList, release);
        Self {
            profile,
            release,
            ready,
            progress,
            keys,
            snapshot,
            token: Token::of(&options.continue_token),
            matching,
            version,
            limit: options.limit > 0,
            selective: !(options.label_selector.is_empty() && options.field_selector.is_empty()),
            initial: match initial {
                Some(true) => InitialEvents::True,
                Some(false) => InitialEvents::False,
                None if is_rewritten => InitialEvents::Rewritten,
                None => InitialEvents::Unset,
            },
            bookmarks: options.allow_watch_bookmarks,
            as_watch: options.watch,
        }
    }

    pub(super) fn gate(&self, condition: GateIs) -> bool {
        match condition {
            GateIs::Any => true,
            GateIs::On(gate) => self.profile.gate(gate, self.release),
            GateIs::Off(gate) => !self.profile.gate(gate, self.release),
        }
    }

    /// Whether the watch cache can answer consistent lists (kubernetes/apiserver `pkg/storage/cacher/delegator/interface.go`
    /// `ConsistentReadSupported`, v0.33 to v0.37).
    pub(super) fn supports_consistent_lists(&self) -> bool {
        self.progress && self.gate(GateIs::On(Gate::ConsistentListFromCache))
    }
}

/// Whether a collection request names one object, in its path or by a field selector.
pub(super) fn names_one(info: &RequestInfo, options: &ListOptions) -> bool {
    !info.name.is_empty() || options.exact_field("metadata.name").is_some_and(|name| !name.is_empty())
}

/// The keys that a collection request can read in `release` (§1.1). The result has both variants if it is unknown whether the
/// resource has namespaces.
pub(super) fn possible_keys(info: &RequestInfo, options: &ListOptions, release: Release) -> Vec<Keys> {
    if options.continue_token != Continue::Unset || !names_one(info, options) {
        return vec![Keys::Many];
    }
    if !info.namespace.is_empty() || selected_namespace(options, release).is_some() {
        return vec![Keys::One];
    }
    match info.resource.as_ref().map_or(Scope::Unknown, scope_of) {
        Scope::Cluster => vec![Keys::One],
        Scope::Namespaced => vec![Keys::Many],
        Scope::Unknown => vec![Keys::Many, Keys::One],
    }
}

/// The namespace that the field selector demands, if the server narrows the scope to it.
pub(super) fn selected_namespace(options: &ListOptions, release: Release) -> Option<String> {
    let narrows = release >= READS_NAMESPACE_SELECTOR && options.continue_token == Continue::Unset;
    options.exact_field("metadata.namespace").filter(|namespace| narrows && !namespace.is_empty())
}

/// The revision in the continue token, or else in `resourceVersion`; `None` if the request names no revision.
pub(super) fn named_revision(options: &ListOptions) -> Option<u64> {
    match (&options.continue_token, options.resource_version) {
        (Continue::Token(token), _) => match token.revision {
            ContinueRevision::At(revision) => Some(revision),
            ContinueRevision::Latest => None,
        },
        (Continue::Unset, ResourceVersion::At(revision)) => Some(revision),
        (Continue::Unset, ResourceVersion::Unset | ResourceVersion::Any | ResourceVersion::Invalid) | (Continue::Invalid, _) => {
            None
        }
    }
}

impl Token {
    pub(super) fn of(token: &Continue) -> Self {
        match token {
            Continue::Unset => Self::Absent,
            Continue::Invalid => Self::Invalid,
            Continue::Token(token) => match token.revision {
                ContinueRevision::At(_) => Self::Positive,
                ContinueRevision::Latest => Self::Negative,
            },
        }
    }
}

impl Match {
    pub(super) const fn of(matching: ResourceVersionMatch) -> Self {
        match matching {
            ResourceVersionMatch::Unset => Self::Unset,
            ResourceVersionMatch::Exact => Self::Exact,
            ResourceVersionMatch::NotOlderThan => Self::NotOlderThan,
            ResourceVersionMatch::Invalid => Self::Invalid,
        }
    }
}

impl Version {
    pub(super) const fn of(version: ResourceVersion) -> Self {
        match version {
            ResourceVersion::Unset => Self::Unset,
            ResourceVersion::Any => Self::Zero,
            ResourceVersion::At(_) => Self::N,
            ResourceVersion::Invalid => Self::Invalid,
        }
    }
}
