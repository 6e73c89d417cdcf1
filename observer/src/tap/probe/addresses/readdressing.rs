//! The collecting thread's side of changing addresses: takes those that API servers have now, and publishes the followed ones.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::followed::{Change, FollowedAddresses};
use crate::api_server::UpstreamId;

/// How often former addresses may be dropped.
const EXPIRE_EVERY: Duration = Duration::from_mins(1);

/// How long the recording of header fields is awaited before the programs decide again about older connections.
const SETTLED_WITHIN: Duration = Duration::from_secs(2);

/// The addresses that API servers have, as the session finds them.
type Servers = watch::Receiver<BTreeMap<SocketAddr, UpstreamId>>;

/// The followed addresses, and the channels of their changes.
#[derive(Debug)]
pub(in crate::tap::probe) struct Readdressing {
    servers: Servers,
    followed: FollowedAddresses,
    published: watch::Sender<Arc<FollowedAddresses>>,
    next_expiry: Instant,
    /// Ports of new addresses whose older connections wait for the recording of their header fields, and since when.
    unsettled: Option<(BTreeSet<u16>, Instant)>,
}

impl Readdressing {
    /// Begins with the addresses that `servers` has. Returns them all as added.
    pub(in crate::tap::probe) fn of(mut servers: Servers) -> (Self, Vec<SocketAddr>, watch::Receiver<Arc<FollowedAddresses>>) {
        let mut followed = FollowedAddresses::default();
        let Change { added, .. } = followed.take(Instant::now(), &servers.borrow_and_update(), |_| false);
        let (published, receiver) = watch::channel(Arc::new(followed.clone()));
        let next_expiry = Instant::now() + EXPIRE_EVERY;
        (Self { servers, followed, published, next_expiry, unsettled: None }, added, receiver)
    }

    /// The change that is due now; `None` if there is no news. `connected` finds the server addresses of open connections.
    pub(in crate::tap::probe) fn due(&mut self, now: Instant, connected: impl FnOnce() -> BTreeSet<SocketAddr>) -> Option<Change> {
        // An error means that no change comes any more.
        let is_changed = self.servers.has_changed().unwrap_or(false);
        if !is_changed && now < self.next_expiry {
            return None;
        }
        let connected = connected();
        let has_connection = |address| connected.contains(&address);
        let mut change = Change::default();
        if is_changed {
            change = self.followed.take(now, &self.servers.borrow_and_update(), has_connection);
        }
        if now >= self.next_expiry {
            self.next_expiry = now + EXPIRE_EVERY;
            change.dropped.extend(self.followed.expire(now, has_connection));
        }
        Some(change)
    }

    /// Notes that the kernel refuses an address.
    pub(in crate::tap::probe) fn refuse(&mut self, address: SocketAddr) {
        self.followed.refuse(address);
    }

    /// Notes the ports of addresses that were added. Their older connections wait until [`Self::settle`].
    pub(in crate::tap::probe) fn unsettle(&mut self, now: Instant, ports: BTreeSet<u16>) {
        let (all, _) = self.unsettled.get_or_insert((BTreeSet::new(), now));
        all.extend(ports);
        self.followed.unsettle(all.clone());
    }

    /// The ports about whose older connections the programs have to decide again now. `is_ready` means that header fields of these
    /// connections are recorded. Call [`Self::publish`] afterwards.
    pub(in crate::tap::probe) fn settle(&mut self, now: Instant, is_ready: bool) -> Option<BTreeSet<u16>> {
        let is_due = |(_, since): &mut (_, Instant)| is_ready || now.saturating_duration_since(*since) >= SETTLED_WITHIN;
        let (ports, _) = self.unsettled.take_if(is_due)?;
        self.followed.unsettle(BTreeSet::new());
        Some(ports)
    }

    /// The followed addresses.
    pub(in crate::tap::probe) const fn followed(&self) -> &FollowedAddresses {
        &self.followed
    }

    /// Publishes the followed addresses, if they have changed.
    pub(in crate::tap::probe) fn publish(&self) {
        self.published.send_if_modified(|published| {
            let is_changed = **published != self.followed;
            if is_changed {
                *published = Arc::new(self.followed.clone());
            }
            is_changed
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: UpstreamId = UpstreamId(0);

    #[test]
    fn older_connections_wait_for_their_fields_or_two_seconds() {
        let (_servers, receiver) = watch::channel(BTreeMap::new());
        let (mut readdressing, _, _published) = Readdressing::of(receiver);
        let now = Instant::now();
        assert_eq!(readdressing.settle(now, true), None);
        for (later, is_ready, expected) in [
            (Duration::ZERO, false, None),
            (Duration::from_secs(1), true, Some(BTreeSet::from([443, 6443]))),
            (Duration::from_secs(1), false, None),
            (Duration::from_secs(2), false, Some(BTreeSet::from([443, 6443]))),
        ] {
            readdressing.unsettle(now, BTreeSet::from([443]));
            readdressing.unsettle(now + Duration::from_secs(1), BTreeSet::from([6443]));
            assert!(!readdressing.followed().is_settled());
            assert_eq!(readdressing.settle(now + later, is_ready), expected);
            assert_eq!(readdressing.followed().is_settled(), expected.is_some());
        }
    }

    #[test]
    fn changes_are_taken_once_and_published() {
        let [first, second] = [1, 2].map(|number| SocketAddr::from(([10, 0, 0, number], 6443)));
        let (servers, receiver) = watch::channel(BTreeMap::from([(first, SERVER)]));
        let (mut readdressing, added, mut published) = Readdressing::of(receiver);
        assert_eq!(added, [first]);
        let now = Instant::now();
        assert_eq!(readdressing.due(now, || panic!("nothing has changed")), None);

        servers.send_replace([(second, SERVER)].into());
        let due = readdressing.due(now, BTreeSet::new);
        assert_eq!(due, Some(Change { added: vec![second], dropped: vec![] }));
        readdressing.publish();
        assert_eq!(published.borrow_and_update().addresses(), [first, second]);
        assert_eq!(readdressing.due(now, || panic!("nothing has changed")), None);

        // The same addresses once more are no news, and former ones are dropped without further lookups.
        servers.send_replace([(second, SERVER)].into());
        assert_eq!(readdressing.due(now, BTreeSet::new), Some(Change::default()));
        readdressing.publish();
        assert!(!published.has_changed().unwrap());
        drop(servers);
        let later = now + Duration::from_hours(2);
        assert_eq!(readdressing.due(later, BTreeSet::new).unwrap().dropped, [first]);
        readdressing.publish();
        assert_eq!(published.borrow_and_update().addresses(), [second]);
    }
}
