//! The test setup: a proxy between a scripted upstream and the clients of a test.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use observer_pki::PrivateAuthority;
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, ClientConnection, RootCertStore, SupportedProtocolVersion};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use watchtap::api_server::{ClientCertificate, UpstreamEndpoint, UpstreamId, UpstreamTls, UpstreamTrust};
use watchtap::intake::{Delivery, Intake, IntakeReceiver, TapEvent};
use watchtap::tap::Clock;
use watchtap::tap::proxy::{Admission, Descriptors, Entrance, Proxy, ProxyConfig, ProxyCounts, ProxyHandle};

use super::upstream::{ClusterCa, Upstream, UpstreamStream};

pub(super) type ClientStream = TlsStream<TcpStream>;

/// Settings that differ between tests.
pub(super) struct Options {
    /// The ALPN protocols of upstream.
    pub(super) alpn: &'static [&'static str],
    pub(super) intake: Option<Intake>,
    pub(super) handshake_limit: Duration,
    pub(super) require_client_certificate: bool,
    /// Whether upstream requires a client certificate of the cluster's CA. The proxy then has one.
    pub(super) upstream_requires_client_certificate: bool,
    /// The name in upstream's certificate.
    pub(super) upstream_name: &'static str,
    /// Whether the proxy trusts a CA other than upstream's.
    pub(super) wrong_ca: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            alpn: &["h2", "http/1.1"],
            intake: None,
            handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
            require_client_certificate: false,
            upstream_requires_client_certificate: false,
            upstream_name: "127.0.0.1",
            wrong_ca: false,
        }
    }
}

pub(super) struct Rig {
    pub(super) upstream: Upstream,
    pub(super) address: SocketAddr,
    pub(super) handle: ProxyHandle,
    pub(super) serving: JoinHandle<()>,
    /// The certificate and key that clients show to the proxy, PEM.
    pub(super) client_identity: (String, String),
    pub(super) greeter: Greeter,
}

/// The data that a client needs for the TLS handshake with the proxy.
#[derive(Clone)]
pub(super) struct Greeter {
    roots: RootCertStore,
    /// The expected name in the proxy's certificate.
    pub(super) name: &'static str,
    pub(super) versions: Vec<&'static SupportedProtocolVersion>,
}

impl Rig {
    pub(super) fn start() -> Self {
        Self::with(Options::default())
    }

    pub(super) fn with(options: Options) -> Self {
        let ca = ClusterCa::new();
        let server = ca.server(options.upstream_name, options.alpn, options.upstream_requires_client_certificate);
        let upstream = Upstream::start(server);
        let trusted = if options.wrong_ca { ClusterCa::new() } else { ca };
        let (chain, key) = trusted.user();
        let certificate = ClientCertificate { chain_pem: chain.into(), key_pem: key.into() };
        let certificate = options.upstream_requires_client_certificate.then_some(&certificate);
        let trust = UpstreamTrust::Authorities(trusted.pem().into());
        let config = config(upstream.address, UpstreamTls::new(&trust, "127.0.0.1", certificate).unwrap());
        let holders = options.require_client_certificate.then(|| Admission::HoldersOf(Arc::clone(&config.authority)));
        Self::of(
            upstream,
            ProxyConfig {
                intake: options.intake,
                handshake_limit: options.handshake_limit,
                admission: holders.unwrap_or(Admission::Anybody),
                ..config
            },
        )
    }

    /// A proxy with an upstream outside the rig; the rig's own upstream is unused.
    pub(super) fn without_upstream(config: ProxyConfig) -> Self {
        Self::of(Upstream::start(ClusterCa::new().server("unused", &[], false)), config)
    }

    /// A proxy with this configuration in front of `upstream`.
    pub(super) fn of(upstream: Upstream, config: ProxyConfig) -> Self {
        let identity = config.authority.issue_client().unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(config.authority.certificate_pem().as_bytes()).unwrap()).unwrap();
        let greeter = Greeter { roots, name: "127.0.0.1", versions: rustls::ALL_VERSIONS.to_vec() };
        let proxy = Proxy::bind(config).unwrap();
        let (address, handle) = (proxy.local_addr(), proxy.handle());
        let serving = tokio::spawn(async move { proxy.serve().await.unwrap() });
        Self { upstream, address, handle, serving, client_identity: (identity.certificate_pem, identity.key_pem), greeter }
    }

    /// Connects a client; returns it with its upstream connection.
    pub(super) async fn pair(&mut self) -> (ClientStream, UpstreamStream) {
        self.pair_offering(&["h2", "http/1.1"]).await
    }

    pub(super) async fn pair_offering(&mut self, alpn: &[&str]) -> (ClientStream, UpstreamStream) {
        let established = self.handle.counts().established;
        let client = self.client(alpn, None).await.unwrap();
        // In TLS 1.3 the client completes the handshake before the proxy does.
        eventually(|| self.handle.counts().established > established).await;
        (client, self.upstream.accept().await)
    }

    /// Connects the first client of a rig; returns it with its upstream connection, or `None` if the handshakes exceeded the
    /// proxy's limit.
    pub(super) async fn pair_unless_late(&mut self) -> Option<(ClientStream, UpstreamStream)> {
        let client = self.client(&["h2", "http/1.1"], None).await.ok()?;
        let over = |counts: ProxyCounts| {
            counts.established + counts.client_handshakes_failed + counts.certificates_missing + counts.upstream_failed
        };
        eventually(|| over(self.handle.counts()) > 0).await;
        if self.handle.counts().established == 0 {
            return None;
        }
        Some((client, self.upstream.accept().await))
    }

    /// Connects and completes the TLS handshake, with these ALPN protocols and an optional certificate.
    pub(super) async fn client(&self, alpn: &[&str], identity: Option<&(String, String)>) -> io::Result<ClientStream> {
        let tcp = TcpStream::connect(self.address).await?;
        self.greeter.greet(tcp, alpn, identity).await
    }

    /// Whether the proxy refuses a connection now.
    pub(super) async fn refuses(&self) -> bool {
        match TcpStream::connect(self.address).await {
            Ok(_) => false,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => true,
            Err(error) => panic!("neither accepted nor refused: {error}"),
        }
    }
}

