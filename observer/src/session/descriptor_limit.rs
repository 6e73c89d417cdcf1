//! The number of descriptors that this process may open: as many as the system allows, since each connection takes two.
//!
//! Many systems start a process with a low limit, because some programs use select(2) (`man 2 select`). A command that we start may
//! be such a program, so it gets the limit that it would have without us. The same holds for an exec plugin that a client starts.
//! `verify` starts a plugin itself, but needs few connections and raises nothing.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The current limit, and the one before it was raised.
#[derive(Clone, Copy, Debug)]
pub(super) struct DescriptorLimit {
    before: Rlimit,
    now: Rlimit,
}

impl DescriptorLimit {
    /// Raises the limit to the maximum that needs no privilege. If that fails, the limit stays as it is.
    pub(super) fn raise() -> Self {
        let before = getrlimit(Resource::Nofile);
        let wanted = Rlimit { current: before.maximum, maximum: before.maximum };
        match setrlimit(Resource::Nofile, wanted) {
            Ok(()) => Self { before, now: wanted },
            Err(error) => {
                tracing::debug!(%error, "the limit of open file descriptors stays at {:?}", before.current);
                Self { now: before, before }
            }
        }
    }

    /// The number of descriptors that may be open now; `None` if there is no limit.
    pub(super) fn count(self) -> Option<u64> {
        self.now.current
    }

    /// Runs `start`, which starts a process, with the limit from before.
    ///
    /// Until `start` returns, this limit holds for us, too, so everything that we need meanwhile must fit.
    pub(super) fn as_before<T>(self, start: impl FnOnce() -> T) -> T {
        set(self.before);
        let started = start();
        set(self.now);
        started
    }
}

fn set(limit: Rlimit) {
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::warn!(%error, "the limit of open file descriptors could not be set to {:?}", limit.current);
    }
}
