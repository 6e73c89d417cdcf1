//! A listening port that can refuse clients without being lost to another process.
//!
//! Two sockets are bound to the address. The first never listens and lives as long as the port: it keeps other processes out. The
//! second listens, and is closed while upstream refuses. Then the kernel answers SYN with RST, as the kernel of upstream does.

use std::future::pending;
use std::io;
use std::mem::replace;
use std::net::{SocketAddr, TcpListener as StdTcpListener, TcpStream as StdTcpStream};
use std::time::Duration;

use rustix::io::Errno;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep_until};

use super::descriptors::Pair;
use super::{Descriptors, ProxyError, socket};

/// A port that clients can connect to, but that is not served yet.
#[derive(Debug)]
pub(super) struct BoundPort {
    address: SocketAddr,
    holder: Socket,
    listener: Socket,
}

/// A port that is either listening or held: bound, but refusing clients.
#[derive(Debug)]
pub(super) struct Port {
    address: SocketAddr,
    /// A bound socket that never listens. It has `SO_REUSEPORT`, but not `SO_REUSEADDR`. While it lives, only a socket of the same
    /// user with `SO_REUSEPORT` can bind to the address.
    _holder: Socket,
    listener: Option<TcpListener>,
    accepting: Accepting,
}

/// An accepted client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) tcp: TcpStream,
    pub(super) address: SocketAddr,
    /// The descriptors for its connection and for the one to upstream.
    pub(super) descriptors: Pair,
}

/// When the next client is served.
#[derive(Debug)]
enum Accepting {
    AsTheyCome,
    /// After this accepted client, which waits until another connection ends and frees descriptors. The wait has been reported.
    Behind(TcpStream, SocketAddr),
    /// Not before this time, since the system refused to accept a client. The refusal has been reported.
    From(Instant),
}

/// Why a client has to wait.
#[derive(Debug)]
pub(super) enum Shortage {
    /// All descriptors that connections may have are in use.
    Descriptors,
    /// The system refused to accept it, for any other reason.
    System(io::Error),
}

/// How long to wait after the system refused to accept a client. An immediate retry would only use CPU time.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// Same as Go's listeners; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 4096;

impl Shortage {
    /// Whether a higher descriptor limit of this process would help.
    pub(super) fn is_of_descriptors(&self) -> bool {
        match self {
            Self::Descriptors => true,
            Self::System(error) => error.raw_os_error() == Some(Errno::MFILE.raw_os_error()),
        }
    }
}

impl BoundPort {
    /// Binds and listens.
    pub(super) fn bind(address: SocketAddr) -> Result<Self, ProxyError> {
        let holder = holder(address).map_err(|source| listen_error(address, source))?;
        let local = local_address(&holder).map_err(|source| listen_error(address, source))?;
        let listener = listener(local).map_err(|source| listen_error(local, source))?;
        Ok(Self { address: local, holder, listener })
    }

    /// The address that clients connect to.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Registers the listening socket with the current runtime.
    pub(super) fn into_port(self) -> io::Result<Port> {
        let listener = TcpListener::from_std(self.listener.into())?;
        Ok(Port { address: self.address, _holder: self.holder, listener: Some(listener), accepting: Accepting::AsTheyCome })
    }
}

