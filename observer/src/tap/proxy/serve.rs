//! The public interface of the proxy.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::connection_tls::CurrentTls;
use super::counters::Counters;
use super::gate::Gate;
use super::listener::Listener;
use super::port::BoundPort;
use super::renewal::Renewal;
use super::shared::Shared;
use super::{ListenerState, ProxyConfig, ProxyCounts, ProxyError};
use crate::api_server::{ClientCertificate, TlsConfigError, UpstreamError, UpstreamRoute};
use observer_pki::PrivateAuthority;

/// A listener in front of one API server.
///
/// For each connection, it reads the client's `ClientHello` first. It then dials upstream, unless it has dialled at a CONNECT
/// request, and offers the client's protocols. Last, it answers the client with the protocol that upstream chose. So a client is
/// let in only if upstream is there, and each client connection has one upstream connection.
///
/// While upstream refuses TCP connections, the proxy's port refuses them, too. One difference remains visible to clients, counted
/// as [`ProxyCounts::reset_instead_of_refused`]: they are reset instead of refused until the proxy has found out that upstream
/// refuses. It finds out after a sign (an end, a GOAWAY, a failed dial), since it does not poll an upstream that accepts. If
/// upstream's address drops SYNs, a client is accepted and then reset after the handshake limit. If upstream is reached through a
/// forward proxy, the port of the forward proxy decides; see [`UpstreamRoute`].
#[derive(Debug)]
pub struct Proxy {
    port: BoundPort,
    shared: Arc<Shared>,
    stop: watch::Receiver<Option<Duration>>,
    finished: watch::Sender<()>,
    handle: ProxyHandle,
}

/// Reads the state of a [`Proxy`] while it serves, and stops it.
#[derive(Clone, Debug)]
pub struct ProxyHandle {
    shared: Arc<Shared>,
    stop: Arc<watch::Sender<Option<Duration>>>,
    finished: watch::Receiver<()>,
}

impl Proxy {
    /// Binds and listens; clients that connect before [`Self::serve`] wait.
    pub fn bind(config: ProxyConfig) -> Result<Self, ProxyError> {
        let port = BoundPort::bind(config.listen)?;
        let route = UpstreamRoute::new(config.upstream, config.forward_proxy, &config.upstream_tls);
        let connection_tls =
            CurrentTls::new(config.authority, config.names, config.entrance, config.admission, config.upstream_tls)?;
        let shared = Arc::new(Shared {
            address: port.address(),
            upstream_id: config.upstream_id,
            route,
            entrance: config.entrance,
            connection_tls,
            renewal: config.upstream_files.map(Renewal::new),
            container_name: config.container_name,
            intake: config.intake,
            clock: config.clock,
            handshake_limit: config.handshake_limit,
            counters: Counters::default(),
            gate: Gate::new(),
            descriptors: config.descriptors,
            first_client: watch::Sender::new(false),
            connected: watch::Sender::new(0),
        });
        let (stop_sender, stop) = watch::channel(None);
        let (finished, finished_receiver) = watch::channel(());
        let handle = ProxyHandle { shared: Arc::clone(&shared), stop: Arc::new(stop_sender), finished: finished_receiver };
        Ok(Self { port, shared, stop, finished, handle })
    }

    /// The address that clients connect to.
    pub fn local_addr(&self) -> SocketAddr {
        self.port.address()
    }

    /// A handle that outlives the proxy.
    pub fn handle(&self) -> ProxyHandle {
        self.handle.clone()
    }

    /// Serves until [`ProxyHandle::stop`] was called and all connections have ended.
    ///
    /// Fails only if the runtime cannot register the socket.
    pub async fn serve(self) -> Result<(), ProxyError> {
        // Every return drops `_finished`, which resolves the futures of [`ProxyHandle::stop`].
        let Self { port, shared, mut stop, finished: _finished, handle } = self;
        drop(handle);
        let address = port.address();
        let port = port.into_port().map_err(|source| ProxyError::Listen { address, source })?;
        let mut listener = Listener::new(shared, port);
        let grace = tokio::select! {
            grace = requested(&mut stop) => grace,
            () = listener.run() => Duration::ZERO,
        };
        listener.finish(grace).await;
        Ok(())
    }
}

/// Waits until a shutdown is requested. Waits forever once no handle is left.
async fn requested(stop: &mut watch::Receiver<Option<Duration>>) -> Duration {
    let grace = stop.wait_for(Option::is_some).await.ok().and_then(|grace| *grace);
    match grace {
        Some(grace) => grace,
        None => std::future::pending().await,
    }
}

impl ProxyHandle {
    /// The address that clients connect to.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.address
    }

    /// Totals since the start.
    pub fn counts(&self) -> ProxyCounts {
        self.shared.counters.snapshot()
    }

    /// Reads the counts while the proxy exists, and does not keep it: observing ends when all proxies are gone.
    pub fn weak_counts(&self) -> impl Fn() -> Option<ProxyCounts> + Send + Sync + use<> {
        let shared = Arc::downgrade(&self.shared);
        move || shared.upgrade().map(|shared| shared.counters.snapshot())
    }

    /// Whether the port accepts clients; it follows upstream.
    pub fn state(&self) -> ListenerState {
        self.shared.gate.state()
    }

    /// Follows [`Self::state`].
    pub fn states(&self) -> watch::Receiver<ListenerState> {
        self.shared.gate.states()
    }

    /// Why the client that failed last could not be connected to upstream.
    pub fn last_upstream_error(&self) -> Option<UpstreamError> {
        self.shared.counters.last_upstream_error()
    }

    /// Waits until the first client has connected. Before that the listener dials nothing, except for [`Self::check_upstream`].
    pub async fn first_client(&self) {
        // The sender lives as long as this handle.
        self.shared.first_client.subscribe().wait_for(|came| *came).await.map(drop).unwrap_or_default();
    }

    /// Dials upstream now. If upstream refuses, the port refuses clients even before the first one connects. If upstream accepts the
    /// connection, it is kept for the next client.
    pub fn check_upstream(&self) {
        self.shared.gate.ask();
    }

    /// From the next connection on, `certificate` is presented upstream, and only clients with a certificate issued by `issuer` are
    /// let in.
    pub fn present(&self, certificate: &ClientCertificate, issuer: &Arc<PrivateAuthority>) -> Result<(), TlsConfigError> {
        self.shared.connection_tls.present(certificate, issuer)
    }

    /// Waits until no client is connected. Clients whose handshake has not ended count as connected.
    pub async fn idle(&self) {
        // The sender lives as long as this handle.
        self.shared.connected.subscribe().wait_for(|connected| *connected == 0).await.map(drop).unwrap_or_default();
    }

    /// Closes the port. The future resolves when all connections have ended. After `grace`, the remaining ones are ended with
    /// `close_notify` and FIN on both sides, and reset a second later. The future need not be awaited. Another call changes nothing.
    pub fn stop(&self, grace: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.stop.send_replace(Some(grace));
        let mut finished = self.finished.clone();
        // Nothing is ever sent: the channel's end is the signal.
        async move { while finished.changed().await.is_ok() {} }
    }
}
