//! How many descriptors this process may have open: as many as the system lets it, since each connection takes two.
//!
//! The limit that a process starts with is low on many systems for the sake of programs that use select(2) (`man 2 select`). A command that we
//! start may be one of them, so it gets the limit that it would have had without us. So does an exec plug-in: clients start theirs, and
//! `verify`, which starts one itself, needs few connections and raises nothing.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The limit, and what it was before it was raised.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescriptorLimit {
    before: Rlimit,
    now: Rlimit,
}

impl DescriptorLimit {
    /// Raises it to what is allowed without privilege. Where that fails, it stays as it was.
    pub(super) fn raise() -> Self {
        let before = getrlimit(Resource::Nofile);
        let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
        match setrlimit(Resource::Nofile, wanted) {
            Ok(()) => Self { before, now: wanted },
            Err(error) => {
                tracing::debug!(%error, "the limit of open descriptors stays at {:?}", before.current);
                Self { now: before, before }
            }
        }
    }

    /// How many may be open now; `None` when there is no limit.
    pub(super) fn count(self) -> Option<u64> {
        self.now.current
    }

    /// Starts a process that is to have the limit of before.
    ///
    /// Until `start` returns we have it, too: what we need meanwhile has to fit.
    pub(super) fn as_before<T>(self, start: impl FnOnce() -> T) -> T {
        set(self.before);
        let started = start();
        set(self.now);
        started
    }
}

fn set(limit: Rlimit) {
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open descriptors could not be set to {:?}", limit.current);
    }
}
