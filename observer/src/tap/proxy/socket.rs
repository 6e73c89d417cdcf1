//! Options of the TCP sockets on both sides of a connection.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// Interval of keep-alive probes to a silent peer, and how many may stay unanswered until the path counts as dead: after
/// 15 s + 19 × 15 s = 300 s.
///
/// Without watchtap, the kernels of client and API server would probe each other. With watchtap in between, both probe watchtap's
/// kernel, which answers even if the other half of the path is dead. So watchtap probes each side on behalf of the other one, and
/// passes on a dead path as RST.
///
/// Probes must be at least as frequent as without watchtap, or a NAT or load balancer forgets the connection. Go's `net.Dialer`
/// probes after 15 s (`net/dial.go`, 1.26), client-go after 30 s (`transport/cache.go`, v0.37), and kube-apiserver after 180 s
/// (apiserver `pkg/server/secure_serving.go`, v0.37).
///
/// A path must not be given up sooner than without watchtap. Otherwise a client would dial, fail and relist in an outage that its
/// watch would have survived. client-go's kernel gives up after 300 s (30 s + 9 × 30 s; 165 s since Go 1.23), kube-apiserver's
/// after 315 s (30 min before Go 1.23).
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_PROBES: u32 = 19;

/// How long a peer may leave the last bytes of a direction unacknowledged: `TCP_USER_TIMEOUT`, set only once the direction has
/// ended.
///
/// Before that no such timeout is set, as in Go. Linux also applies it to a peer that answers but does not read (`tcp_probe_timer`,
/// `net/ipv4/tcp_timer.c`), so it would disconnect a suspended client. The client's own pings detect a dead upstream (client-go: 30
/// s + 15 s); they succeed or fail as without watchtap.
///
/// Without watchtap, a process that closes its socket leaves an orphan to its kernel, and the kernel gives the orphan up. On Linux
/// 6.18 that takes 219 s if nothing is acknowledged, and 340 s if the peer acknowledges with a zero window. The proxy's socket is
/// no orphan, since its other direction is still read. Without a limit, it would stay until the kernel gives up its unacknowledged
/// data (`tcp_retries2`, a quarter of an hour). Half-open connections of clients that have given up would accumulate. So there is a
/// limit, and it is no shorter than the kernel's limit for orphans.
#[cfg(target_os = "linux")]
const LAST_WORD: Duration = Duration::from_mins(6);

/// Prepares a socket for one side of a connection. From here on, dropping it sends RST until [`close_gracefully`] is called: a
/// panic or an abort of watchtap must not look like a proper end.
pub(super) fn prepare(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE).with_retries(KEEP_ALIVE_PROBES);
    let socket = SockRef::from(tcp);
    socket.set_tcp_keepalive(&keep_alive)?;
    socket.set_linger(Some(Duration::ZERO))
}

/// Limits how long a peer may leave the end of the direction to it unacknowledged.
#[cfg(target_os = "linux")]
pub(super) fn limit_last_word(tcp: &TcpStream) {
    if let Err(error) = SockRef::from(tcp).set_tcp_user_timeout(Some(LAST_WORD)) {
        tracing::debug!(%error, "a vanished peer is detected later");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn limit_last_word(_tcp: &TcpStream) {}

/// Makes dropping the socket an ordinary close: unsent bytes are sent, then FIN.
pub(super) fn close_gracefully(tcp: &TcpStream) {
    if let Err(error) = SockRef::from(tcp).set_linger(None) {
        tracing::debug!(%error, "the socket will be reset instead of closed");
    }
}

/// Whether the peer is still there and has sent nothing. This asks the kernel, not the event loop's cached state.
pub(super) fn is_quiet(tcp: &TcpStream) -> bool {
    let mut byte = [std::mem::MaybeUninit::uninit()];
    matches!(SockRef::from(tcp).peek(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
}
