//! TCP connections to the API server.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::time::{Instant, timeout, timeout_at};

use super::{UpstreamEndpoint, UpstreamError};

/// Connects to the first address of `endpoint` that accepts; each gets an equal share of the time that is left.
pub(super) async fn dial(endpoint: &UpstreamEndpoint, limit: Duration) -> Result<TcpStream, UpstreamError> {
    let deadline = Instant::now() + limit;
    let addresses = timeout_at(deadline, resolve(endpoint)).await.unwrap_or_else(|_elapsed| Err(timed_out(endpoint, limit)))?;
    let mut failure = None;
    for (tried, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let share = deadline.saturating_duration_since(Instant::now()) / left;
        let error = match timeout(share, TcpStream::connect(address)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => failed(endpoint, limit, &error),
            Err(_elapsed) => timed_out(endpoint, limit),
        };
        failure = Some(weightier(failure, error));
    }
    Err(failure.unwrap_or_else(|| unresolved(endpoint, "the name has no address")))
}

async fn resolve(endpoint: &UpstreamEndpoint) -> Result<Vec<SocketAddr>, UpstreamError> {
    match lookup_host((endpoint.host.as_str(), endpoint.port)).await {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(unresolved(endpoint, &error.to_string())),
    }
}

/// Of several addresses' failures the first, as in Go's `net.Dialer`; but a refusal outranks the others, since it decides whether our
/// own port is open.
fn weightier(former: Option<UpstreamError>, latter: UpstreamError) -> UpstreamError {
    match former {
        Some(former) if !matches!(latter, UpstreamError::Refused { .. }) => former,
        Some(_) | None => latter,
    }
}

fn failed(endpoint: &UpstreamEndpoint, limit: Duration, error: &io::Error) -> UpstreamError {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        return UpstreamError::Refused { endpoint: endpoint.to_string() };
    }
    if error.kind() == io::ErrorKind::TimedOut {
        return timed_out(endpoint, limit);
    }
    // Accepted by the kernel and reset with the listening socket, before the connect could return.
    if error.kind() == io::ErrorKind::ConnectionReset {
        return UpstreamError::Closed { endpoint: endpoint.to_string() };
    }
    UpstreamError::Unreachable { endpoint: endpoint.to_string(), detail: error.to_string() }
}

fn unresolved(endpoint: &UpstreamEndpoint, detail: &str) -> UpstreamError {
    UpstreamError::Unresolved { endpoint: endpoint.to_string(), detail: detail.to_owned() }
}

/// The error of a limit that ran out.
pub(super) fn timed_out(endpoint: &UpstreamEndpoint, limit: Duration) -> UpstreamError {
    UpstreamError::TimedOut { endpoint: endpoint.to_string(), seconds: limit.as_secs() }
}
