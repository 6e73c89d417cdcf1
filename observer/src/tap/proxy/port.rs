//! A listening port that can be closed for clients and still belong to us.
//!
//! Two sockets are bound to the address. One never listens and lives as long as the port does: it keeps strangers out. The other
//! listens, and is closed while upstream refuses: then the kernel answers SYN with RST, as upstream's does.

use std::io;
use std::net::{SocketAddr, TcpListener as StdTcpListener, TcpStream as StdTcpStream};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep_until};

use super::{Descriptors, ProxyError};

/// A port that clients can already connect to, and that nobody serves yet.
#[derive(Debug)]
pub(super) struct BoundPort {
    address: SocketAddr,
    holder: Socket,
    listener: Socket,
}

/// A port that is listening or held.
#[derive(Debug)]
pub(super) struct Port {
    address: SocketAddr,
    /// Bound with `SO_REUSEPORT`, without `SO_REUSEADDR`, never listening: while it lives, only a socket of this user that sets
    /// `SO_REUSEPORT` could be bound to the address.
    _holder: Socket,
    listener: Option<TcpListener>,
    accepting: Accepting,
}

/// When the next client is let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Accepting {
    AsTheyCome,
    /// Once a connection has ended, as there is no descriptor: that was said.
    WhenDescriptorsAreFree,
    /// Not before this time, as the system refused: that was said.
    From(Instant),
}

/// Why clients wait in the kernel's queue.
#[derive(Debug)]
pub(super) enum Shortage {
    /// All descriptors that connections may have are in use.
    Descriptors,
    /// The system has none, or no memory, whatever we may have.
    System(io::Error),
}

/// How long the system is left alone that has refused to let a client in; asking again at once would only burn the processor.
const PAUSE: Duration = Duration::from_millis(50);

/// As Go's listeners: the kernel cuts it to `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

impl BoundPort {
    /// Binds and listens.
    pub(super) fn bind(address: SocketAddr) -> Result<Self, ProxyError> {
        let holder = holder(address).map_err(|source| listen_error(address, source))?;
        let local = local_address(&holder).map_err(|source| listen_error(address, source))?;
        let listener = listener(local).map_err(|source| listen_error(local, source))?;
        Ok(Self { address: local, holder, listener })
    }

    /// Where clients connect.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Hands the listening socket to the present runtime.
    pub(super) fn into_port(self) -> io::Result<Port> {
        let listener = TcpListener::from_std(self.listener.into())?;
        Ok(Port { address: self.address, _holder: self.holder, listener: Some(listener), accepting: Accepting::AsTheyCome })
    }
}

impl Port {
    /// The next client, or that clients have to wait from now on; waits for ever while the port is held. Nothing is lost when the future is
    /// dropped.
    pub(super) async fn accept(&mut self, descriptors: &Descriptors) -> Result<(TcpStream, SocketAddr), Shortage> {
        let Some(listener) = &self.listener else { return std::future::pending().await };
        match self.accepting {
            Accepting::AsTheyCome if descriptors.are_out() => {
                self.accepting = Accepting::WhenDescriptorsAreFree;
                return Err(Shortage::Descriptors);
            }
            Accepting::AsTheyCome => {}
            Accepting::WhenDescriptorsAreFree => descriptors.wait().await,
            Accepting::From(time) => sleep_until(time).await,
        }
        let accepted = accept(listener).await;
        self.accepting = if accepted.is_ok() { Accepting::AsTheyCome } else { Accepting::From(Instant::now() + PAUSE) };
        accepted.map_err(Shortage::System)
    }

    /// Whether clients are refused.
    pub(super) fn is_held(&self) -> bool {
        self.listener.is_none()
    }

    /// Listens (again).
    pub(super) fn listen(&mut self) -> io::Result<()> {
        if self.is_held() {
            self.listener = Some(TcpListener::from_std(listener(self.address)?.into())?);
        }
        Ok(())
    }

