//! Which revisions this run saw as current, per resource: what decides whether a snapshot can still be there.

use std::collections::BTreeMap;

use crate::exchange::Exchange;
use crate::k8s::{Continue, Resource, ResourceVersion, ResourceVersionMatch, Verb};
use crate::observation::Body;
use crate::routing::{RevisionHistory, is_in_main_etcd};
use crate::time::Timestamp;
use crate::wire::EventType;

/// Group and plural name: all versions of a built-in resource share one watch cache.
type Key = (String, String);

/// The histories of all resources of one API server.
#[derive(Debug, Default)]
pub(super) struct Histories {
    by_resource: BTreeMap<Key, History>,
    /// The highest revision that any resource in the main etcd showed.
    shown: Option<u64>,
}

#[derive(Debug, Default)]
struct History {
    revisions: RevisionHistory,
    /// The highest revision that an answer about the resource showed, of an item or of the whole.
    shown: Option<u64>,
    /// Whether it shares its revisions with the rest.
    company: Company,
}

/// Whether a resource lies in one etcd with the others. Flags can put any into one of its own (`--etcd-servers-overrides`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Company {
    /// Nothing was seen that tells.
    #[default]
    Unknown,
    /// A list was of a revision as high as what the others had shown.
    Abreast,
    /// One was not, where it should have been.
    Apart,
}

impl Histories {
    pub(super) fn of(&self, resource: &Resource) -> Option<&RevisionHistory> {
        self.by_resource.get(&key(resource)).map(|history| &history.revisions)
    }

    /// The highest revision that is known to have existed where the resource is stored.
    pub(super) fn shown(&self, resource: &Resource) -> Option<u64> {
        let history = self.by_resource.get(&key(resource))?;
        let abreast = is_in_main_etcd(resource) && history.company == Company::Abreast;
        history.shown.max(self.shown.filter(|_| abreast))
    }

    /// Resources that have one.
    pub(super) fn len(&self) -> usize {
        self.by_resource.len()
    }

    /// Learns from a part of an answer which revisions there were; whether it shows that those that were shown before are gone. `has_room`:
    /// for another resource.
    pub(super) fn learn(&mut self, exchange: &Exchange, at: Timestamp, body: &Body, has_room: bool) -> bool {
        let Some(resource) = exchange.request.resource() else { return false };
        let goes_back = self.heed_going_back(exchange, resource, body);
        self.note(exchange, resource, at, body, has_room);
        goes_back
    }

    fn note(&mut self, exchange: &Exchange, resource: &Resource, at: Timestamp, body: &Body, has_room: bool) {
        let asked = exchange.request.options.resource_version;
        let shown = body.newest_revision(asked);
        let current = current_by(exchange, at, body).filter(|_| shown.is_some());
        if shown.is_none() && current.is_none() {
            return;
        }
        let key = key(resource);
        if !self.by_resource.contains_key(&key) && !has_room {
            return;
        }
        let history = self.by_resource.entry(key).or_default();
        if is_in_main_etcd(resource) && history.company != Company::Apart {
            if current.is_some_and(|(revision, _)| Some(revision) >= self.shown) && history.company == Company::Unknown {
                history.company = Company::Abreast;
            }
            self.shown = self.shown.max(shown);
        }
        history.shown = history.shown.max(shown);
        if let Some((revision, at)) = current {
            history.revisions.note(revision, at);
        }
    }

    /// Forgets what was shown where an answer other than a list shows that the server has no longer got so far as when it was asked.
    fn heed_going_back(&mut self, exchange: &Exchange, resource: &Resource, body: &Body) -> bool {
        let (reached, is_created) = match body {
            Body::Status(status) => (status.current_revision(), false),
            Body::Object(object) if exchange.verb() == Some(Verb::Create) => {
                (ResourceVersion::number(&object.resource_version), true)
            }
            Body::Object(_)
            | Body::MediaType(_)
            | Body::Kind(_)
            | Body::List(_)
            | Body::Items(_)
            | Body::Events(_)
            | Body::Version(_) => (None, false),
        };
        let Some(reached) = reached.filter(|reached| exchange.shown_before > Some(*reached)) else { return false };
        if is_created {
            self.went_back(resource, reached);
            true
        } else if self.by_resource.get(&key(resource)).is_some_and(|history| history.shown > Some(reached)) {
            // A cache may lag, too. Either way it is no longer known what the server must know.
            self.drop_shown();
            true
        } else {
            false
        }
    }

    /// The server has got as far as `revision` where `resource` is stored. If the resource itself had shown more, all that was seen is of another time
    /// (etcd was restored), and proves nothing from here on; if only others had, it does not share their etcd.
    pub(super) fn went_back(&mut self, resource: &Resource, revision: u64) {
        let abreast = self.shown(resource) > Some(revision);
        let Some(history) = self.by_resource.get_mut(&key(resource)) else { return };
        if history.shown > Some(revision) {
            self.forget();
        } else if abreast {
            history.company = Company::Apart;
        }
    }

    /// What was shown proves nothing from here on.
    fn drop_shown(&mut self) {
        self.shown = None;
        self.by_resource.values_mut().for_each(|history| history.shown = None);
    }

    /// The server was restarted, or may have been: its snapshots are gone.
    pub(super) fn forget(&mut self) {
        self.by_resource.clear();
        self.shown = None;
    }
}

/// The revision that an answer shows as current, and since when it was: that of a list from the moment it was asked for.
fn current_by(exchange: &Exchange, at: Timestamp, body: &Body) -> Option<(u64, Timestamp)> {
    match body {
        Body::List(meta) if is_current_state(exchange) => {
            Some((ResourceVersion::number(&meta.resource_version)?, exchange.started))
        }
        // Other events can be replayed from long ago; a bookmark is where the cache is.
        Body::Events(events) => {
            let bookmark = events.iter().rfind(|event| event.event_type == EventType::Bookmark)?;
            Some((ResourceVersion::number(&bookmark.object.resource_version)?, at))
        }
        Body::List(_)
        | Body::MediaType(_)
        | Body::Kind(_)
        | Body::Items(_)
        | Body::Object(_)
        | Body::Status(_)
        | Body::Version(_) => None,
    }
}

/// Whether a list shows the present state rather than that of a revision it named.
fn is_current_state(exchange: &Exchange) -> bool {
    let options = &exchange.request.options;
    exchange.verb() == Some(Verb::List)
        && options.continue_token == Continue::Unset
        && options.resource_version_match != ResourceVersionMatch::Exact
        && !options.is_exact()
}

fn key(resource: &Resource) -> Key {
    (resource.group.clone(), resource.resource.clone())
}
