//! Gets of one object.

use std::sync::Arc;

use crate::api::Resource;
use crate::cache::{GetLayer, of_get};
use crate::cluster::Cluster;
use crate::options::Revision;
use crate::refusal::Refusal;
use crate::store::Object;

/// Answers a get.
pub(crate) async fn get(
    cluster: &Cluster,
    resource: &Resource,
    (namespace, name): (&str, &str),
    revision: Revision,
) -> Result<Arc<Object>, Refusal> {
    let (key, layer) = {
        let mut state = cluster.lock();
        let key = state.key(resource, namespace, name);
        let cache = state.storage(resource).ok_or_else(Refusal::unknown_path)?.cache_state();
        (key, of_get(revision, cache))
    };
    let found = match layer {
        GetLayer::Etcd => {
            let mut state = cluster.lock();
            state.counters.etcd(resource, "get", 1);
            let present = state.store.revision();
            if let Revision::At(wanted) = revision
                && wanted > present
            {
                return Err(Refusal::too_large_resource_version(wanted, present, None));
            }
            state.store.get(&key)
        }
        GetLayer::Cache { not_older_than } => {
            let waited = cluster.reached(resource, not_older_than).await;
            waited.map_err(|late| Refusal::too_large_resource_version(not_older_than, late.current, Some(1)))?;
            cluster.lock().storage(resource).and_then(|storage| storage.cache.as_ref()?.get(&key))
        }
    };
    found.ok_or_else(|| Refusal::not_found(resource, name))
}
