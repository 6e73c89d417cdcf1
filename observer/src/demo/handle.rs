//! What a script, or a test, does to a running demo.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::api::Resource;
use super::cluster::{Cluster, State};
use super::faults::FaultAnswer;
use super::serve::{Restart, StoreAfter};

/// Faults and other acts; cheap to clone, without effect once the server is gone.
#[derive(Clone, Debug)]
pub struct DemoHandle {
    pub(super) cluster: Arc<Cluster>,
    pub(super) restarts: mpsc::Sender<Restart>,
}

impl DemoHandle {
    /// Restarts the API server as SIGTERM does: it refuses new connections, ends all watches and what else is open, is away for
    /// `down_for`, and comes back with the same objects and empty event rings. A watch that is resumed from a revision below the
    /// store's gets 410, as from a real server.
    ///
    /// Await the receiver, or block on it; it ends with an error when the server is gone, or when restarts already wait.
    pub fn restart(&self, down_for: Duration) -> oneshot::Receiver<()> {
        let (done, receiver) = oneshot::channel();
        self.ask_for(Restart { down_for, store: StoreAfter::AsItWas, done });
        receiver
    }

    /// Saves the store, for [`DemoHandle::restore`]; what was saved before is dropped.
    pub fn back_up(&self) {
        self.cluster.lock().back_up();
    }

    /// Restarts the API server as [`DemoHandle::restart`] does, and meanwhile etcd is restored from the backup: all that was written since
    /// is gone, and the revision is what it was then.
    pub fn restore(&self, down_for: Duration) -> oneshot::Receiver<()> {
        let (done, receiver) = oneshot::channel();
        self.ask_for(Restart { down_for, store: StoreAfter::FromBackup, done });
        receiver
    }

    /// Forgets all history: reads at any older revision get 410, and so do continued lists.
    pub fn compact(&self) {
        self.cluster.change(|state| {
            let present = state.store.revision();
            state.compact(present);
        });
    }

    /// Restarts all watch caches behind a write of the server's own: watches end, and wherever they resume they get 410.
    pub fn expire_watches(&self) {
        self.cluster.change(|state| {
            state.write_own();
            state.refill_caches();
        });
    }

    /// The same of one resource alone.
    pub fn expire_watches_of(&self, resource: &Resource) {
        self.cluster.change(|state| {
            state.write_own();
            state.refill_cache(resource);
        });
    }

    /// Ends all watches cleanly; they can be resumed.
    pub fn end_watches(&self) {
        self.cluster.change(State::end_watches);
    }

    /// Answers every request for resources with an error for so long (real time).
    pub fn answer_with(&self, answer: FaultAnswer, lasting: Duration) {
        self.cluster.change(|state| state.faults.answer_with(answer, lasting));
    }

    /// Sends no bookmarks for so long (real time), but the one that ends initial events.
    pub fn drop_bookmarks(&self, lasting: Duration) {
        self.cluster.change(|state| state.faults.drop_bookmarks(lasting));
    }

    /// Until [`DemoHandle::resume_caches`], watch caches hear of nothing: consistent lists fall back to the store after 3 s, and reads
    /// at a newer revision end in 504.
    pub fn stall_caches(&self) {
        self.cluster.change(State::stall_caches);
    }

    /// Watch caches hear again, first of all that they missed.
    pub fn resume_caches(&self) {
        self.cluster.change(State::resume_caches);
    }

    /// Whether watch caches are filled; while they are not, most lists and all watches get 429.
    pub fn set_caches_ready(&self, ready: bool) {
        self.cluster.change(|state| state.set_caches_ready(ready));
    }

    /// A write of the server's own, which moves the store's revision and nothing that anybody watches.
    pub fn write_own(&self) {
        self.cluster.change(State::write_own);
    }

    /// The revision of the store.
    pub fn revision(&self) -> u64 {
        self.cluster.lock().store.revision()
    }

    /// How many watches are open.
    pub fn open_watches(&self) -> usize {
        self.cluster.lock().open_watches()
    }

    fn ask_for(&self, restart: Restart) {
        // A refused one is dropped, which its receiver sees.
        let _outcome = self.restarts.try_send(restart);
    }
}
