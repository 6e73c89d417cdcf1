//! Opens TCP connections to API servers, forward proxies and collectors.
//!
//! A name may have IPv4 and IPv6 addresses, and packets to one family may be dropped without an error. Go's `net.Dialer` tries the
//! other family after 300 ms (`dialParallel`, `net/dial.go`, Go 1.26; RFC 8305). This module does the same, so that a client has
//! its connection as soon as without watchtap.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use rustix::io::Errno;
use tokio::net::{TcpSocket, TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::api_server::{UpstreamEndpoint, UpstreamError};

/// Pause between attempts while no file descriptor is free.
const DIAL_AGAIN: Duration = Duration::from_millis(50);

/// Time for which only the family of the first address is tried: Go's `fallbackDelay`.
const FALLBACK_DELAY: Duration = Duration::from_millis(300);

/// Connects to the first address of `endpoint` that accepts. It tries the addresses of the first address's family in the resolver's
/// order. If none has accepted within [`FALLBACK_DELAY`], it tries the other family at the same time. Within a family, each address
/// gets an equal share of the remaining time. Errors contain `shown` as the endpoint's name.
pub(crate) async fn dial(endpoint: &UpstreamEndpoint, shown: &str, limit: Duration) -> Result<TcpStream, UpstreamError> {
    let deadline = Instant::now() + limit;
    let addresses = patiently(deadline, || resolve(endpoint)).await;
    let addresses =
        addresses.map_err(|error| ours(shown, limit, &error).unwrap_or_else(|| unresolved(shown, &error.to_string())))?;
    Dialling { shown, limit, deadline, connect: TcpStream::connect }.race(&addresses).await
}

/// If no file descriptor is free, the resolver reports an unknown name (glibc 2.39: `EAI_NONAME`). So after such an error, this
/// checks whether a descriptor is free.
async fn resolve(endpoint: &UpstreamEndpoint) -> io::Result<Vec<SocketAddr>> {
    match lookup_host((endpoint.host.as_str(), endpoint.port)).await {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(TcpSocket::new_v4().err().filter(is_shortage).unwrap_or(error)),
    }
}

/// A dial of resolved addresses.
struct Dialling<'a, C> {
    shown: &'a str,
    limit: Duration,
    deadline: Instant,
    /// Connects to one address.
    connect: C,
}

impl<C, F, T> Dialling<'_, C>
where
    C: Fn(SocketAddr) -> F,
    F: Future<Output = io::Result<T>>,
{
    /// Returns the first connection that any of `addresses` accepts. Attempts still under way are dropped, which closes their
    /// sockets.
    async fn race(&self, addresses: &[SocketAddr]) -> Result<T, UpstreamError> {
        let is_first_family = |address: &SocketAddr| addresses.first().is_some_and(|first| first.is_ipv4() == address.is_ipv4());
        let (primaries, fallbacks): (Vec<_>, Vec<_>) = addresses.iter().copied().partition(is_first_family);
        let mut primary = pin!(self.in_turn(&primaries));
        if fallbacks.is_empty() {
            return primary.await;
        }
        let alone = timeout(FALLBACK_DELAY, primary.as_mut()).await;
        let mut fallback = pin!(self.in_turn(&fallbacks));
        let failure = match alone {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(failure)) => failure,
            Err(_elapsed) => tokio::select! {
                biased;
                outcome = primary.as_mut() => match outcome {
                    Ok(connected) => return Ok(connected),
                    Err(failure) => failure,
                },
                outcome = fallback.as_mut() => match outcome {
                    Ok(connected) => return Ok(connected),
                    Err(failure) => return primary.await.map_err(|first| weightier(Some(first), failure)),
                },
            },
        };
        fallback.await.map_err(|second| weightier(Some(failure), second))
    }

    /// Tries one address after the other.
    async fn in_turn(&self, addresses: &[SocketAddr]) -> Result<T, UpstreamError> {
        let mut failure = None;
        for (tried, address) in addresses.iter().enumerate() {
            let left = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
            let share = self.deadline.saturating_duration_since(Instant::now()) / left;
            match patiently(Instant::now() + share, || (self.connect)(*address)).await {
                Ok(connected) => return Ok(connected),
                Err(error) => failure = Some(weightier(failure, failed(self.shown, self.limit, &error))),
            }
        }
        Err(failure.unwrap_or_else(|| unresolved(self.shown, "the name has no address")))
    }
}

