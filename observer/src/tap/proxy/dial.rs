//! TCP connections.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::io::Errno;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{UpstreamEndpoint, UpstreamError};

/// How long after a descriptor was not to be had another one is asked for.
const SHORTAGE_PAUSE: Duration = Duration::from_millis(50);

/// Connects to the first address of `endpoint` that accepts, in the resolver's order; each gets an equal share of the time that is left.
/// Errors call it `shown`.
pub(super) async fn dial(endpoint: &UpstreamEndpoint, shown: &str, limit: Duration) -> Result<TcpStream, UpstreamError> {
    let deadline = Instant::now() + limit;
    let addresses = timeout_at(deadline, resolve(endpoint, shown)).await.unwrap_or_else(|_elapsed| Err(timed_out(shown, limit)))?;
    dial_addresses(&addresses, shown, limit, deadline).await
}

async fn resolve(endpoint: &UpstreamEndpoint, shown: &str) -> Result<Vec<SocketAddr>, UpstreamError> {
    match lookup_host((endpoint.host.as_str(), endpoint.port)).await {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(unresolved(shown, &error.to_string())),
    }
}

async fn dial_addresses(
    addresses: &[SocketAddr],
    shown: &str,
    limit: Duration,
    deadline: Instant,
) -> Result<TcpStream, UpstreamError> {
    let mut failure = None;
    for (tried, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let share = deadline.saturating_duration_since(Instant::now()) / left;
        let error = match timeout(share, connect(*address)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => failed(shown, limit, &error),
            Err(_elapsed) => timed_out(shown, limit),
        };
        failure = Some(weightier(failure, error));
    }
    Err(failure.unwrap_or_else(|| unresolved(shown, "the name has no address")))
}

/// Connects. That there is no descriptor is no failure of the server's, and a client that was reset for it would list again: so it is
/// waited for.
async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    loop {
        match TcpStream::connect(address).await {
            Err(error) if is_shortage(&error) => sleep(SHORTAGE_PAUSE).await,
            connected => return connected,
        }
    }
}

/// Whether the process, or the machine, has no descriptor left.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| shortages.contains(&code))
}

/// Of several addresses' failures the first that is no refusal: an upstream refuses when all its addresses do, for only then is it certain
/// that a client without us would have found it so.
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
    if error.kind() == io::ErrorKind::TimedOut {
        return timed_out(shown, limit);
    }
    // Accepted by the kernel and reset with the listening socket, before the connect could return.
    if error.kind() == io::ErrorKind::ConnectionReset {
        return UpstreamError::Closed { endpoint };
    }
    UpstreamError::Unreachable { endpoint, detail: error.to_string() }
}

fn unresolved(shown: &str, detail: &str) -> UpstreamError {
    UpstreamError::Unresolved { endpoint: shown.to_owned(), detail: detail.to_owned() }
}

/// The error of a limit that ran out.
pub(super) fn timed_out(shown: &str, limit: Duration) -> UpstreamError {
    UpstreamError::TimedOut { endpoint: shown.to_owned(), seconds: limit.as_secs() }
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn the_first_address_that_accepts_is_taken() {
        let (refusing, listening) = (refusing(), [listen().await, listen().await]);
        let [second, third] = listening.each_ref().map(|listener| listener.local_addr().unwrap());
        let connected = try_all(&[refusing.local_addr().unwrap(), second, third]).await.unwrap();
        assert_eq!(connected.peer_addr().unwrap(), second);
    }

    #[tokio::test]
    async fn it_is_refused_when_all_refuse() {
        let refusing = [refusing(), refusing()];
        let addresses = refusing.each_ref().map(|socket| socket.local_addr().unwrap());
        assert!(matches!(try_all(&addresses).await, Err(UpstreamError::Refused { .. })));
    }

    #[tokio::test]
    async fn one_address_that_fails_otherwise_makes_it_no_refusal() {
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

    async fn try_all(addresses: &[SocketAddr]) -> Result<TcpStream, UpstreamError> {
        dial_addresses(addresses, "api.example:443", LIMIT, Instant::now() + LIMIT).await
    }

    async fn listen() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").await.unwrap()
    }

    /// Holds a port and does not listen on it.
    fn refusing() -> TcpSocket {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        socket
    }
}
