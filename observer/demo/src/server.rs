//! Starts and stops the demo server, and returns its address, CA and kubeconfig.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::cluster::{Cluster, random_hex};
use super::config::DemoConfig;
use super::handle::DemoHandle;
use super::serve::{Port, Responder, RestartableServer};
use super::{api, periodic};
use observer_pki::{AuthorityError, PrivateAuthority, ServerIdentity};

/// The namespaces that every cluster has.
const NAMESPACES: &[&str] = &["default", "kube-node-lease", "kube-public", "kube-system"];

/// Maximum number of restarts that may wait for the one in progress.
const MOST_RESTARTS: usize = 4;

/// Number of serving threads. It is low, because the machine also runs watchtap and the demo's clients.
const THREADS: usize = 2;

/// A running demo API server, on its own threads. It stops when it is dropped.
pub struct DemoServer {
    runtime: Option<Runtime>,
    address: SocketAddr,
    ca_pem: String,
    token: String,
    handle: DemoHandle,
}

/// Why a demo server does not start.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The address is not loopback, so other machines could connect to it.
    #[error("the demo listens on loopback addresses only, not on {0}")]
    NotLoopback(SocketAddr),
    /// The port is taken, or the system lacks a resource.
    #[error("cannot listen on {address}; another port may be free: {source}")]
    Listen {
        /// The address that was requested.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The threads could not be started.
    #[error("cannot start the threads of the demo: {0}")]
    Threads(io::Error),
    /// The certificate could not be made.
    #[error(transparent)]
    Authority(#[from] AuthorityError),
    /// The TLS library rejects the certificate.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
}

impl DemoServer {
    /// Starts a server with the four namespaces that every cluster has, and nothing else. It listens when this returns.
    pub fn start(config: DemoConfig) -> Result<Self, DemoError> {
        let wanted = config.address;
        if !wanted.ip().is_loopback() {
            return Err(DemoError::NotLoopback(wanted));
        }
        let authority = PrivateAuthority::generate()?;
        let tls = TlsAcceptor::from(Arc::new(server_config(&authority)?));
        let port = Port::hold(wanted).map_err(|source| DemoError::Listen { address: wanted, source })?;
        let address = port.address();
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("demo")
            .enable_all()
            .build()
            .map_err(DemoError::Threads)?;
        let entered = runtime.enter();
        let listener = port.listen().map_err(|source| DemoError::Listen { address, source })?;
        let cluster = Arc::new(Cluster::new(config));
        make_namespaces(&cluster);
        let token = random_hex(16);
        let responder = Arc::new(Responder { cluster: Arc::clone(&cluster), token: token.clone() });
        let (restarts, received) = mpsc::channel(MOST_RESTARTS);
        runtime.spawn(RestartableServer { port, responder, tls, restarts: received }.live(listener));
        runtime.spawn(periodic::compact(Arc::clone(&cluster)));
        runtime.spawn(periodic::notify_progress(Arc::clone(&cluster)));
        drop(entered);
        let handle = DemoHandle { cluster, restarts };
        Ok(Self { runtime: Some(runtime), address, ca_pem: authority.certificate_pem(), token, handle })
    }

    /// The address on which it listens, also after a restart.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The CA that signed its certificate, as PEM text.
    pub fn ca_pem(&self) -> &str {
        &self.ca_pem
    }

    /// The bearer token of the only user, who may do everything.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// A complete kubeconfig (JSON, which is also YAML). It contains the token, so only its owner may read it.
    pub fn kubeconfig(&self) -> String {
        let cluster =
            json!({"server": format!("https://{}", self.address), "certificate-authority-data": STANDARD.encode(&self.ca_pem)});
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "demo", "cluster": cluster}],
            "users": [{"name": "demo", "user": {"token": self.token}}],
            "contexts": [{"name": "demo", "context": {"cluster": "demo", "user": "demo"}}],
            "current-context": "demo",
        });
        format!("{config:#}\n")
    }

    /// A handle for faults and other actions.
    pub fn handle(&self) -> DemoHandle {
        self.handle.clone()
    }
}

impl std::fmt::Debug for DemoServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("DemoServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for DemoServer {
    fn drop(&mut self) {
        // Dropping a runtime blocks until its tasks end, which must not happen on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn server_config(authority: &PrivateAuthority) -> Result<ServerConfig, DemoError> {
    let ServerIdentity { certificate, key, valid: _ } = authority.issue_server(&[], SystemTime::now())?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn make_namespaces(cluster: &Cluster) {
    let Some(namespaces) = api::find("", "v1", "namespaces") else { return };
    for name in NAMESPACES {
        let target = super::write::Target {
            resource: namespaces,
            namespace: String::new(),
            name: String::new(),
            part: super::write::Part::Main,
            dry_run: false,
        };
        let body = json!({"metadata": {"name": name}}).to_string();
        // This cannot fail, because the store is empty.
        let _created = super::write::create(cluster, &target, "application/json", body.as_bytes());
    }
}
