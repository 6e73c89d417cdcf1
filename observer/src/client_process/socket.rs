//! Asks the kernel for the inode of the TCP socket between two addresses.

use std::io;
use std::net::{IpAddr, SocketAddr};

use netlink_packet_core::{NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, SocketId, StateFlags};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

/// Any cookie (`INET_DIAG_NOCOOKIE` of `linux/inet_diag.h`).
const NO_COOKIE: [u8; 8] = [0xFF; 8];
/// Size of the receive buffer in bytes; an answer about one socket takes a few hundred.
const ANSWER: usize = 4096;

/// Queries sockets through `sock_diag(7)`.
pub(super) struct SocketDiagnosis(Socket);

impl SocketDiagnosis {
    pub(super) fn new() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
        socket.bind_auto()?;
        socket.connect(&netlink_sys::SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    /// The inode of the TCP socket connected from `local` to `remote`; `None` if this network namespace has none.
    pub(super) fn inode(&mut self, local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u64>> {
        match self.ask(local, remote)? {
            // An IPv6 socket that is connected over IPv4 has IPv4-mapped addresses.
            None => match (mapped(local), mapped(remote)) {
                (Some(local), Some(remote)) => self.ask(local, remote),
                _ => Ok(None),
            },
            found => Ok(found),
        }
    }

    fn ask(&mut self, local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u64>> {
        let request = request(local, remote);
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let mut answer = Vec::with_capacity(ANSWER);
        self.0.recv(&mut answer, 0)?;
        let answer = <NetlinkMessage<SockDiagMessage>>::deserialize(&answer).map_err(io::Error::other)?;
        // Any other message means that there is no such socket.
        let NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) = answer.payload else { return Ok(None) };
        // If no connected socket matches, the kernel returns a listening one.
        let found = &response.header.socket_id;
        let is_it = (found.destination_address, found.destination_port) == (remote.ip(), remote.port());
        // A socket without an owner, such as one in `TIME_WAIT`, has inode 0.
        Ok(Some(u64::from(response.header.inode)).filter(|inode| is_it && *inode != 0))
    }
}

fn request(local: SocketAddr, remote: SocketAddr) -> NetlinkMessage<SockDiagMessage> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST;
    let socket_id = SocketId {
        source_port: local.port(),
        destination_port: remote.port(),
        source_address: local.ip(),
        destination_address: remote.ip(),
        interface_id: 0,
        cookie: NO_COOKIE,
    };
    let request = InetRequest {
        family: if local.is_ipv4() { AF_INET } else { AF_INET6 },
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::empty(),
        states: StateFlags::all(),
        socket_id,
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    message
}

fn mapped(address: SocketAddr) -> Option<SocketAddr> {
    match address.ip() {
        IpAddr::V4(ip) => Some(SocketAddr::from((ip.to_ipv6_mapped(), address.port()))),
        IpAddr::V6(_) => None,
    }
}
