//! What a restart of the API server would cost now.

use serde::Serialize;

use crate::exchange::{Client, Shape};
use crate::reflector::{ReflectorId, ReflectorRow, RelistCause};

/// What would list again if the API server were restarted now.
///
/// A watch cache that begins anew holds no history before its own first list, which is of the newest revision of all in etcd (kubernetes/apiserver
/// `pkg/storage/cacher/watch_cache.go`, `getAllEventsSinceLocked`), so a watch from an older one expires. Those that are behind what was seen list
/// again for certain. The others do, too, if anything was written that was not seen here; who watches `events`, which have no
/// watch cache, does not. client-go until 1.15 lists again in any case, and so does who watched again without a revision before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exposure {
    /// Reflectors that watch.
    pub watching: u64,
    /// Those among them that would list again for certain.
    pub reflectors: u64,
    /// Those that would if anything was written that was not seen here.
    pub perhaps: u64,
    /// Objects that the certain ones have.
    pub items: u64,
    /// Bytes of their last lists.
    pub bytes: u64,
    /// Them, the most bytes first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exposed: Vec<Exposed>,
}

/// A reflector that would list again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exposed {
    /// Which.
    pub reflector: ReflectorId,
    /// Its client.
    pub client: Client,
    /// What it lists.
    #[serde(flatten)]
    pub shape: Shape,
    /// How many revisions it is behind.
    pub behind: u64,
    /// Objects that it has.
    pub items: u64,
    /// Bytes of its last list.
    pub bytes: u64,
}

impl Exposure {
    /// What would list again, of `reflectors`; `most` of them are named.
    pub(in crate::observer) fn of(reflectors: &[ReflectorRow], most: usize) -> Self {
        let watching = reflectors.iter().filter(|row| row.is_watching());
        let mut exposure = Self::default();
        for row in watching {
            exposure.watching = exposure.watching.saturating_add(1);
            let behind = row.behind_store.unwrap_or(0);
            let begins_anew = row.causes.contains_key(&RelistCause::WatchWithoutRevision.id());
            if row.is_of_events() && !begins_anew {
                continue;
            }
            if behind == 0 && !begins_anew {
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
