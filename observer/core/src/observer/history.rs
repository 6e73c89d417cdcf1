//! Which revisions this run saw as current, per resource: what decides whether a snapshot can still be there.

use std::collections::BTreeMap;

use super::limits::Limits;
use crate::exchange::Exchange;
use crate::k8s::{Continue, Resource, ResourceVersion, ResourceVersionMatch, Verb};
use crate::observation::Body;
use crate::routing::RevisionHistory;
use crate::time::Timestamp;
use crate::wire::EventType;

/// Group and plural name: all versions of a built-in resource share one watch cache.
type Key = (String, String);

/// The histories of all resources of one API server.
#[derive(Debug, Default)]
pub(super) struct Histories {
    by_resource: BTreeMap<Key, RevisionHistory>,
}

impl Histories {
    pub(super) fn of(&self, resource: &Resource) -> Option<&RevisionHistory> {
        self.by_resource.get(&key(resource))
    }

    /// Learns from a part of an answer. A list counts from the moment it was asked for: its revision was current then or later.
    pub(super) fn learn(&mut self, exchange: &Exchange, at: Timestamp, body: &Body, limits: &Limits) {
        let Some(resource) = exchange.request.info.as_ref().and_then(|info| info.resource.as_ref()) else { return };
        let (text, at) = match body {
            Body::List(meta) if is_current_state(exchange) => (meta.resource_version.as_str(), exchange.started),
            // Other events can be replayed from long ago; a bookmark is where the cache is.
            Body::Events(events) => {
                let bookmark = events.iter().rfind(|event| event.event_type == EventType::Bookmark);
                (bookmark.map(|event| event.object.resource_version.as_str()).unwrap_or_default(), at)
            }
            Body::List(_) | Body::Kind(_) | Body::Items(_) | Body::Object(_) | Body::Status(_) => return,
        };
        let ResourceVersion::At(revision) = ResourceVersion::parse(text) else { return };
        let key = key(resource);
        if self.by_resource.contains_key(&key) || self.by_resource.len() < limits.histories {
            self.by_resource.entry(key).or_default().note(revision, at);
        }
    }

    /// The server was restarted, or may have been: its snapshots are gone.
    pub(super) fn forget(&mut self) {
        self.by_resource.clear();
    }
}

/// Whether a list shows the present state rather than that of a revision it named.
fn is_current_state(exchange: &Exchange) -> bool {
    let options = &exchange.request.options;
    let legacy_exact = options.limit > 0
        && matches!(options.resource_version, ResourceVersion::At(_))
        && options.resource_version_match == ResourceVersionMatch::Unset;
    exchange.verb() == Some(Verb::List)
        && options.continue_token == Continue::Unset
        && options.resource_version_match != ResourceVersionMatch::Exact
        && !legacy_exact
}

fn key(resource: &Resource) -> Key {
    (resource.group.clone(), resource.resource.clone())
}
