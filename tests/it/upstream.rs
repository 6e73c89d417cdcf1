//! A minimal API server: TLS, HTTP/1.1, a version and one Secret.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::SystemTime;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned};

/// The body of `/version`.
pub(crate) const VERSION: &str = r#"{"major":"1","minor":"34","gitVersion":"v1.34.4"}"#;
/// The answer to all other requests.
const NOT_FOUND: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"NotFound","code":404}"#;
/// The answer to a list of Secrets.
const SECRETS: &str = r#"{"kind":"SecretList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"c4n4ry-name","namespace":"a","resourceVersion":"6"},"data":{"password":"YzRuNHJ5LWRhdGE="}}]}"#;
/// The data of that Secret, which must not appear in any output either.
pub(crate) const SECRET_DATA: &str = "YzRuNHJ5LWRhdGE";
/// The token of [`Upstream::kubeconfig`]; it must not appear in any output.
pub(crate) const TOKEN: &str = "token-of-a-scripted-upstream";

/// Serves until the test process ends.
pub(crate) struct Upstream {
    address: SocketAddr,
    authority: CertifiedIssuer<'static, KeyPair>,
    connections: Arc<AtomicUsize>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    requests: Vec<String>,
    certificates: Vec<CertificateDer<'static>>,
}

impl Upstream {
    pub(crate) fn start() -> Self {
        Self::at(Ipv4Addr::LOCALHOST.into(), "127.0.0.1")
    }

    /// Its certificate becomes valid at this time.
    pub(crate) fn valid_from(start: SystemTime) -> Self {
        Self::with(Ipv4Addr::LOCALHOST.into(), "127.0.0.1", Some(start))
    }

    /// Listens on an address of this machine, with a certificate for `name`.
    pub(crate) fn at(address: IpAddr, name: &str) -> Self {
        Self::with(address, name, None)
    }

    fn with(address: IpAddr, name: &str, valid_from: Option<SystemTime>) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = valid_from.map_or(params.not_before, SystemTime::into);
        let certificate = params.signed_by(&key, &authority).unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
        let tls = server_config(certificate.der().clone(), key, authority.der().clone());

        let listener = TcpListener::bind((address, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Mutex<Seen>>::default();
        let seen_by_all = Arc::clone(&seen);
        let connections = Arc::new(AtomicUsize::new(0));
        let accepted = Arc::clone(&connections);
        thread::spawn(move || {
            for socket in listener.incoming() {
                accepted.fetch_add(1, Ordering::SeqCst);
                let (tls, seen) = (Arc::clone(&tls), Arc::clone(&seen_by_all));
                // A client may leave at any point, which is no error of the server.
                thread::spawn(move || socket.and_then(|socket| serve(socket, tls, &seen)).ok());
            }
        });
        Self { address, authority, connections, seen }
    }

    /// The requests so far, as in `GET /version`.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen().requests.clone()
    }

    /// The client certificate of each request that had one.
    pub(crate) fn certificates(&self) -> Vec<CertificateDer<'static>> {
        self.seen().certificates.clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client certificate that this server accepts, and its key in PEM.
    pub(crate) fn user(&self) -> (rcgen::Certificate, String) {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = KeyPair::generate().unwrap();
        (params.signed_by(&key, &self.authority).unwrap(), key.serialize_pem())
    }

    /// The number of accepted connections.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Its listening address.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA that signed its certificate, PEM.
    pub(crate) fn authority(&self) -> String {
        self.authority.pem()
    }

    /// A kubeconfig for this server.
    pub(crate) fn kubeconfig(&self) -> String {
        kubeconfig(&format!("https://{}", self.address), &self.trusted())
    }

    /// A kubeconfig for this server that trusts the CA of `other`.
    pub(crate) fn kubeconfig_that_trusts(&self, other: &Self) -> String {
        kubeconfig(&format!("https://{}", self.address), &other.trusted())
    }

    /// A kubeconfig that trusts this server's CA and names another port of this machine.
    pub(crate) fn kubeconfig_to_port(&self, port: u16) -> String {
        kubeconfig(&format!("https://127.0.0.1:{port}"), &self.trusted())
    }

    /// A kubeconfig for this server behind a proxy, under a name that only the proxy can resolve.
    pub(crate) fn kubeconfig_with_proxy(&self, proxy_url: &str) -> String {
        let trust = format!("{}\n    tls-server-name: 127.0.0.1\n    proxy-url: '{proxy_url}'", self.trusted());
        kubeconfig("https://api.invalid:6443", &trust)
    }

    /// The field of a cluster that contains the CA.
    pub(crate) fn trusted(&self) -> String {
        format!("certificate-authority-data: {}", BASE64_STANDARD.encode(self.authority()))
    }
}

/// One context with a bearer token; `trust` is the field that contains the CA.
pub(crate) fn kubeconfig(server: &str, trust: &str) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: scripted
  cluster:
    server: {server}
    {trust}
users:
- name: tester
  user:
    token: {TOKEN}
contexts:
- name: scripted
  context:
    cluster: scripted
    user: tester
current-context: scripted
"
    )
}

/// Requests client certificates signed by `authority`, but does not require them.
fn server_config(
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
    authority: CertificateDer<'static>,
) -> Arc<ServerConfig> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(authority).unwrap();
    let users = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).allow_unauthenticated();
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let mut config = builder.with_client_cert_verifier(users.build().unwrap()).with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Arc::new(config)
}

fn serve(socket: TcpStream, tls: Arc<ServerConfig>, seen: &Mutex<Seen>) -> io::Result<()> {
    let connection = ServerConnection::new(tls).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, socket));
    loop {
        let Some(request) = read_head(&mut reader)? else { return Ok(()) };
        let (status, body) = match request.as_str() {
            "GET /version" => ("200 OK", VERSION),
            "GET /api/v1/namespaces/a/secrets" => ("200 OK", SECRETS),
            _ => ("404 Not Found", NOT_FOUND),
        };
        let certificate = reader.get_ref().conn.peer_certificates().and_then(<[_]>::first).cloned();
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.requests.push(request);
        seen.certificates.extend(certificate);
        drop(seen);
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
        reader.get_mut().write_all((head + body).as_bytes())?;
    }
}

/// Method and target; the tests send no bodies. `None` at the end of the connection.
fn read_head(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut lines = reader.lines();
    let Some(first) = lines.next().transpose()? else { return Ok(None) };
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    Ok(first.rsplit_once(' ').map(|(request, _version)| request.to_owned()))
}
