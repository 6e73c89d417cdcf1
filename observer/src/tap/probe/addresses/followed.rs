//! Which addresses are followed: pure, with the time as an argument.
//!
//! An address that its server no longer has is followed for some more time. Clients that looked the name up before may still connect to
//! it, and many names get a part of their addresses with each lookup. Its open connections are recorded in any case.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::api_server::UpstreamId;

/// Maximum number of addresses that the programs compare with.
pub const MAX_ADDRESSES: usize = observer_ebpf::MAX_API_SERVERS as usize;

/// How long an address is followed that its server no longer has. After that, it is followed until its last connection ends.
const KEPT: Duration = Duration::from_hours(1);

/// The addresses by which connections are recognized, each with its server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FollowedAddresses {
    addresses: BTreeMap<SocketAddr, Address>,
    /// Addresses of API servers that find no room.
    without_room: BTreeSet<SocketAddr>,
    /// Ports of new addresses. The programs have not yet decided again about older connections with them.
    unsettled: BTreeSet<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Address {
    server: UpstreamId,
    /// Since when its server no longer has it.
    former_since: Option<Instant>,
}

/// Changes of the followed addresses.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::tap::probe) struct Change {
    /// Addresses that are followed from now on.
    pub(in crate::tap::probe) added: Vec<SocketAddr>,
    /// Addresses that are no longer followed.
    pub(in crate::tap::probe) dropped: Vec<SocketAddr>,
}

impl FollowedAddresses {
    /// Takes the addresses that API servers have now, those of the first server first. Without room, a former address without a connection makes way: the one that
    /// has been former for the longest time.
    pub(super) fn take(
        &mut self,
        now: Instant,
        servers: &BTreeMap<SocketAddr, UpstreamId>,
        has_connection: impl Fn(SocketAddr) -> bool,
    ) -> Change {
        let mut change = Change::default();
        for (address, known) in &mut self.addresses {
            match servers.get(address) {
                Some(server) => *known = Address { server: *server, former_since: None },
                None => known.former_since = known.former_since.or(Some(now)),
            }
        }
        self.without_room.clear();
        let mut in_order: Vec<_> = servers.iter().collect();
        in_order.sort_by_key(|(address, server)| (**server, **address));
        for (address, server) in in_order {
            if self.addresses.contains_key(address) {
                continue;
            }
            if self.addresses.len() >= MAX_ADDRESSES {
                let Some(oldest) = self.oldest_former(&has_connection) else {
                    self.without_room.insert(*address);
                    continue;
                };
                self.addresses.remove(&oldest);
                change.dropped.push(oldest);
            }
            self.addresses.insert(*address, Address { server: *server, former_since: None });
            change.added.push(*address);
        }
        change
    }

    /// Drops addresses that have been former for [`KEPT`] and have no connection; returns them.
    pub(super) fn expire(&mut self, now: Instant, has_connection: impl Fn(SocketAddr) -> bool) -> Vec<SocketAddr> {
        let is_over = |address: &SocketAddr, known: &mut Address| {
            let is_old = known.former_since.is_some_and(|since| now.saturating_duration_since(since) >= KEPT);
            is_old && !has_connection(*address)
        };
        self.addresses.extract_if(.., is_over).map(|(address, _)| address).collect()
    }

    /// Notes that the kernel refuses an address.
    pub(super) fn refuse(&mut self, address: SocketAddr) {
        self.addresses.remove(&address);
        self.without_room.insert(address);
    }

    /// Notes that these ports of new addresses are not settled; without any, that all are.
    pub(super) fn unsettle(&mut self, ports: BTreeSet<u16>) {
        self.unsettled = ports;
    }

    /// Whether older connections to all followed addresses are observed, too.
    pub fn is_settled(&self) -> bool {
        self.unsettled.is_empty()
    }

    /// The followed addresses with their servers.
    pub fn servers(&self) -> impl Iterator<Item = (SocketAddr, UpstreamId)> {
        self.addresses.iter().map(|(address, known)| (*address, known.server))
    }