impl Port {
    /// Returns the next client with its descriptors. If the client has to wait, first returns the reason, once per wait. Waits
    /// forever while the port is held. Cancel-safe.
    ///
    /// Descriptors are taken only for a client that has connected: a listener without clients must not keep them from other
    /// listeners. So one accepted client may wait here; later ones wait in the kernel's accept queue.
    pub(super) async fn accept(&mut self, descriptors: &Descriptors) -> Result<Client, Shortage> {
        let Some(listener) = &self.listener else { return pending().await };
        if matches!(self.accepting, Accepting::Behind(..)) {
            let pair = descriptors.pair().await;
            if let Accepting::Behind(tcp, address) = replace(&mut self.accepting, Accepting::AsTheyCome) {
                return Ok(Client { tcp, address, descriptors: pair });
            }
        }
        let (tcp, address) = loop {
            if let Accepting::From(time) = self.accepting {
                sleep_until(time).await;
            }
            let error = match accept(listener).await {
                Ok(client) => break client,
                Err(error) => error,
            };
            let next = Accepting::From(Instant::now() + ACCEPT_AGAIN);
            if !matches!(replace(&mut self.accepting, next), Accepting::From(_)) {
                return Err(Shortage::System(error));
            }
        };
        let Some(descriptors) = descriptors.try_pair() else {
            // Prepare it like any client; if it leaves while it waits, that is noticed when it is served.
            socket::prepare(&tcp).ok();
            self.accepting = Accepting::Behind(tcp, address);
            return Err(Shortage::Descriptors);
        };
        self.accepting = Accepting::AsTheyCome;
        Ok(Client { tcp, address, descriptors })
    }

    /// Whether clients are refused.
    pub(super) fn is_held(&self) -> bool {
        self.listener.is_none()
    }

    /// Listens, if the port is held.
    pub(super) fn listen(&mut self) -> io::Result<()> {
        if self.is_held() {
            self.listener = Some(TcpListener::from_std(listener(self.address)?.into())?);
        }
        Ok(())
    }

    /// Closes the port for clients and resets the waiting ones; returns how many.
    ///
    /// Clients that have already left are closed and not counted, since they see no reset. The count may also lack a client whose
    /// TCP handshake is in progress at this instant: the kernel resets it when the socket closes.
    pub(super) fn hold(&mut self) -> u64 {
        let Some(listener) = self.listener.take() else { return 0 };
        let next = match replace(&mut self.accepting, Accepting::AsTheyCome) {
            Accepting::Behind(next, _) => next.into_std().ok(),
            Accepting::AsTheyCome | Accepting::From(_) => None,
        };
        let next = next.is_some_and(|next| reset(&next));
        match listener.into_std() {
            Ok(listener) => {
                ignore_newcomers(&listener);
                u64::from(next) + reset_pending(&listener)
            }
            Err(error) => {
                tracing::warn!(%error, "waiting clients are reset without being counted");
                u64::from(next)
            }
        }
    }
}

/// The next client whose connection has not ended yet.
async fn accept(listener: &TcpListener) -> io::Result<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            accepted => return accepted,
        }
    }
}

/// Binds before `SO_REUSEPORT` is set, so that it fails if another process listens on the port. `SO_REUSEADDR` permits the bind despite
/// connections of an earlier run in `TIME_WAIT`. It is cleared afterwards: otherwise another process that sets it too could bind
/// while the port is held.
fn holder(address: SocketAddr) -> io::Result<Socket> {
    let holder = new_socket(address)?;
    holder.set_reuse_address(true)?;
    holder.bind(&address.into())?;
    holder.set_reuse_address(false)?;
    holder.set_reuse_port(true)?;
    Ok(holder)
}

/// The bind needs `SO_REUSEPORT` because of the holder, and `SO_REUSEADDR` because of another program's connections in `TIME_WAIT`.
/// Such a program may be a container that took the port of a restarting sidecar. Accepted sockets inherit both flags, so that the
/// next run can bind despite their `TIME_WAIT`. Only a process of the same user that sets `SO_REUSEPORT` can bind, too.
fn listener(address: SocketAddr) -> io::Result<Socket> {
    let listener = new_socket(address)?;
    listener.set_reuse_port(true)?;
    listener.set_reuse_address(true)?;
    listener.bind(&address.into())?;
    listener.listen(BACKLOG)?;
    Ok(listener)
}

