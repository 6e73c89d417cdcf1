//! A handle with which scripts and tests change a running demo: restarts, faults and other actions.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::api::Resource;
use super::cluster::{Cluster, State};
use super::faults::FaultAnswer;
use super::serve::{Restart, StoreAfter};

/// Faults and other actions. It is cheap to clone, and has no effect after the server has been dropped.
#[derive(Clone, Debug)]
pub struct DemoHandle {
    pub(super) cluster: Arc<Cluster>,
    pub(super) restarts: mpsc::Sender<Restart>,
}

impl DemoHandle {
    /// Restarts the API server as SIGTERM does. It refuses new connections, ends all watches and other open requests, and is down
    /// for `down_for` of real time. It starts again with the same objects and empty event rings. As from a real server, a watch
    /// that resumes from a revision below the store's gets 410.
    ///
    /// The receiver gets its value when the server listens again. It gets an error if the server was dropped, or if too many
    /// restarts are waiting.
    pub fn restart(&self, down_for: Duration) -> oneshot::Receiver<()> {
        let (done, receiver) = oneshot::channel();
        self.ask_for(Restart { down_for, store: StoreAfter::AsItWas, done });
        receiver
    }

    /// Saves a backup of the store for [`DemoHandle::restore`]. It replaces an earlier backup.
    pub fn back_up(&self) {
        self.cluster.lock().back_up();
    }

    /// Restarts the API server like [`DemoHandle::restart`], and restores etcd from the backup meanwhile. All later writes are
    /// lost, and the revision is that of the backup.
    pub fn restore(&self, down_for: Duration) -> oneshot::Receiver<()> {
        let (done, receiver) = oneshot::channel();
        self.ask_for(Restart { down_for, store: StoreAfter::FromBackup, done });
        receiver
    }

    /// Drops all history: reads at any older revision get 410, and so do continued lists.
    pub fn compact(&self) {
        self.cluster.change(|state| {
            let present = state.store.revision();
            state.compact(present);
        });
    }

    /// Writes an object that no client can watch, and then resets all watch caches. Watches end, and get 410 from any revision at
    /// which they resume.
    pub fn expire_watches(&self) {
        self.cluster.change(|state| {
            state.write_own();
            state.refill_caches();
        });
    }

    /// Does the same as [`DemoHandle::expire_watches`], for one resource.
    pub fn expire_watches_of(&self, resource: &Resource) {
        self.cluster.change(|state| {
            state.write_own();
            state.refill_cache(resource);
        });
    }

    /// Ends all watches without an error; they can be resumed.
    pub fn end_watches(&self) {
        self.cluster.change(State::end_watches);
    }

    /// Answers every request for resources with an error for this real time.
    pub fn answer_with(&self, answer: FaultAnswer, lasting: Duration) {
        self.cluster.change(|state| state.faults.answer_with(answer, lasting));
    }

    /// Sends no bookmarks for this real time, except the one that ends initial events.
    pub fn drop_bookmarks(&self, lasting: Duration) {
        self.cluster.change(|state| state.faults.drop_bookmarks(lasting));
    }

    /// Does not send the bookmark that ends initial events for this real time, as a proxy that drops it.
    pub fn drop_list_ends(&self, lasting: Duration) {
        self.cluster.change(|state| state.faults.drop_list_ends(lasting));
    }

    /// Sends the responses that begin in this real time at this pace until it is over, as over a slow network. The pace holds for each
    /// response by itself.
    pub fn slow_down(&self, bytes_per_second: u64, lasting: Duration) {
        self.cluster.change(|state| state.faults.slow_down(bytes_per_second, lasting));
    }

    /// Until [`DemoHandle::end_deaf_watches`], the watches of a resource, or of all, that are open now deliver nothing, as on a dead connection.
    pub fn deafen(&self, resource: Option<&Resource>) {
        self.cluster.change(|state| state.deafen(resource));
    }

    /// Ends the watches that [`DemoHandle::deafen`] made deaf; they can be resumed.
    pub fn end_deaf_watches(&self, resource: Option<&Resource>) {
        self.cluster.change(|state| state.end_deaf_watches(resource));
    }

    /// Restores etcd from the backup at once, and resets all watch caches. Clients that list get an older state than they had.
    pub fn rewind(&self) {
        self.cluster.change(|state| {
            state.restore();
            state.refill_caches();
        });
    }

    /// Until [`DemoHandle::resume_caches`], watch caches get no events. Consistent lists fall back to the store after 3 s, and
    /// reads at a newer revision get 504.
    pub fn stall_caches(&self) {
        self.cluster.change(State::stall_caches);
    }

    /// Watch caches get events again, beginning with those that they missed.
    pub fn resume_caches(&self) {
        self.cluster.change(State::resume_caches);
    }

    /// Sets whether watch caches count as filled. While they do not, most lists and all watches get 429.
    pub fn set_caches_ready(&self, ready: bool) {
        self.cluster.change(|state| state.set_caches_ready(ready));
    }

    /// Writes an object that no client can watch. The write raises the store's revision.
    pub fn write_own(&self) {
        self.cluster.change(State::write_own);
    }

    /// The current revision of the store.
    pub fn revision(&self) -> u64 {
        self.cluster.lock().store.revision()
    }

    /// The number of open watches.
    pub fn open_watches(&self) -> usize {
        self.cluster.lock().open_watches()
    }

    fn ask_for(&self, restart: Restart) {
        // A request that does not fit into the queue is dropped, and its receiver gets an error.
        let _outcome = self.restarts.try_send(restart);
    }
}
