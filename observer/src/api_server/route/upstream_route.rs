//! How an API server is reached: directly, or through a forward proxy.
//!
//! client-go detects a refused connection by the error ECONNREFUSED for the address that it dials (`IsConnectionRefused`,
//! kubernetes/apimachinery `pkg/util/net/util.go`, v0.34). With a forward proxy, that is the proxy's address. So if the proxy
//! refuses the TCP connection, watchtap closes its own port, as for an upstream that refuses. A proxy may also accept TCP and then
//! not connect to the API server (407, 502, 503, a SOCKS reply, even "connection refused"). client-go treats that as an ordinary
//! error, and relists. With a closed port, it would resume the watch instead, and the relist would not happen. So watchtap resets
//! the client's connection in this case, as when upstream is unreachable. The client never gets an HTTP answer that is not the API
//! server's.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::dial::dial;
use super::transport::Transport;
use super::{http_connect, socks};
use crate::api_server::{ForwardProxyFault, UpstreamEndpoint, UpstreamError, UpstreamTls};
use crate::forward_proxy::{ForwardProxy, Scheme};

/// The route to one API server.
#[derive(Clone, Debug)]
pub struct UpstreamRoute {
    endpoint: UpstreamEndpoint,
    via: Option<Via>,
}

#[derive(Clone)]
struct Via {
    proxy: ForwardProxy,
    /// Replaced when certificates are renewed.
    connector: Arc<RwLock<TlsConnector>>,
    server_name: ServerName<'static>,
}

impl UpstreamRoute {
    /// The route to `endpoint`, through `proxy` if there is one.
    ///
    /// The TLS connection to a proxy with an `https` address also uses `tls`: Go has one TLS configuration for both
    /// (`net/http/transport.go`, `dialConn`). Only the expected name in the certificate is the proxy's own.
    pub fn new(endpoint: UpstreamEndpoint, proxy: Option<ForwardProxy>, tls: &UpstreamTls) -> Self {
        let connector = || Arc::new(RwLock::new(tls.connector.clone()));
        let via = proxy.map(|proxy| Via { server_name: proxy.server_name.clone(), connector: connector(), proxy });
        Self { endpoint, via }
    }

    /// Uses `tls` for the handshake with an `https` proxy, from the next connection on.
    pub(crate) fn greet_by(&self, tls: &UpstreamTls) {
        if let Some(via) = &self.via {
            *via.connector.write().unwrap_or_else(PoisonError::into_inner) = tls.connector.clone();
        }
    }

    /// The host and port of the API server at its end.
    pub fn endpoint(&self) -> &UpstreamEndpoint {
        &self.endpoint
    }

    /// Connects within `limit`.
    pub async fn connect(&self, limit: Duration) -> Result<Transport, UpstreamError> {
        let Some(via) = &self.via else {
            return dial(&self.endpoint, &self.endpoint.to_string(), limit).await.map(Transport::Tcp);
        };
        let deadline = Instant::now() + limit;
        let address = UpstreamEndpoint { host: via.proxy.host.clone(), port: via.proxy.port };
        let tcp = dial(&address, &format!("the proxy {}", via.proxy), limit).await?;
        let tunnel = timeout_at(deadline, via.ask_for(&self.endpoint, tcp)).await;
        let tunnel = tunnel.unwrap_or(Err(ForwardProxyFault::TimedOut { seconds: limit.as_secs() }));
        let failed =
            |fault| UpstreamError::ForwardProxy { proxy: via.proxy.to_string(), endpoint: self.endpoint.to_string(), fault };
        tunnel.map_err(failed)
    }
}

impl Via {
    async fn ask_for(&self, target: &UpstreamEndpoint, tcp: TcpStream) -> Result<Transport, ForwardProxyFault> {
        let credentials = self.proxy.credentials.as_ref();
        let transport = match self.proxy.scheme {
            Scheme::Socks5 => return socks::connect(Transport::Tcp(tcp), target, credentials).await,
            Scheme::Http => Transport::Tcp(tcp),
            Scheme::Https => self.greet(tcp).await?,
        };
        http_connect::connect(transport, target, credentials).await
    }

    /// Makes the TLS handshake with an `https` proxy. ALPN offers only HTTP/1.1, because a proxy that chose HTTP/2 would not
    /// understand the CONNECT request.
    async fn greet(&self, tcp: TcpStream) -> Result<Transport, ForwardProxyFault> {
        let connector = self.connector.read().unwrap_or_else(PoisonError::into_inner).clone();
        let handshake = connector.with_alpn(vec![b"http/1.1".to_vec()]).connect(self.server_name.clone(), tcp);
        match handshake.await {
            Ok(tls) => Ok(Transport::WithinTls(Box::new(tls))),
            Err(error) => Err(fault_of(&error)),
        }
    }
}

fn fault_of(error: &io::Error) -> ForwardProxyFault {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(fault) => ForwardProxyFault::Tls { detail: fault.to_string() },
        None => ForwardProxyFault::Closed,
    }
}

impl std::fmt::Debug for Via {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Via").field("proxy", &self.proxy).finish_non_exhaustive()
    }
}
