//! Gets of one object.

use std::sync::Arc;

use crate::demo::api::Resource;
use crate::demo::cache::{GetLayer, of_get};
use crate::demo::cluster::Cluster;
use crate::demo::options::Revision;
use crate::demo::refusal::Refusal;
use crate::demo::store::Object;

/// Answers a get.
pub(in crate::demo) async fn get(
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
