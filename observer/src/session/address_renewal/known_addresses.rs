//! The known addresses of API servers, by server and source: pure.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use crate::api_server::{UpstreamEndpoint, UpstreamId};

/// The addresses of all API servers.
#[derive(Clone, Debug, Default)]
pub(in crate::session) struct KnownAddresses {
    names: Vec<Name>,
    /// The server whose cluster has the EndpointSlice, with the addresses there.
    slice: Option<(UpstreamId, BTreeSet<SocketAddr>)>,
}

/// A name of an API server.
#[derive(Clone, Debug)]
struct Name {
    server: UpstreamId,
    endpoint: UpstreamEndpoint,
    addresses: Vec<SocketAddr>,
    /// Whether the last lookup failed.
    is_failing: bool,
}

impl KnownAddresses {
    /// Adds a name of a server, with the addresses that were found for it; none if the lookup failed.
    pub(in crate::session) fn add(&mut self, server: UpstreamId, endpoint: UpstreamEndpoint, addresses: Vec<SocketAddr>) {
        let is_failing = addresses.is_empty();
        self.names.push(Name { server, endpoint, addresses, is_failing });
    }

    /// The names whose addresses may change, by number. A name that is an address has no other.
    pub(super) fn changeable(&self) -> Vec<(usize, UpstreamEndpoint)> {
        let names = self.names.iter().enumerate().filter(|(_, name)| name.endpoint.host.parse::<IpAddr>().is_err());
        names.map(|(number, name)| (number, name.endpoint.clone())).collect()
    }

    /// Takes the result of a lookup. If it failed, or found nothing, the last addresses stay. Returns a message if lookups of this name
    /// begin to fail, or work again.
    pub(super) fn looked_up(&mut self, number: usize, found: Result<Vec<SocketAddr>, String>) -> Option<String> {
        let name = self.names.get_mut(number)?;
        let found = found.and_then(|found| if found.is_empty() { Err("it has no address".to_owned()) } else { Ok(found) });
        let was_failing = std::mem::replace(&mut name.is_failing, found.is_err());
        match found {
            Ok(addresses) => {
                name.addresses = addresses;
                was_failing.then(|| format!("{} can be looked up again", name.endpoint))
            }
            Err(why) if !was_failing => Some(format!(
                "cannot look up {}: {why}; its last addresses stay, and clients at a new one are not seen",
                name.endpoint
            )),
            Err(_again) => None,
        }
    }

    /// Takes the addresses in the EndpointSlice of a server's cluster.
    pub(super) fn in_slice(&mut self, server: UpstreamId, addresses: BTreeSet<SocketAddr>) {
        self.slice = Some((server, addresses));
    }

    /// The server at each address. An address of several servers is that of the first one.
    pub(in crate::session) fn servers(&self) -> BTreeMap<SocketAddr, UpstreamId> {
        let named = self.names.iter().flat_map(|name| name.addresses.iter().map(|address| (*address, name.server)));
        let in_slice = self.slice.iter().flat_map(|(server, addresses)| addresses.iter().map(|address| (*address, *server)));
        let mut servers = BTreeMap::new();
        for (address, server) in named.chain(in_slice) {
            servers.entry(address).or_insert(server);
        }
        servers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: UpstreamId = UpstreamId(0);
    const SECOND: UpstreamId = UpstreamId(1);

    fn endpoint(host: &str) -> UpstreamEndpoint {
        UpstreamEndpoint { host: host.to_owned(), port: 6443 }
    }

    fn address(number: u8) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, number], 6443))
    }

    fn known() -> KnownAddresses {
        let mut known = KnownAddresses::default();
        known.add(FIRST, endpoint("api.example.com"), vec![address(1)]);
        known.add(FIRST, endpoint("10.0.0.2"), vec![address(2)]);
        known.add(SECOND, endpoint("fd00::1"), vec!["[fd00::1]:6443".parse().unwrap()]);
        known.add(SECOND, endpoint("other.example.com"), vec![address(3)]);
        known
    }

    #[test]
    fn only_names_are_looked_up_again() {
        let names: Vec<_> = known().changeable().into_iter().map(|(number, endpoint)| (number, endpoint.host)).collect();
        assert_eq!(names, [(0, "api.example.com".to_owned()), (3, "other.example.com".to_owned())]);
    }

    #[test]
    fn failed_lookup_keeps_the_addresses_and_is_reported_once() {
        let mut known = known();
        let before = known.servers();
        for (found, expected) in [
            (Ok(vec![address(1)]), None),
            (Err("no such host"), Some("cannot look up api.example.com:6443: no such host")),
            (Err("no such host"), None),
            (Ok(vec![]), None),
            (Ok(vec![address(1)]), Some("can be looked up again")),
            (Ok(vec![]), Some("it has no address")),
        ] {
            let message = known.looked_up(0, found.map_err(str::to_owned));
            let is_expected = match (&message, expected) {
                (Some(message), Some(expected)) => message.contains(expected),
                (message, expected) => message.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{message:?}");
            assert_eq!(known.servers(), before);
        }
        known.looked_up(0, Ok(vec![address(7)]));
        assert!(known.servers().contains_key(&address(7)) && !known.servers().contains_key(&address(1)));
        assert_eq!(known.looked_up(9, Ok(vec![])), None);
    }

    #[test]
    fn name_that_failed_at_the_start_is_looked_up_again() {
        let mut known = KnownAddresses::default();
        known.add(FIRST, endpoint("api.example.com"), vec![]);
        assert_eq!(known.changeable().len(), 1);
        assert_eq!(known.looked_up(0, Err("no such host".to_owned())), None, "the start has reported it");
        let message = known.looked_up(0, Ok(vec![address(1)])).unwrap();
        assert!(message.contains("api.example.com:6443 can be looked up again"), "{message}");
        assert_eq!(known.servers(), [(address(1), FIRST)].into());
    }

    #[test]
    fn several_addresses_belong_to_one_server() {
        let mut known = known();
        known.looked_up(0, Ok(vec![address(1), address(4)]));
        // The EndpointSlice has an address of another server, too.
        known.in_slice(FIRST, [address(3), address(5)].into());
        let of = |server: UpstreamId| -> Vec<SocketAddr> {
            known.servers().into_iter().filter(|(_, id)| *id == server).map(|(address, _)| address).collect()
        };
        assert_eq!(of(FIRST), [1, 2, 4, 5].map(address));
        assert_eq!(of(SECOND), [address(3), "[fd00::1]:6443".parse().unwrap()]);
    }
}