/// Repeats `attempt` while no file descriptor is free, and returns its result. At `deadline`, it returns the shortage as the error.
/// A shortage is not the server's failure, and a client whose connection is reset because of it would relist.
async fn patiently<T, F>(deadline: Instant, attempt: impl Fn() -> F) -> io::Result<T>
where
    F: Future<Output = io::Result<T>>,
{
    let mut shortage = None;
    let attempts = async {
        loop {
            // A shortage that is over does not explain a later timeout.
            shortage = None;
            match attempt().await {
                Err(error) if is_shortage(&error) => shortage = Some(error),
                done => return done,
            }
            sleep(DIAL_AGAIN).await;
        }
    };
    let done = timeout_at(deadline, attempts).await;
    done.unwrap_or_else(|_elapsed| Err(shortage.unwrap_or_else(|| io::ErrorKind::TimedOut.into())))
}

/// Whether `error` means that the process or the machine has no free file descriptor.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| shortages.contains(&code))
}

/// Returns the more important of two addresses' failures: the first that is not a refusal. Upstream counts as refusing only if all
/// its addresses refuse. Only then would a client without watchtap certainly be refused.
fn weightier(former: Option<UpstreamError>, latter: UpstreamError) -> UpstreamError {
    match former {
        Some(former) if !matches!(former, UpstreamError::Refused { .. }) => former,
        Some(_) | None => latter,
    }
}

fn failed(shown: &str, limit: Duration, error: &io::Error) -> UpstreamError {
    let endpoint = shown.to_owned();
    if error.kind() == io::ErrorKind::ConnectionRefused {
        return UpstreamError::Refused { endpoint };
    }
    if let Some(error) = ours(shown, limit, error) {
        return error;
    }
    // The kernel accepted the connection and reset it with the listening socket, before the connect returned.
    if error.kind() == io::ErrorKind::ConnectionReset {
        return UpstreamError::Closed { endpoint };
    }
    UpstreamError::Unreachable { endpoint, detail: error.to_string() }
}

/// Maps errors that have a local cause and prove nothing about the server or its name; `None` for all others.
fn ours(shown: &str, limit: Duration, error: &io::Error) -> Option<UpstreamError> {
    if is_shortage(error) {
        return Some(UpstreamError::NoDescriptor { endpoint: shown.to_owned(), detail: error.to_string() });
    }
    (error.kind() == io::ErrorKind::TimedOut).then(|| timed_out(shown, limit))
}

fn unresolved(shown: &str, detail: &str) -> UpstreamError {
    UpstreamError::Unresolved { endpoint: shown.to_owned(), detail: detail.to_owned() }
}

