//! The proxy as its owner sees it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::counters::Counters;
use super::gate::Gate;
use super::listener::Listener;
use super::port::BoundPort;
use super::shared::Shared;
use super::sides::CurrentSides;
use super::upstream_files::Renewal;
use super::{
    ClientCertificate, ListenerState, PrivateAuthority, ProxyConfig, ProxyCounts, ProxyError, TlsConfigError, UpstreamError,
    UpstreamRoute,
};

/// A listener in front of one API server.
///
/// On each connection the client's `ClientHello` is read first, then upstream is dialled and greeted with the protocols that the client
/// offered, then the client is answered with what upstream chose: so a client is never let in where there is nobody behind us, and there
/// is one upstream connection per client connection.
///
/// While upstream refuses TCP connections, so does our port. What a client can see of us all the same, counted as
/// [`ProxyCounts::reset_instead_of_refused`]: a reset instead of a refusal, until we have learned that upstream refuses; that takes a
/// sign (an end, a GOAWAY, a failed dial), as nothing is dialled unasked. Where upstream's address swallows SYNs, a client is accepted
/// and reset after the handshake limit. Behind a forward proxy it is the proxy's port that decides; see [`UpstreamRoute`].
#[derive(Debug)]
pub struct Proxy {
    port: BoundPort,
    shared: Arc<Shared>,
    stop: watch::Receiver<Option<Duration>>,
    finished: watch::Sender<()>,
    handle: ProxyHandle,
}

/// Reads and stops a [`Proxy`] while it serves.
#[derive(Clone, Debug)]
pub struct ProxyHandle {
    shared: Arc<Shared>,
    stop: Arc<watch::Sender<Option<Duration>>>,
    finished: watch::Receiver<()>,
}

impl Proxy {
    /// Binds and listens; clients that come before [`Self::serve`] wait.
    pub fn bind(config: ProxyConfig) -> Result<Self, ProxyError> {
        let port = BoundPort::bind(config.listen)?;
        let shared = Arc::new(Shared {
            address: port.address(),
            route: UpstreamRoute::new(config.upstream, config.forward_proxy, &config.upstream_tls),
            entrance: config.entrance,
            sides: CurrentSides::new(config.authority, config.entrance, &config.admission, config.upstream_tls)?,
            renewal: config.upstream_files.map(Renewal::new),
            intake: config.intake,
            clock: config.clock,
            handshake_limit: config.handshake_limit,
            counters: Counters::default(),
            gate: Gate::new(),
            descriptors: config.descriptors,
            first_client: watch::Sender::new(false),
        });
        let (stop_sender, stop) = watch::channel(None);
        let (finished, finished_receiver) = watch::channel(());
        let handle = ProxyHandle { shared: Arc::clone(&shared), stop: Arc::new(stop_sender), finished: finished_receiver };
        Ok(Self { port, shared, stop, finished, handle })
    }

    /// Where clients connect.
    pub fn local_addr(&self) -> SocketAddr {
        self.port.address()
    }

    /// A handle that outlives the proxy.
    pub fn handle(&self) -> ProxyHandle {
        self.handle.clone()
    }

    /// Serves until [`ProxyHandle::stop`] and the end of its grace.
    ///
    /// Fails only when the runtime cannot take the socket.
    pub async fn serve(self) -> Result<(), ProxyError> {
        // Dropped on every way out: that is how handles learn that all is over.
        let Self { port, shared, mut stop, finished: _finished, handle } = self;
        drop(handle);
        let address = port.address();
        let port = port.into_port().map_err(|source| ProxyError::Listen { address, source })?;
        let mut listener = Listener::new(shared, port);
        let grace = tokio::select! {
            grace = grace(&mut stop) => grace,
            () = listener.run() => Duration::ZERO,
        };
        listener.finish(grace).await;
        Ok(())
    }
}

/// The grace of a stop; without anybody left who could stop us, there is none.
async fn grace(stop: &mut watch::Receiver<Option<Duration>>) -> Duration {
    let grace = stop.wait_for(Option::is_some).await.ok().and_then(|grace| *grace);
    match grace {
        Some(grace) => grace,
        None => std::future::pending().await,
    }
}

impl ProxyHandle {
    /// Where clients connect.
    pub fn local_addr(&self) -> SocketAddr {
        self.shared.address
    }

    /// Totals so far.
    pub fn counts(&self) -> ProxyCounts {
        self.shared.counters.snapshot()
    }

    /// Whether clients are accepted, as far as upstream decides it.
    pub fn state(&self) -> ListenerState {
        self.shared.gate.state()
    }

    /// Why the last client that could not be served was not.
    pub fn last_upstream_error(&self) -> Option<UpstreamError> {
        self.shared.counters.last_upstream_error()
    }

    /// Waits until the first client has connected. Nothing is dialled for a listener before that.
    pub async fn first_client(&self) {
        // The sender lives as long as we do.
        self.shared.first_client.subscribe().wait_for(|came| *came).await.map(drop).unwrap_or_default();
    }

    /// Dials upstream now, so that the port refuses before a client comes, where upstream does. A connection that is accepted is the next client's.
    pub fn check_upstream(&self) {
        self.shared.gate.ask();
    }

    /// From the next connection on `certificate` is presented upstream, and nobody is let in but those to whom `issuer` has issued a
    /// certificate.
    pub fn present(&self, certificate: &ClientCertificate, issuer: &Arc<PrivateAuthority>) -> Result<(), TlsConfigError> {
        self.shared.sides.present(certificate, issuer)
    }

    /// Accepts nobody any more; the future is over when all connections are, or after `grace` (and a second), when those that are left have
    /// been ended with `close_notify` and FIN on both sides. It need not be awaited. Said again with another grace, it changes nothing.
    pub fn stop(&self, grace: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.stop.send_replace(Some(grace));
        let mut finished = self.finished.clone();
        // Nothing is ever sent: the end of the channel is the message.
        async move { while finished.changed().await.is_ok() {} }
    }
}