    /// Closes the port for clients and resets those that the kernel had accepted for us; returns how many.
    ///
    /// Clients that have already left are closed and not counted: nobody sees their reset.
    pub(super) fn hold(&mut self) -> u64 {
        let Some(listener) = self.listener.take() else { return 0 };
        match listener.into_std() {
            Ok(listener) => {
                ignore_newcomers(&listener);
                reset_pending(&listener)
            }
            Err(error) => {
                tracing::warn!(%error, "clients that were waiting are reset uncounted");
                0
            }
        }
    }
}

/// The next client whose connection is not over yet.
async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            accepted => return accepted,
        }
    }
}

/// Without a flag that lets others share, so that a second process cannot join a port that we or somebody else has; `SO_REUSEADDR`
/// passes over connections of a former run that are in `TIME_WAIT`, and is taken back, since with it set a stranger who sets it too could
/// be bound while the port is held.
fn holder(address: SocketAddr) -> io::Result<Socket> {
    let holder = socket(address)?;
    holder.set_reuse_address(true)?;
    holder.bind(&address.into())?;
    holder.set_reuse_address(false)?;
    holder.set_reuse_port(true)?;
    Ok(holder)
}

fn listener(address: SocketAddr) -> io::Result<Socket> {
    let listener = socket(address)?;
    listener.set_reuse_port(true)?;
    listener.bind(&address.into())?;
    listener.listen(BACKLOG)?;
    // Accepted sockets inherit it, and with it their TIME_WAIT lets the next run have the port. A listening socket keeps strangers
    // out whatever its flags.
    listener.set_reuse_address(true)?;
    Ok(listener)
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Drops every SYN for the listening socket, so that nobody gets in between the last accept and the close; a SYN that is dropped in this
/// instant is sent again by its client and then refused. All else passes: who has been answered already becomes a connection by the last
/// ACK of its handshake, and so one that is reset and counted.
#[cfg(target_os = "linux")]
fn ignore_newcomers(listener: &StdTcpListener) {
    use socket2::SockFilter;
    /// The classic BPF codes of `filter(4)`: Linux `include/uapi/linux/bpf_common.h`.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_UNLESS_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    /// Where the flags are in a TCP header, which is where a TCP socket's filter begins (RFC 9293 section 3.1).
    const FLAGS_OFFSET: u32 = 13;
    const SYN: u32 = 0x02;
    const ACK: u32 = 0x10;
    const DROP_SYNS: [SockFilter; 5] = [
        SockFilter::new(LOAD_BYTE, 0, 0, FLAGS_OFFSET),
        SockFilter::new(AND, 0, 0, SYN | ACK),
        SockFilter::new(JUMP_UNLESS_EQUAL, 0, 1, SYN),
        SockFilter::new(RETURN, 0, 0, 0),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
    ];
    if let Err(error) = SockRef::from(listener).attach_filter(&DROP_SYNS) {
        tracing::debug!(%error, "a client that connects in this instant is reset uncounted");
    }
}

#[cfg(not(target_os = "linux"))]
fn ignore_newcomers(_listener: &StdTcpListener) {}

fn reset_pending(listener: &StdTcpListener) -> u64 {
    let mut resets = 0;
    loop {
        match listener.accept() {
            Ok((client, _)) if is_gone(&client) => {}
            Ok((client, _)) => {
                resets += 1;
                if let Err(error) = SockRef::from(&client).set_linger(Some(Duration::ZERO)) {
                    tracing::debug!(%error, "a waiting client is closed instead of reset");
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted || error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => return resets,
        }
    }
}

fn is_gone(client: &StdTcpStream) -> bool {
    client.set_nonblocking(true).is_ok()
        && match client.peek(&mut [0]) {
            Ok(read) => read == 0,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
}

fn local_address(socket: &Socket) -> io::Result<SocketAddr> {
    socket.local_addr()?.as_socket().ok_or_else(|| io::ErrorKind::AddrNotAvailable.into())
}

fn listen_error(address: SocketAddr, source: io::Error) -> ProxyError {
    if source.kind() == io::ErrorKind::AddrInUse {
        return ProxyError::PortInUse { address };
    }
    ProxyError::Listen { address, source }
}