/// The error for an exceeded limit.
pub(crate) fn timed_out(shown: &str, limit: Duration) -> UpstreamError {
    UpstreamError::TimedOut { endpoint: shown.to_owned(), seconds: limit.as_secs() }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::future::pending;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use tokio::net::TcpListener;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);
    /// Addresses for documentation (RFC 3849, RFC 5737); the tests send nothing to them.
    const SIX: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), 443);
    const SIX_TOO: SocketAddr = SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)), 443);
    const FOUR: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 443);
    const FOUR_TOO: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)), 443);

    #[tokio::test]
    async fn the_first_address_that_accepts_is_taken() {
        let (refusing, listening) = (refusing(), [listen().await, listen().await]);
        let [second, third] = listening.each_ref().map(|listener| listener.local_addr().unwrap());
        let connected = try_all(&[refusing.local_addr().unwrap(), second, third]).await.unwrap();
        assert_eq!(connected.peer_addr().unwrap(), second);
    }

    #[tokio::test]
    async fn connect_is_refused_when_all_addresses_refuse() {
        let refusing = [refusing(), refusing()];
        let addresses = refusing.each_ref().map(|socket| socket.local_addr().unwrap());
        assert!(matches!(try_all(&addresses).await, Err(UpstreamError::Refused { .. })));
    }

    #[tokio::test]
    async fn mixed_connect_failures_are_reported_as_unreachable() {
        // The kernel answers a TCP connect to a multicast address itself: no route.
        let nowhere: SocketAddr = "224.0.0.1:443".parse().unwrap();
        let socket = refusing();
        let refusing = socket.local_addr().unwrap();
        for addresses in [[refusing, nowhere], [nowhere, refusing]] {
            let error = try_all(&addresses).await.unwrap_err();
            assert!(matches!(error, UpstreamError::Unreachable { .. }), "{error}");
        }
    }

    #[tokio::test]
    async fn a_name_without_addresses_is_unresolved() {
        assert!(matches!(try_all(&[]).await, Err(UpstreamError::Unresolved { .. })));
    }

    #[tokio::test]
    async fn silent_address_family_does_not_delay_and_is_dropped() {
        let dropped = Cell::new(false);
        let connect = async |address: SocketAddr| {
            if address.is_ipv4() {
                return Ok(address);
            }
            let _under_way = OnDrop(&dropped);
            pending().await
        };
        // Without the race, the first address alone would be tried for half an hour.
        let racing = race(connect, Duration::from_hours(1), &[SIX, FOUR]);
        assert_eq!(timeout(LIMIT, racing).await.unwrap().unwrap(), FOUR);
        assert!(dropped.get());
    }

    #[tokio::test]
    async fn all_addresses_of_an_answering_family_are_tried_first() {
        for (first, second, other) in [(SIX, SIX_TOO, FOUR), (FOUR, FOUR_TOO, SIX)] {
            let tried = RefCell::new(Vec::new());
            let connect = async |address: SocketAddr| {
                tried.borrow_mut().push(address);
                if address == second { Ok(address) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
            };
            assert_eq!(race(connect, LIMIT, &[first, other, second]).await.unwrap(), second);
            assert_eq!(*tried.borrow(), [first, second]);
        }
    }

    #[tokio::test]
    async fn other_family_is_tried_when_the_first_has_failed() {
        let tried = RefCell::new(Vec::new());
        let connect = async |address: SocketAddr| {
            tried.borrow_mut().push(address);
            if address.is_ipv4() { Ok(()) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
        };
        race(connect, LIMIT, &[SIX, FOUR, SIX_TOO]).await.unwrap();
        assert_eq!(*tried.borrow(), [SIX, SIX_TOO, FOUR]);
    }

    #[tokio::test]
    async fn slow_first_family_wins_when_the_other_refuses() {
        let refused = tokio::sync::Notify::new();
        let connect = async |address: SocketAddr| {
            if address.is_ipv6() {
                refused.notified().await;
                return Ok(address);
            }
            refused.notify_one();
            Err(io::ErrorKind::ConnectionRefused.into())
        };
        assert_eq!(race(connect, LIMIT, &[SIX, FOUR]).await.unwrap(), SIX);
    }

    #[tokio::test]
    async fn silent_address_family_makes_a_timeout_not_a_refusal() {
        for addresses in [[SIX, FOUR], [FOUR, SIX]] {
            let connect = async |address: SocketAddr| {
                if address.is_ipv4() { Err::<(), _>(io::ErrorKind::ConnectionRefused.into()) } else { pending().await }
            };
            let error = race(connect, FALLBACK_DELAY * 2, &addresses).await.unwrap_err();
            assert!(matches!(error, UpstreamError::TimedOut { .. }), "{error}");
        }
    }

    #[tokio::test]
    async fn lasting_descriptor_shortage_is_distinguished_from_a_timeout() {
        let short = async || io::Result::<()>::Err(io::Error::from_raw_os_error(Errno::MFILE.raw_os_error()));
        assert!(matches!(failure(short).await, UpstreamError::NoDescriptor { .. }));
        assert!(matches!(failure(pending).await, UpstreamError::TimedOut { .. }));
    }

    #[tokio::test]
    async fn silence_after_a_resolved_shortage_is_a_timeout() {
        let attempts = Cell::new(0);
        let then_silent = async || match attempts.replace(attempts.get() + 1) {
            0 => Err(io::Error::from_raw_os_error(Errno::MFILE.raw_os_error())),
            _ => pending().await,
        };
        assert!(matches!(failure(then_silent).await, UpstreamError::TimedOut { .. }));
    }

    #[tokio::test]
    async fn connect_succeeds_after_a_temporary_shortage() {
        let attempts = Cell::new(0);
        let second_time = async || match attempts.replace(attempts.get() + 1) {
            0 => Err(io::Error::from_raw_os_error(Errno::NFILE.raw_os_error())),
            _ => Ok("there"),
        };
        assert_eq!(patiently(Instant::now() + LIMIT, second_time).await.unwrap(), "there");
    }

    /// The failure of `attempt` with a deadline in the near future.
    async fn failure<F: Future<Output = io::Result<()>>>(attempt: impl Fn() -> F) -> UpstreamError {
        let deadline = Instant::now() + DIAL_AGAIN * 3;
        failed("api.example:443", LIMIT, &patiently(deadline, attempt).await.unwrap_err())
    }

    async fn try_all(addresses: &[SocketAddr]) -> Result<TcpStream, UpstreamError> {
        race(TcpStream::connect, LIMIT, addresses).await
    }

    async fn race<T, F>(connect: impl Fn(SocketAddr) -> F, limit: Duration, addresses: &[SocketAddr]) -> Result<T, UpstreamError>
    where
        F: Future<Output = io::Result<T>>,
    {
        Dialling { shown: "api.example:443", limit, deadline: Instant::now() + limit, connect }.race(addresses).await
    }

    struct OnDrop<'a>(&'a Cell<bool>);

    impl Drop for OnDrop<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }

    async fn listen() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").await.unwrap()
    }

    /// Binds a port without listening on it, so that connections to it are refused.
    fn refusing() -> TcpSocket {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket
    }
}
