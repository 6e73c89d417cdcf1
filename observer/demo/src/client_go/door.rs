//! Opens HTTP/2 connections to the API server of a kubeconfig, for the clients of a script.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderValue;
use http_body_util::Empty;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::crypto::aws_lc_rs;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, ServerName};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::identity::service_account_token;

/// Time limit for connecting (Go net/http `DefaultTransport`: 30 s; the handshake 10 s).
const LONGEST: Duration = Duration::from_secs(10);

/// The address and credentials for connections to an API server.
pub(crate) struct Door {
    address: String,
    name: ServerName<'static>,
    tls: TlsConnector,
    token: String,
}

/// Why a request got no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    /// The connection was refused.
    Refused,
    /// The connection failed in another way, or ended before the answer.
    Broken,
}

/// The HTTP/2 flow-control windows of a client: how many unread bytes it accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Windows {
    /// Go's client: 4 MiB for a stream, 1 GiB for the connection (golang.org/x/net `http2/transport.go`).
    AsGo,
    /// HTTP/2's default: 64 KiB.
    Smallest,
}

impl Door {
    /// Reads the current context of a kubeconfig in JSON, such as the demo's and watchtap's copy of it.
    pub(crate) fn of_kubeconfig(file: &Path) -> Result<Self> {
        let text = std::fs::read(file).context("cannot read the demo's kubeconfig")?;
        let config: Value = serde_json::from_slice(&text).context("the demo's kubeconfig is no JSON")?;
        let text = |pointer: &str| config.pointer(pointer).and_then(Value::as_str).with_context(|| format!("no {pointer}"));
        let server = text("/clusters/0/cluster/server")?;
        let address = server.strip_prefix("https://").context("the demo's API server has no https address")?;
        let (host, _port) = address.rsplit_once(':').context("the demo's API server has no port")?;
        let authority = STANDARD.decode(text("/clusters/0/cluster/certificate-authority-data")?)?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&authority) {
            roots.add(certificate?)?;
        }
        let mut tls = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let token = text("/users/0/user/token")?.to_owned();
        let name = ServerName::try_from(host.to_owned())?;
        Ok(Self { address: address.to_owned(), name, tls: TlsConnector::from(Arc::new(tls)), token })
    }

    /// The credential of a client with this name.
    pub(super) fn authorization(&self, user_agent: &str) -> Result<HeaderValue> {
        let token = service_account_token(&self.token, user_agent);
        let mut authorization = HeaderValue::from_str(&format!("Bearer {token}"))?;
        authorization.set_sensitive(true);
        Ok(authorization)
    }

    /// The value of the `Host` field, or of `:authority`.
    pub(super) fn authority(&self) -> &str {
        &self.address
    }

    /// Opens a connection.
    pub(super) async fn open(&self, windows: Windows) -> Result<SendRequest<Empty<Bytes>>, Lost> {
        timeout(LONGEST, self.connect(windows)).await.unwrap_or(Err(Lost::Broken))
    }

    async fn connect(&self, windows: Windows) -> Result<SendRequest<Empty<Bytes>>, Lost> {
        let tcp = TcpStream::connect(&self.address)
            .await
            .map_err(|error| if error.kind() == io::ErrorKind::ConnectionRefused { Lost::Refused } else { Lost::Broken })?;
        let stream = self.tls.connect(self.name.clone(), tcp).await.or(Err(Lost::Broken))?;
        let mut builder = Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new());
        match windows {
            Windows::AsGo => builder.initial_stream_window_size(4 << 20).initial_connection_window_size(1 << 30),
            Windows::Smallest => builder.initial_stream_window_size(65_535).initial_connection_window_size(65_535),
        };
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await.or(Err(Lost::Broken))?;
        // Errors of the connection are reported where its answers are read.
        tokio::spawn(async move { drop(connection.await) });
        Ok(sender)
    }
}
