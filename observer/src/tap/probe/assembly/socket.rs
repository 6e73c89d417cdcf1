//! The socket of a connection: its endpoints, and the process that has it.

use std::net::{Ipv6Addr, SocketAddr};

use observer_core::http::{Protocol, Start};
use observer_core::observation::{CgroupOwner, Process};
use observer_ebpf::{Endpoint, NANOSECONDS_A_TICK, Opened, Role};

use crate::api_server::UpstreamId;
use crate::intake::ConnectionInfo;

/// The socket of a connection, as the programs report it once they know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Socket {
    pub role: Role,
    /// Its address in the kernel.
    pub address: u64,
    /// Since when it is known, as [`Record::time`](observer_ebpf::Record::time).
    pub known: u64,
    pub endpoints: Endpoints,
    /// Number of the file whose functions show the connection.
    pub file: u32,
    /// The process at the recorded end, whether client or server.
    pub process: Process,
}

/// The addresses of both ends of a connection; the same from either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Endpoints {
    pub client: SocketAddr,
    pub server: SocketAddr,
}

impl Socket {
    /// The socket of a connection of `process`, whose cgroup `owner` has, reported at the time `known`. `None` if the role in
    /// `opened` is unknown.
    pub(super) fn of(process: u32, known: u64, opened: &Opened, owner: Option<CgroupOwner>) -> Option<Self> {
        let (local, remote) = (address(opened.local), address(opened.remote));
        let (role, endpoints) = match opened.role {
            role if role == Role::Client as u32 => (Role::Client, Endpoints { client: local, server: remote }),
            role if role == Role::Server as u32 => (Role::Server, Endpoints { client: remote, server: local }),
            _unknown => return None,
        };
        let name = opened.name.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let process = Process::new(process, opened.started / NANOSECONDS_A_TICK, name).owned_by(owner);
        Some(Self { role, address: opened.socket, known, endpoints, file: opened.file, process })
    }

    /// The connection, as reported to the intake. If the recorded end is the server's, `other` is the client's process, if that is
    /// known.
    pub(super) fn info(
        &self,
        upstream: Option<UpstreamId>,
        protocol: Option<Protocol>,
        start: Start,
        other: Option<Process>,
    ) -> ConnectionInfo {
        let Endpoints { client, server } = self.endpoints;
        let process = if self.role == Role::Client { Some(self.process.clone()) } else { other };
        ConnectionInfo { client, upstream, server, process, container_name: None, protocol, start }
    }

    /// Whether both ends are certainly on this machine. If false, both ends may still be on it, since pods have addresses of their
    /// own.
    pub(super) fn is_on_one_machine(&self) -> bool {
        self.endpoints.client.ip() == self.endpoints.server.ip()
    }
}

fn address(end: Endpoint) -> SocketAddr {
    SocketAddr::new(Ipv6Addr::from(end.address).to_canonical(), end.port)
}