impl Greeter {
    /// Completes the TLS handshake.
    pub(super) async fn greet(
        &self,
        tcp: TcpStream,
        alpn: &[&str],
        identity: Option<&(String, String)>,
    ) -> io::Result<ClientStream> {
        let config = self.config(alpn, identity);
        TlsConnector::from(Arc::new(config)).connect(self.server_name(), tcp).await
    }

    /// A client that has sent nothing yet, without ALPN protocols.
    pub(super) fn hello(&self) -> ClientConnection {
        ClientConnection::new(Arc::new(self.config(&[], None)), self.server_name()).unwrap()
    }

    fn server_name(&self) -> ServerName<'static> {
        ServerName::try_from(self.name).unwrap()
    }

    fn config(&self, alpn: &[&str], identity: Option<&(String, String)>) -> ClientConfig {
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_protocol_versions(&self.versions)
            .unwrap()
            .with_root_certificates(self.roots.clone());
        let mut config = match identity {
            Some((certificate, key)) => {
                let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
                builder.with_client_auth_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap()).unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }
}

/// The default configuration of a proxy on loopback.
pub(super) fn config(upstream: SocketAddr, upstream_tls: UpstreamTls) -> ProxyConfig {
    ProxyConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        upstream: endpoint(upstream),
        forward_proxy: None,
        upstream_tls,
        upstream_id: UpstreamId::default(),
        upstream_files: None,
        authority: Arc::new(PrivateAuthority::generate().unwrap()),
        names: Vec::new(),
        entrance: Entrance::Server,
        admission: Admission::Anybody,
        container_name: None,
        intake: None,
        clock: Clock::start(),
        handshake_limit: ProxyConfig::HANDSHAKE_LIMIT,
        descriptors: Descriptors::within(None),
    }
}

pub(super) fn endpoint(address: SocketAddr) -> UpstreamEndpoint {
    UpstreamEndpoint { host: address.ip().to_string(), port: address.port() }
}

/// Sends `message`; returns the same number of received bytes.
pub(super) async fn carried(from: &mut (impl AsyncWrite + Unpin), to: &mut (impl AsyncRead + Unpin), message: &[u8]) -> Vec<u8> {
    let mut arrived = vec![0; message.len()];
    let sending = async {
        from.write_all(message).await.unwrap();
        from.flush().await.unwrap();
    };
    let (read, ()) = tokio::join!(to.read_exact(&mut arrived), sending);
    read.unwrap();
    arrived
}

/// How a stream ended for its reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    CloseNotify,
    Fin,
    Reset,
}

/// Reads the stream to its end.
pub(super) async fn read_to_end(stream: &mut (impl AsyncReadExt + Unpin)) -> (Vec<u8>, End) {
    let mut bytes = Vec::new();
    let end = match stream.read_to_end(&mut bytes).await {
        Ok(_) => End::CloseNotify,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => End::Fin,
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => End::Reset,
        Err(error) => panic!("another end: {error}"),
    };
    (bytes, end)
}

/// All events of the only connection except the last one; nothing is taken from the queue before the call.
pub(super) async fn read_to_close(mut receiver: IntakeReceiver) -> Vec<TapEvent> {
    let reading = tokio::task::spawn_blocking(move || {
        let mut events = Vec::new();
        loop {
            let batch: Vec<_> = receiver.drain(Duration::from_secs(10)).collect();
            assert!(!batch.is_empty(), "the connection is not closed");
            for delivered in batch {
                let Delivery::Connection(_, event) = delivered.delivery else { continue };
                if matches!(event, TapEvent::Closed { .. }) {
                    return events;
                }
                events.push(event);
            }
        }
    });
    reading.await.unwrap()
}

/// Polls every millisecond until `condition` holds.
#[track_caller]
pub(super) fn eventually(condition: impl Fn() -> bool) -> impl Future<Output = ()> {
    let place = std::panic::Location::caller();
    async move {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(10);
        while !condition() {
            assert!(tokio::time::Instant::now() < deadline, "never so: {place}");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}
