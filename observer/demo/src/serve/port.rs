//! Reserves the demo's port for as long as the demo runs, but listens on it only while the server is up.

use std::io;
use std::net::SocketAddr;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

const BACKLOG: i32 = 1024;

/// Reserves an address while the server is down: a bound socket that never listens stops other programs from using the port.
#[derive(Debug)]
pub(crate) struct Port {
    address: SocketAddr,
    _holder: Socket,
}

impl Port {
    /// Binds to an address of this machine; port 0 selects a free port.
    pub(crate) fn hold(address: SocketAddr) -> io::Result<Self> {
        let holder = bound(address)?;
        let address = holder.local_addr()?.as_socket().ok_or_else(|| io::Error::other("not an IP address"))?;
        Ok(Self { address, _holder: holder })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts clients; they are refused again when the listener is dropped. Needs a runtime.
    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        let socket = bound(self.address)?;
        socket.listen(BACKLOG)?;
        TcpListener::from_std(socket.into())
    }
}

fn bound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_port(true)?;
    // Connections from before the restart may linger.
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}
