//! The file descriptors that all listeners of the process share.
//!
//! A client needs two descriptors: one for its own connection, and one for the connection to the API server. A client that was
//! accepted with the last descriptor would have to be reset, and client-go would relist. So it waits until two are free, as it
//! would wait for a busy server. The first waiting client of each listener waits in `port`, later ones in the kernel's accept
//! queue.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::hellos::Hellos;

/// Bounds the number of open connections. Clones share the bound.
#[derive(Clone, Debug)]
pub struct Descriptors {
    free: Arc<Semaphore>,
    limit: u64,
    /// The incomplete `ClientHello`s, which all listeners share, too.
    hellos: Hellos,
}

/// The two descriptors of one connection, until this is dropped.
#[derive(Debug)]
pub(super) struct Pair {
    _permit: Option<OwnedSemaphorePermit>,
}

/// One eighth of the descriptors is for everything but connections: listeners, waiting clients, dials that only test upstream, name
/// lookups, files, processes. The two bounds below apply.
const REST: u64 = 8;
const LEAST_REST: u64 = 32;
const MOST_REST: u64 = 256;

impl Descriptors {
    /// The descriptors of a process that may have `limit` open; `None` means no limit.
    pub fn within(limit: Option<u64>) -> Self {
        let limit = limit.unwrap_or(u64::MAX);
        let rest = (limit / REST).clamp(LEAST_REST, MOST_REST);
        // At least one pair, since a proxy without one could serve no client.
        let pairs = usize::try_from(limit.saturating_sub(rest) / 2).unwrap_or(usize::MAX).clamp(1, Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(pairs)), limit, hellos: Hellos::default() }
    }

    /// How many descriptors the process may have.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Clients that have descriptors, but no complete `ClientHello` yet.
    pub(super) fn hellos(&self) -> &Hellos {
        &self.hellos
    }

    /// Takes the descriptors for one more connection, if two are free.
    pub(super) fn try_pair(&self) -> Option<Pair> {
        Arc::clone(&self.free).try_acquire_owned().ok().map(|permit| Pair { _permit: Some(permit) })
    }

    /// Waits until the descriptors for one more connection are free, and takes them.
    pub(super) async fn pair(&self) -> Pair {
        // Acquiring fails only for a closed semaphore, and this one is never closed.
        Pair { _permit: Arc::clone(&self.free).acquire_owned().await.ok() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_limit_reserves_descriptors_for_other_uses() {
        for (limit, pairs) in [(Some(20_000), 9_872), (Some(1_024), 448), (Some(256), 112), (Some(40), 4), (Some(8), 1)] {
            assert_eq!(Descriptors::within(limit).free.available_permits(), pairs, "{limit:?}");
        }
        assert_eq!(Descriptors::within(None).free.available_permits(), Semaphore::MAX_PERMITS);
    }

    #[tokio::test]
    async fn descriptor_pair_is_freed_with_its_connection() {
        let descriptors = Descriptors::within(Some(8));
        let only = descriptors.pair().await;
        assert!(descriptors.try_pair().is_none());
        drop(only);
        assert!(descriptors.try_pair().is_some());
    }
}
