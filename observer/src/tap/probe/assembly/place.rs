//! Where a connection leads, and whose it is.

use std::net::{Ipv6Addr, SocketAddr};

use observer_core::http::{Protocol, Start};
use observer_core::k8s::Container;
use observer_core::observation::Process;
use observer_ebpf::{Endpoint, NANOSECONDS_A_TICK, Opened, Role};

use crate::intake::ConnectionInfo;

/// What the programs say of a connection once they know its socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub role: Role,
    /// The socket, by its address in the kernel.
    pub socket: u64,
    /// Since when it is known, as [`Record::time`](observer_ebpf::Record::time).
    pub known: u64,
    pub ends: Ends,
    /// The number of the file through whose functions it is seen.
    pub file: u32,
    /// The process, whichever side it is.
    pub process: Process,
}

/// Both ends of a connection, the same seen from either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ends {
    pub client: SocketAddr,
    pub server: SocketAddr,
}

impl Place {
    /// Of a connection of the process with this number, which is in this container, as it was said at the time `known`; nothing where the role is none.
    pub(super) fn of(process: u32, known: u64, opened: &Opened, container: Option<Container>) -> Option<Self> {
        let (local, remote) = (address(opened.local), address(opened.remote));
        let (role, ends) = match opened.role {
            role if role == Role::Client as u32 => (Role::Client, Ends { client: local, server: remote }),
            role if role == Role::Server as u32 => (Role::Server, Ends { client: remote, server: local }),
            _unknown => return None,
        };
        let name = opened.name.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let process = Process { pid: process, started: opened.started / NANOSECONDS_A_TICK, name, container };
        Some(Self { role, socket: opened.socket, known, ends, file: opened.file, process })
    }

    /// What is told of it. The process of a client that is the other side is `other`, as far as it is known.
    pub(super) fn info(&self, protocol: Option<Protocol>, start: Start, other: Option<Process>) -> ConnectionInfo {
        let Ends { client, server } = self.ends;
        let process = if self.role == Role::Client { Some(self.process.clone()) } else { other };
        ConnectionInfo { client, listener: server, upstream: server, process, protocol, start }
    }

    /// Whether both ends are surely on this machine. They may be if they are not, as with pods, which have addresses of their own.
    pub(super) fn is_on_one_machine(&self) -> bool {
        self.ends.client.ip() == self.ends.server.ip()
    }
}

fn address(end: Endpoint) -> SocketAddr {
    SocketAddr::new(Ipv6Addr::from(end.address).to_canonical(), end.port)
}
