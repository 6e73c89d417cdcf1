//! The revisions that answers of one API server showed, per resource. They decide whether a snapshot of a revision can still exist.

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
    /// The highest revision shown by any resource in the etcd that resources share by default.
    shown: Option<u64>,
}

#[derive(Debug, Default)]
struct History {
    revisions: RevisionHistory,
    /// The highest revision of an item or a list in the answers about the resource.
    shown: Option<u64>,
    /// Whether the resource is stored in the same etcd as the others.
    company: Company,
}

/// Whether a resource is stored in the same etcd as the other resources. Flags can give any resource an etcd of its own
/// (`--etcd-servers-overrides`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Company {
    /// No evidence yet.
    #[default]
    Unknown,
    /// Same etcd: a current revision of the resource was at least as high as the highest revision of the others.
    Abreast,
    /// Another etcd: after `Abreast`, a current revision of the resource was lower than a revision of the others.
    Apart,
}

impl Histories {
    pub(super) fn of(&self, resource: &Resource) -> Option<&RevisionHistory> {
        if self.by_resource.is_empty() {
            return None;
        }
        self.by_resource.get(&key(resource)).map(|history| &history.revisions)
    }

    /// The highest revision known to have existed in the etcd that stores the resource.
    pub(super) fn shown(&self, resource: &Resource) -> Option<u64> {
        if self.by_resource.is_empty() {
            return None;
        }
        let history = self.by_resource.get(&key(resource))?;
        let abreast = is_in_main_etcd(resource) && history.company == Company::Abreast;
        history.shown.max(self.shown.filter(|_| abreast))
    }

    /// Number of resources with a history.
    pub(super) fn len(&self) -> usize {
        self.by_resource.len()
    }

    /// Learns the revisions in a part of an answer. Returns whether the answer shows that revisions seen earlier are gone.
    /// `has_room`: whether a new resource may be added.
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

    /// Forgets the shown revisions if an answer other than a list has a lower revision than its server had shown before the
    /// request.
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
            // Either etcd was restored, or a watch cache lags. In both cases it is unknown which revisions the server must have.
            self.drop_shown();
            true
        } else {
            false
        }
    }

    /// Notes that `revision` is current in the etcd that stores `resource`. If the resource itself had shown a higher one, etcd was
    /// restored, so all earlier revisions prove nothing. If only other resources had shown a higher one, this resource does not
    /// share their etcd.
    pub(super) fn went_back(&mut self, resource: &Resource, revision: u64) {
        let abreast = self.shown(resource) > Some(revision);
        let Some(history) = self.by_resource.get_mut(&key(resource)) else { return };
        if history.shown > Some(revision) {
            self.forget();
        } else if abreast {
            history.company = Company::Apart;
        }
    }

    /// Forgets the shown revisions, which prove nothing from now on.
    fn drop_shown(&mut self) {
        self.shown = None;
        self.by_resource.values_mut().for_each(|history| history.shown = None);
    }

    /// Forgets everything: the server was restarted, or may have been, so its snapshots are gone.
    pub(super) fn forget(&mut self) {
        self.by_resource.clear();
        self.shown = None;
    }
}

/// The revision that an answer shows as current, and the time at which it was current. For a list, it is the time of the request.
fn current_by(exchange: &Exchange, at: Timestamp, body: &Body) -> Option<(u64, Timestamp)> {
    match body {
        Body::List(meta) if is_current_state(exchange) => {
            Some((ResourceVersion::number(&meta.resource_version)?, exchange.started))
        }
        // A bookmark has the revision that the watch cache has reached. Other events may be old: a watch begins with the events
        // since its revision.
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

/// Whether an answer is a list of the current state, and not of the state at a revision that the request names.
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
