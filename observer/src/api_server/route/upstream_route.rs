//! How an API server is reached: directly, or through a forward proxy.
//!
//! client-go detects a refusal by the kernel's error for the address that it dials (`IsConnectionRefused`, kubernetes/apimachinery
//! `pkg/util/net/util.go`, v0.34). With a forward proxy, that is the proxy's address. So a proxy that refuses TCP counts as a
//! refusing upstream, and closes our port. A proxy may also accept TCP and then not connect us (407, 502, 503, a SOCKS reply, even
//! "connection refused"). To client-go that is an ordinary error, after which it relists. If our port were closed then, relists
//! that happen without watchtap would be missing. So the client is reset, as when upstream is unreachable, and never gets an HTTP
//! answer that is not the API server's.

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
    /// A proxy with an `https` address uses `tls`, the API server's: Go has one TLS configuration for both
    /// (`net/http/transport.go`, `dialConn`). Only the name in its certificate is its own.
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

    /// The API server that it leads to.
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

    /// A proxy that chose HTTP/2 would not understand our CONNECT, so it is offered HTTP/1.1 only.
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
