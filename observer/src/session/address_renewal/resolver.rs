//! Looks names up.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::api_server::UpstreamEndpoint;

/// Time limit of a lookup. A resolver without an answer may take longer, and is then left alone.
const WITHIN: Duration = Duration::from_secs(20);

/// Finds the addresses of a name, on a thread that nothing else waits for.
pub(in crate::session) trait Resolver: Send + Sync {
    fn look_up<'a>(
        &'a self,
        endpoint: &'a UpstreamEndpoint,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;
}

/// The resolver of the system.
#[derive(Clone, Copy, Debug)]
pub(in crate::session) struct SystemResolver;

impl Resolver for SystemResolver {
    fn look_up<'a>(
        &'a self,
        endpoint: &'a UpstreamEndpoint,
    ) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>> {
        Box::pin(async {
            let found = timeout(WITHIN, tokio::net::lookup_host((endpoint.host.as_str(), endpoint.port))).await;
            Ok(found.map_err(|_elapsed| io::Error::from(io::ErrorKind::TimedOut))??.map(canonical).collect())
        })
    }
}

/// Converts an address to the form in which the eBPF programs report it.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}
