//! How much was seen of each API server.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::api_server::UpstreamId;

/// The number of transfers that were seen on connections of each API server. The servers of a run are fixed.
#[derive(Clone, Debug, Default)]
pub(in crate::tap::probe) struct Activity(Arc<[AtomicU64]>);

impl Activity {
    /// Nothing seen yet of the servers at these addresses.
    pub(in crate::tap::probe) fn of(servers: &BTreeMap<SocketAddr, UpstreamId>) -> Self {
        let last = servers.values().max().and_then(|last| usize::try_from(last.0).ok());
        Self((0..last.map_or(0, |last| last + 1)).map(|_| AtomicU64::new(0)).collect())
    }

    /// Notes a transfer on a connection of a server.
    pub(in crate::tap::probe) fn note(&self, server: UpstreamId) {
        if let Some(counter) = self.counter(server) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of transfers so far on connections of a server.
    pub(in crate::tap::probe) fn transfers(&self, server: UpstreamId) -> u64 {
        self.counter(server).map_or(0, |counter| counter.load(Ordering::Relaxed))
    }

    fn counter(&self, server: UpstreamId) -> Option<&AtomicU64> {
        self.0.get(usize::try_from(server.0).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_are_counted_by_server() {
        let servers = [("10.0.0.1:6443", 0), ("10.0.0.2:6443", 2)];
        let activity = Activity::of(&servers.into_iter().map(|(address, id)| (address.parse().unwrap(), UpstreamId(id))).collect());
        for server in [0, 2, 2, 7] {
            activity.note(UpstreamId(server));
        }
        assert_eq!([0, 1, 2, 7].map(|server| activity.transfers(UpstreamId(server))), [1, 0, 2, 0]);
        assert_eq!(Activity::of(&BTreeMap::new()).transfers(UpstreamId(0)), 0);
    }
}