fn new_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Drops every SYN for the listening socket, so that no client connects between the last accept and the close. The client
/// retransmits a dropped SYN and is then refused. Everything else passes: a handshake that was already answered completes with its
/// last ACK. That connection is reset and counted, unless the ACK arrives after the close. A longer wait for it would delay every
/// client whose SYN is dropped by a second, the first retransmission timeout.
#[cfg(target_os = "linux")]
fn ignore_newcomers(listener: &StdTcpListener) {
    use socket2::SockFilter;
    /// The classic BPF codes of `filter(4)`: Linux `include/uapi/linux/bpf_common.h`.
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_UNLESS_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    /// Offset of the flags in a TCP header, where a TCP socket's filter begins (RFC 9293 section 3.1).
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
        tracing::debug!(%error, "a client that connects at this instant is reset without being counted");
    }
}

#[cfg(not(target_os = "linux"))]
fn ignore_newcomers(_listener: &StdTcpListener) {}

fn reset_pending(listener: &StdTcpListener) -> u64 {
    let mut resets = 0;
    loop {
        match listener.accept() {
            Ok((client, _)) => resets += u64::from(reset(&client)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted || error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(_) => return resets,
        }
    }
}

/// Makes the later drop of the socket send RST. Returns whether the client is still connected, and so receives it.
fn reset(client: &StdTcpStream) -> bool {
    if is_gone(client) {
        return false;
    }
    if let Err(error) = SockRef::from(client).set_linger(Some(Duration::ZERO)) {
        tracing::debug!(%error, "a waiting client is closed instead of reset");
    }
    true
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

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::Ipv4Addr;
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn client_waits_until_descriptors_are_free() {
        let (mut port, descriptors) = (port(), one_pair());
        let _clients = [connect(&port), connect(&port)];
        let first = port.accept(&descriptors).await.unwrap();
        assert!(matches!(port.accept(&descriptors).await, Err(Shortage::Descriptors)));
        assert!(port.accept(&descriptors).now_or_never().is_none(), "it is said once");
        drop(first);
        port.accept(&descriptors).await.unwrap();
    }

    #[tokio::test]
    async fn clients_that_wait_for_descriptors_are_reset_on_hold() {
        let (mut port, descriptors) = (port(), one_pair());
        let clients = [connect(&port), connect(&port), connect(&port)];
        let _only = port.accept(&descriptors).await.unwrap();
        assert!(port.accept(&descriptors).await.is_err());
        assert_eq!(port.hold(), 2);
        for mut client in &clients[1..] {
            assert_eq!(client.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        }
    }

    #[tokio::test]
    async fn shortage_is_reported_only_when_a_client_waits() {
        let (mut port, descriptors) = (port(), one_pair());
        let _client = connect(&port);
        let _only = port.accept(&descriptors).await.unwrap();
        assert!(port.accept(&descriptors).now_or_never().is_none());
        let _next = connect(&port);
        assert!(matches!(port.accept(&descriptors).await, Err(Shortage::Descriptors)));
    }

    #[tokio::test]
    async fn idle_listener_holds_no_descriptors_and_reports_a_shortage() {
        let (mut busy, mut idle, descriptors) = (port(), port(), one_pair());
        let address = idle.address;
        let mut idling = pin!(idle.accept(&descriptors));
        assert!(idling.as_mut().now_or_never().is_none());
        let _client = connect(&busy);
        let _only = busy.accept(&descriptors).await.unwrap();
        let _late = StdTcpStream::connect(address).unwrap();
        assert!(matches!(idling.await, Err(Shortage::Descriptors)));
    }

    #[test]
    fn only_the_process_limit_is_a_descriptor_shortage() {
        let shortage = |error: Errno| Shortage::System(io::Error::from_raw_os_error(error.raw_os_error()));
        assert!(Shortage::Descriptors.is_of_descriptors() && shortage(Errno::MFILE).is_of_descriptors());
        assert!(!shortage(Errno::NFILE).is_of_descriptors() && !shortage(Errno::NOMEM).is_of_descriptors());
    }

    fn port() -> Port {
        BoundPort::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap().into_port().unwrap()
    }

    fn one_pair() -> Descriptors {
        Descriptors::within(Some(8))
    }

    fn connect(port: &Port) -> StdTcpStream {
        StdTcpStream::connect(port.address).unwrap()
    }
}
