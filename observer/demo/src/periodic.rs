//! Periodic actions of the API server and its store: compaction, and progress notifications.

use std::sync::Arc;

use tokio::time::{MissedTickBehavior, interval};

use super::cluster::{Cluster, State};

/// Compacts periodically, each time to the revision at the previous time (kubernetes/apiserver pkg/storage/etcd3/compact.go v0.34).
pub(super) async fn compact(cluster: Arc<Cluster>) {
    let mut ticks = interval(cluster.clock.lasts(cluster.config.compaction_interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut before = 0;
    loop {
        ticks.tick().await;
        let mut state = cluster.lock();
        let present = state.store.revision();
        state.compact(before);
        before = present;
    }
}

/// Periodically sends the store's revision to the caches, so that idle ones do not lag.
pub(super) async fn notify_progress(cluster: Arc<Cluster>) {
    let mut ticks = interval(cluster.clock.lasts(cluster.config.progress_interval));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is immediate, and nothing has to be sent then.
    ticks.tick().await;
    loop {
        ticks.tick().await;
        cluster.change(State::notify_progress);
    }
}