    /// The followed addresses.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.keys().copied().collect()
    }

    /// Whether an address is followed.
    pub fn is_followed(&self, address: SocketAddr) -> bool {
        self.addresses.contains_key(&address)
    }

    /// Number of followed addresses that their servers no longer have.
    pub fn former(&self) -> usize {
        self.addresses.values().filter(|known| known.former_since.is_some()).count()
    }

    /// Addresses of API servers that are not followed, for lack of room.
    pub fn without_room(&self) -> &BTreeSet<SocketAddr> {
        &self.without_room
    }

    fn oldest_former(&self, has_connection: impl Fn(SocketAddr) -> bool) -> Option<SocketAddr> {
        let former = self.addresses.iter().filter_map(|(address, known)| Some((known.former_since?, *address)));
        former.filter(|(_, address)| !has_connection(*address)).min().map(|(_, address)| address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: UpstreamId = UpstreamId(0);
    const OTHER: UpstreamId = UpstreamId(1);

    fn address(number: usize) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, u8::try_from(number).unwrap()], 6443))
    }

    fn of_server(numbers: impl IntoIterator<Item = usize>) -> BTreeMap<SocketAddr, UpstreamId> {
        numbers.into_iter().map(|number| (address(number), SERVER)).collect()
    }

    fn added(numbers: impl IntoIterator<Item = usize>) -> Change {
        Change { added: numbers.into_iter().map(address).collect(), dropped: Vec::new() }
    }

    #[test]
    fn moved_server_is_followed_at_both_addresses_for_an_hour() {
        let (start, mut followed) = (Instant::now(), FollowedAddresses::default());
        assert_eq!(followed.take(start, &of_server([1]), |_| false), added([1]));
        assert_eq!(followed.take(start, &of_server([2]), |_| false), added([2]));
        assert_eq!((followed.addresses(), followed.former()), (vec![address(1), address(2)], 1));
        // Looking it up again does not begin its hour again.
        followed.take(start + KEPT / 2, &of_server([2]), |_| false);
        assert_eq!(followed.expire(start + KEPT / 2, |_| false), []);
        assert_eq!(followed.expire(start + KEPT, |_| true), [], "a connection is open");
        assert_eq!(followed.expire(start + KEPT, |_| false), [address(1)]);
        assert_eq!((followed.addresses(), followed.former()), (vec![address(2)], 0));
        assert_eq!(followed.expire(start + 9 * KEPT, |_| false), [], "its server has it");
    }

    #[test]
    fn returning_address_is_no_longer_former() {
        let (start, mut followed) = (Instant::now(), FollowedAddresses::default());
        for addresses in [[1, 2], [2, 3], [1, 2]] {
            followed.take(start, &of_server(addresses), |_| false);
        }
        assert_eq!(followed.former(), 1);
        assert_eq!(followed.expire(start + KEPT, |_| false), [address(3)]);
    }

    #[test]
    fn address_of_two_servers_moves_with_its_name() {
        let mut followed = FollowedAddresses::default();
        followed.take(Instant::now(), &of_server([1]), |_| false);
        assert_eq!(followed.take(Instant::now(), &[(address(1), OTHER)].into(), |_| true), Change::default());
        assert_eq!(followed.servers().collect::<Vec<_>>(), [(address(1), OTHER)]);
    }

    #[test]
    fn oldest_former_address_without_a_connection_makes_way() {
        let (start, mut followed) = (Instant::now(), FollowedAddresses::default());
        followed.take(start, &of_server(0..MAX_ADDRESSES), |_| false);
        // 0, then 1 and then 2 become former; 0 has a connection.
        for gone in 1..4 {
            let later = start + Duration::from_secs(gone as u64);
            assert_eq!(followed.take(later, &of_server(gone..MAX_ADDRESSES), |_| false), Change::default());
        }
        let later = start + Duration::from_mins(1);
        let change = followed.take(later, &of_server(3..MAX_ADDRESSES + 2), |used| used == address(0));
        assert_eq!(change.added, [address(64), address(65)]);
        assert_eq!(change.dropped, [address(1), address(2)]);
        assert!(followed.without_room().is_empty());

        let change = followed.take(later, &of_server(3..MAX_ADDRESSES + 3), |used| used == address(0));
        assert_eq!((change, followed.without_room().clone()), (Change::default(), BTreeSet::from([address(66)])));
        assert_eq!(followed.addresses().len(), MAX_ADDRESSES);
        // The connection is over, so there is room.
        assert_eq!(followed.take(later, &of_server(3..MAX_ADDRESSES + 3), |_| false).added, [address(66)]);
        assert!(followed.without_room().is_empty());
    }

    #[test]
    fn addresses_of_the_first_server_come_before_others() {
        let mut servers: BTreeMap<_, _> = (0..MAX_ADDRESSES).map(|number| (address(number), OTHER)).collect();
        servers.insert(address(MAX_ADDRESSES), SERVER);
        let mut followed = FollowedAddresses::default();
        assert_eq!(followed.take(Instant::now(), &servers, |_| false).added.len(), MAX_ADDRESSES);
        assert_eq!(followed.without_room(), &BTreeSet::from([address(MAX_ADDRESSES - 1)]));
    }

    #[test]
    fn refused_address_is_tried_again() {
        let mut followed = FollowedAddresses::default();
        followed.take(Instant::now(), &of_server([1]), |_| false);
        followed.refuse(address(1));
        assert_eq!((followed.addresses(), followed.without_room().len()), (vec![], 1));
        assert_eq!(followed.take(Instant::now(), &of_server([1]), |_| false), added([1]));
    }
}
