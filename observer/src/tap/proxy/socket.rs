//! Options of the TCP sockets on both sides of a connection.

use std::io;
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// How often a silent peer is probed, and how many probes may stay unanswered before the path counts as dead: after 15 s + 19 × 15 s = 300 s.
///
/// Without us the kernels of client and API server would probe each other; with us in between they both probe ours, which answers even
/// when the other half of the path is dead. So each side is probed in the stead of its peer, and a dead path is passed on as RST. That must
/// not be rarer than without us, or a NAT or load balancer forgets the connection: Go's `net.Dialer` probes after 15 s (`net/dial.go`, 1.26),
/// client-go after 30 s (`transport/cache.go`, v0.37), kube-apiserver after 180 s (apiserver `pkg/server/secure_serving.go`, v0.37). And it
/// must not be given up sooner than without us, or a client dials and fails, and then lists, in an outage that its watch would have
/// survived: client-go's kernel gives up after 300 s (30 s + 9 × 30 s; 165 s since Go 1.23), kube-apiserver's after 315 s (30 min before).
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const KEEP_ALIVE_PROBES: u32 = 19;

/// How long a peer may leave our last word unacknowledged: `TCP_USER_TIMEOUT`, set only once a direction has ended.
///
/// Before that there is none, as Go sets none: Linux counts with it a peer that answers and does not read (`tcp_probe_timer`,
/// `net/ipv4/tcp_timer.c`), so it would kill a client that is stopped; and an upstream that is gone is for the client's own pings to find
/// (client-go: 30 s + 15 s), which reach it or do not as without us.
///
/// Without us, whoever has closed leaves an orphan to the kernel, which gives it up: on Linux 6.18 after 219 s when nothing is
/// acknowledged, after 340 s when a zero window is. Our socket is no orphan, since its other direction is still read, and would stay as
/// long as unacknowledged data may (`tcp_retries2`, a quarter of an hour): half-open connections would pile up behind clients that have
/// given up. So there is a limit, and it is no shorter than the kernel's.
#[cfg(target_os = "linux")]
const LAST_WORD: Duration = Duration::from_mins(6);

/// Prepares a socket for one side of a connection. From here on dropping it sends RST, until [`close_gracefully`]: whatever ends our
/// part early (a panic, an abort) must not look like a proper end.
pub(super) fn prepare(tcp: &TcpStream) -> io::Result<()> {
    tcp.set_nodelay(true)?;
    let keep_alive = TcpKeepalive::new().with_time(KEEP_ALIVE).with_interval(KEEP_ALIVE).with_retries(KEEP_ALIVE_PROBES);
    let socket = SockRef::from(tcp);
    socket.set_tcp_keepalive(&keep_alive)?;
    socket.set_linger(Some(Duration::ZERO))
}

/// Gives up a peer that does not acknowledge what ends here.
#[cfg(target_os = "linux")]
pub(super) fn limit_last_word(tcp: &TcpStream) {
    if let Err(error) = SockRef::from(tcp).set_tcp_user_timeout(Some(LAST_WORD)) {
        tracing::debug!(%error, "a peer that is gone is given up later");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn limit_last_word(_tcp: &TcpStream) {}

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
