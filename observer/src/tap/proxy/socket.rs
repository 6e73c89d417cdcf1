//! Options of the TCP sockets on both sides of a connection.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// As Go's `net.Dialer` and `net.ListenConfig` have it by default (15 s, 15 s, 9 probes), and with them client-go and kube-apiserver.
///
/// Without us their kernels would probe each other; with us in between they both probe ours, which answers even when the other half of
/// the path is dead. So each side is probed as its peer would have been, and a dead path is passed on as RST.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_PROBES: u32 = 9;

/// Prepares a socket for one side of a connection. From here on dropping it sends RST, until [`close_gracefully`]: whatever ends our
/// part early (a panic, an abort) must not look like a proper end.
pub(super) fn prepare(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE).with_retries(KEEP_ALIVE_PROBES);
    let socket = SockRef::from(tcp);
    socket.set_tcp_keepalive(&keep_alive)?;
    socket.set_linger(Some(Duration::ZERO))
}

/// Makes dropping the socket an ordinary close: what is still unsent is sent, then FIN.
pub(super) fn close_gracefully(tcp: &TcpStream) {
    if let Err(error) = SockRef::from(tcp).set_linger(None) {
        tracing::debug!(%error, "the socket will be reset instead of closed");
    }
}

/// Whether the peer is still there and has sent nothing, asked of the kernel and not of the event loop's memory.
pub(super) fn is_quiet(tcp: &TcpStream) -> bool {
    let mut byte = [std::mem::MaybeUninit::uninit()];
    matches!(SockRef::from(tcp).peek(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}
