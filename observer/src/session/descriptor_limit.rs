//! Raises the limit of open file descriptors to the maximum that the system allows.
//!
//! Each connection of a proxy takes two. Each file of a probe takes one for each program, or for each place where one is attached. Logs that
//! are read together take one each.
//!
//! Many systems start a process with a low limit, because some programs use select(2) (`man 2 select`). A command that watchtap
//! starts may be such a program, so it gets the original limit. The same holds for an exec plugin that a client starts. `verify`
//! starts a plugin itself, but needs few connections and does not raise the limit. A plugin that a probe starts for watchtap's own
//! requests gets the raised limit.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The current limit, and the one before it was raised.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DescriptorLimit {
    before: Rlimit,
    now: Rlimit,
}

impl DescriptorLimit {
    /// Raises the limit to the maximum that needs no privilege. If that fails, the limit stays as it is.
    pub(crate) fn raise() -> Self {
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

    /// The maximum number of open descriptors; `None` if there is no limit.
    pub(super) fn count(self) -> Option<u64> {
        self.now.current
    }

    /// Calls `start`, which starts a process, with the original limit.
    ///
    /// Until `start` returns, the original limit also applies to this process.
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
