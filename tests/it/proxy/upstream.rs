//! A scripted upstream: it accepts TLS on request, passes each connection to the test, and can refuse.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::PrivatePkcs8KeyDer;
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream;

pub(super) type UpstreamStream = TlsStream<TcpStream>;

pub(super) struct ClusterCa(CertifiedIssuer<'static, KeyPair>);

impl ClusterCa {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(super) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A server configuration with a certificate for `name`.
    pub(super) fn server(&self, name: &str, alpn: &[&str], require_client_certificate: bool) -> ServerConfig {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
        let builder = if require_client_certificate {
            let mut roots = RootCertStore::empty();
            roots.add(self.0.der().clone()).unwrap();
            builder
                .with_client_cert_verifier(WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let (certificate, key) = self.issue(vec![name.to_owned()], ExtendedKeyUsagePurpose::ServerAuth);
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }

    /// Certificate and key of a user, PEM.
    pub(super) fn user(&self) -> (String, String) {
        let (certificate, key) = self.issue(Vec::new(), ExtendedKeyUsagePurpose::ClientAuth);
        (certificate.pem(), key.serialize_pem())
    }

    fn issue(&self, names: Vec<String>, usage: ExtendedKeyUsagePurpose) -> (rcgen::Certificate, KeyPair) {
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }
}

/// A listener whose TLS connections the test accepts one by one.
pub(super) struct Upstream {
    pub(super) address: SocketAddr,
    config: Arc<ServerConfig>,
    listener: Option<Arc<TcpListener>>,
    accepting: JoinHandle<()>,
    ready: mpsc::Receiver<UpstreamStream>,
    sender: mpsc::Sender<UpstreamStream>,
    seen: Arc<Mutex<Seen>>,
}

/// Everything that an upstream has seen since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) tcp_connections: usize,
    /// The ALPN protocols that each `ClientHello` offered.
    pub(super) offers: Vec<Vec<String>>,
}

impl Upstream {
    pub(super) fn start(config: ServerConfig) -> Self {
        let listener = listen("127.0.0.1:0".parse().unwrap());
        let address = listener.local_addr().unwrap();
        let (sender, ready) = mpsc::channel(64);
        let (config, seen) = (Arc::new(config), Arc::default());
        let accepting = tokio::spawn(accept(Arc::clone(&listener), Arc::clone(&config), sender.clone(), Arc::clone(&seen)));
        Self { address, config, listener: Some(listener), accepting, ready, sender, seen }
    }

    /// The next connection with a complete handshake.
    pub(super) async fn accept(&mut self) -> UpstreamStream {
        self.ready.recv().await.unwrap()
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }

    /// Refuses connections from now on; accepted ones stay open.
    pub(super) async fn refuse(&mut self) {
        self.stop_accepting().await;
        self.close_listener();
    }

    /// Leaves new connections in the kernel's queue from now on.
    pub(super) async fn stop_accepting(&mut self) {
        self.accepting.abort();
        assert!((&mut self.accepting).await.unwrap_err().is_cancelled());
    }

    /// Refuses connections, and resets those in the kernel's queue.
    pub(super) fn close_listener(&mut self) {
        self.listener = None;
    }

    /// Listens again on the same port.
    pub(super) fn accept_again(&mut self) {
        let listener = listen(self.address);
        self.accepting = self.spawn_accept(&listener);
        self.listener = Some(listener);
    }

    fn spawn_accept(&self, listener: &Arc<TcpListener>) -> JoinHandle<()> {
        tokio::spawn(accept(Arc::clone(listener), Arc::clone(&self.config), self.sender.clone(), Arc::clone(&self.seen)))
    }
}

fn listen(address: SocketAddr) -> Arc<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.bind(&address.into()).unwrap();
    socket.listen(1024).unwrap();
    Arc::new(TcpListener::from_std(socket.into()).unwrap())
}

async fn accept(
    listener: Arc<TcpListener>,
    config: Arc<ServerConfig>,
    ready: mpsc::Sender<UpstreamStream>,
    seen: Arc<Mutex<Seen>>,
) {
    loop {
        let (tcp, _) = listener.accept().await.unwrap();
        seen.lock().unwrap().tcp_connections += 1;
        tokio::spawn(greet(tcp, Arc::clone(&config), ready.clone(), Arc::clone(&seen)));
    }
}

async fn greet(tcp: TcpStream, config: Arc<ServerConfig>, ready: mpsc::Sender<UpstreamStream>, seen: Arc<Mutex<Seen>>) {
    let Ok(start) = LazyConfigAcceptor::new(rustls::server::Acceptor::default(), tcp).await else { return };
    let text = |name: &[u8]| String::from_utf8(name.to_vec()).unwrap();
    let offer = start.client_hello().alpn().map(|names| names.map(text).collect()).unwrap_or_default();
    seen.lock().unwrap().offers.push(offer);
    if let Ok(stream) = start.into_stream(config).await {
        ready.send(stream).await.ok();
    }
}
