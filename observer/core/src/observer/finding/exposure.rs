//! Estimates the cost of a restart of the API server at this moment.

use serde::Serialize;

use crate::exchange::{Client, Shape};
use crate::quantity::Amount;
use crate::reflector::{ReflectorId, ReflectorRow, RelistCause};

/// The relists that a restart of the API server would cause now.
///
/// A watch cache that is reset holds no history before its first list, which has the newest revision in etcd (kubernetes/apiserver
/// `pkg/storage/cacher/watch_cache.go`, `getAllEventsSinceLocked`). A watch from an older revision expires. So reflectors behind
/// the newest revision seen relist for certain. The others relist if there were writes that watchtap did not see. Watches of
/// `events`, which have no watch cache, do not expire. Clients that earlier watched without a revision, instead of resuming, relist
/// for certain. client-go up to 1.15 also relists for certain, but the counts ignore this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exposure {
    /// Reflectors with an open watch.
    pub watching: u64,
    /// Reflectors among them that would relist for certain.
    pub reflectors: u64,
    /// Reflectors among them that would relist if there were writes that watchtap did not see.
    pub perhaps: u64,
    /// Objects held by the reflectors that would relist for certain.
    pub items: Amount,
    /// Bytes of the last lists of the reflectors that would relist for certain.
    pub bytes: Amount,
    /// The reflectors that would relist for certain, those with the most bytes first; bounded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exposed: Vec<Exposed>,
}

/// A reflector that would relist for certain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exposed {
    /// Its number.
    pub reflector: ReflectorId,
    /// The client, as its requests identify it.
    pub client: Client,
    /// Resource, objects and options of its lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// How far it is behind the newest revision seen in the same etcd, in revisions.
    pub behind: u64,
    /// Objects that it holds.
    pub items: Amount,
    /// Bytes of its last list.
    pub bytes: Amount,
}

impl Exposure {
    /// The exposure of `reflectors`. `exposed` has at most `most` entries.
    pub(in crate::observer) fn of(reflectors: &[ReflectorRow], most: usize) -> Self {
        let watching = reflectors.iter().filter(|row| row.is_watching());
        let mut exposure = Self::default();
        for row in watching {
            exposure.watching = exposure.watching.saturating_add(1);
            let behind = row.behind_store.unwrap_or(0);
            let always_relists = row.causes.contains_key(&RelistCause::WatchWithoutRevision.id());
            if row.is_of_events() && !always_relists {
                continue;
            }
            if behind == 0 && !always_relists {
                exposure.perhaps = exposure.perhaps.saturating_add(1);
                continue;
            }
            exposure.reflectors = exposure.reflectors.saturating_add(1);
            exposure.items = exposure.items.saturating_add(row.objects);
            exposure.bytes = exposure.bytes.saturating_add(row.last_list_bytes);
            exposure.exposed.push(Exposed {
                reflector: row.reflector,
                client: row.client.clone(),
                shape: row.shape.clone(),
                behind,
                items: row.objects,
                bytes: row.last_list_bytes,
            });
        }
        exposure.exposed.sort_by_key(|exposed| (std::cmp::Reverse(exposed.bytes), exposed.reflector));
        exposure.exposed.truncate(most);
        exposure
    }
}
