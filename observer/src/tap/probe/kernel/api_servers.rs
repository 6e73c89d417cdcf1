//! The map of the API servers' addresses, which changes while the programs run.

use std::net::{IpAddr, SocketAddr};

use aya::maps::{HashMap, MapData};
use observer_ebpf::Endpoint;

use super::error::KernelError;

/// The value in maps that serve as sets.
pub(super) const ANY: u32 = 0;

/// The addresses by which the programs recognize connections with an API server.
pub(super) struct ApiServers(HashMap<MapData, [u8; size_of::<Endpoint>()], u32>);

impl ApiServers {
    pub(super) const fn of(map: HashMap<MapData, [u8; size_of::<Endpoint>()], u32>) -> Self {
        Self(map)
    }

    /// Adds an address. It may be there already.
    pub(super) fn add(&mut self, address: SocketAddr) -> Result<(), KernelError> {
        let added = self.0.insert(endpoint(address).to_bytes(), ANY, 0);
        added.map_err(|error| KernelError::Map { name: "API_SERVERS", source: Box::new(error) })
    }

    /// Removes an address. Connections that are recorded already stay recorded.
    pub(super) fn remove(&mut self, address: SocketAddr) {
        // It may be gone already.
        let _gone = self.0.remove(&endpoint(address).to_bytes());
    }
}

fn endpoint(address: SocketAddr) -> Endpoint {
    let ip = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    Endpoint { address: ip.octets(), port: address.port(), reserved: 0 }
}
