//! The session's side of changing addresses.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
#[cfg(test)]
use std::{collections::BTreeSet, time::Instant};

use tokio::sync::watch;

use super::activity::Activity;
use super::followed::FollowedAddresses;
#[cfg(test)]
use super::readdressing::Readdressing;
use crate::api_server::UpstreamId;

/// Gives a running probe the addresses of its API servers, and has its followed addresses.
#[derive(Clone, Debug)]
pub struct ServerAddresses {
    servers: watch::Sender<BTreeMap<SocketAddr, UpstreamId>>,
    followed: watch::Receiver<Arc<FollowedAddresses>>,
    activity: Activity,
}

impl ServerAddresses {
    pub(in crate::tap::probe) const fn new(
        servers: watch::Sender<BTreeMap<SocketAddr, UpstreamId>>,
        followed: watch::Receiver<Arc<FollowedAddresses>>,
        activity: Activity,
    ) -> Self {
        Self { servers, followed, activity }
    }

    /// Without a probe: the function follows addresses as a probe does.
    #[cfg(test)]
    pub(crate) fn without_a_probe(servers: BTreeMap<SocketAddr, UpstreamId>) -> (Self, impl FnMut()) {
        let activity = Activity::of(&servers);
        let (sender, receiver) = watch::channel(servers);
        let (mut readdressing, _, followed) = Readdressing::of(receiver);
        let follow = move || {
            readdressing.due(Instant::now(), BTreeSet::new);
            readdressing.publish();
        };
        (Self::new(sender, followed, activity), follow)
    }

    /// Without a probe: notes that something was seen of a server.
    #[cfg(test)]
    pub(crate) fn note_transfer(&self, server: UpstreamId) {
        self.activity.note(server);
    }

    /// The API servers have these addresses now. Addresses that are left out are still followed for a while.
    pub fn are(&self, servers: BTreeMap<SocketAddr, UpstreamId>) {
        self.servers.send_replace(servers);
    }

    /// The followed addresses, and their changes.
    pub fn followed(&self) -> watch::Receiver<Arc<FollowedAddresses>> {
        self.followed.clone()
    }

    /// Number of transfers that were seen so far on connections of an API server.
    pub fn transfers(&self, server: UpstreamId) -> u64 {
        self.activity.transfers(server)
    }
}
