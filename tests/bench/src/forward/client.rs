//! The client: TLS, then HTTP/1.1 or HTTP/2, as the scenario requires.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls_pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::scenario::Http;
use super::tls;

/// Limit of every wait, for a loaded machine too.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The windows of Go's HTTP/2 client (golang.org/x/net `http2/transport.go`, `transportDefaultConnFlow`,
/// `transportDefaultStreamFlow`).
const CONNECTION_WINDOW: u32 = 1 << 30;
const STREAM_WINDOW: u32 = 4 << 20;

/// The address to connect to, with protocol and TLS.
#[derive(Clone)]
pub(super) struct Target {
    address: SocketAddr,
    http: Http,
    connector: TlsConnector,
}

/// A connection that accepts requests.
pub(super) enum Connection {
    H1(http1::SendRequest<Empty<Bytes>>),
    H2(http2::SendRequest<Empty<Bytes>>),
}

impl Target {
    /// A proxy, or the server itself, on this loopback port.
    pub(super) fn new(port: u16, http: Http) -> Result<Self> {
        let connector = TlsConnector::from(Arc::new(tls::client(http)?));
        Ok(Self { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), http, connector })
    }

    /// Opens a connection, ready for requests.
    pub(super) async fn connect(&self) -> Result<Connection> {
        timeout(TIMEOUT, self.handshakes()).await.context("no connection within a minute")?
    }

    async fn handshakes(&self) -> Result<Connection> {
        let stream = TokioIo::new(self.tls().await?);
        Ok(match self.http {
            Http::H1 => {
                let (sender, connection) = http1::handshake(stream).await?;
                tokio::spawn(connection);
                Connection::H1(sender)
            }
            Http::H2 => {
                let mut builder = http2::Builder::new(TokioExecutor::new());
                builder.initial_connection_window_size(CONNECTION_WINDOW).initial_stream_window_size(STREAM_WINDOW);
                let (sender, connection) = builder.handshake(stream).await?;
                tokio::spawn(connection);
                Connection::H2(sender)
            }
        })
    }

    async fn tls(&self) -> Result<TlsStream<TcpStream>> {
        let tcp = TcpStream::connect(self.address).await.with_context(|| format!("cannot connect to {}", self.address))?;
        tcp.set_nodelay(true)?;
        let name = ServerName::try_from("localhost")?;
        self.connector.connect(name, tcp).await.context("the TLS handshake failed")
    }
}

impl Connection {
    /// Another handle for parallel requests; `None` for HTTP/1.1.
    pub(super) fn stream(&self) -> Option<Self> {
        match self {
            Self::H1(_) => None,
            Self::H2(sender) => Some(Self::H2(sender.clone())),
        }
    }

    /// The body of a GET.
    pub(super) async fn get(&mut self, path: &str) -> Result<Incoming> {
        timeout(TIMEOUT, self.send(path)).await.context("no answer within a minute")?
    }

    /// The length of a GET's complete body.
    pub(super) async fn drain(&mut self, path: &str) -> Result<u64> {
        let mut body = self.get(path).await?;
        let mut length = 0;
        while let Some(bytes) = next(&mut body).await? {
            length += bytes.len() as u64;
        }
        Ok(length)
    }

    async fn send(&mut self, path: &str) -> Result<Incoming> {
        let response = match self {
            Self::H1(sender) => {
                sender.ready().await?;
                sender.send_request(request(path, "")?).await?
            }
            Self::H2(sender) => {
                sender.ready().await?;
                sender.send_request(request(path, "https://localhost")?).await?
            }
        };
        ensure!(response.status() == StatusCode::OK, "{path} was answered {}", response.status());
        Ok(response.into_body())
    }
}

/// The next bytes of a body; `None` at its end.
pub(super) async fn next(body: &mut Incoming) -> Result<Option<Bytes>> {
    let frame = timeout(TIMEOUT, body.frame()).await.context("the body stood still for a minute")?;
    Ok(frame.transpose()?.and_then(|frame| frame.into_data().ok()))
}

/// A request as client-go sends it, with a token.
fn request(path: &str, origin: &str) -> Result<Request<Empty<Bytes>>> {
    let request = Request::get(format!("{origin}{path}"))
        .header("host", "localhost")
        .header("user-agent", "bench/v1.0.0 (linux/amd64) kubernetes/v1.34.1")
        .header("accept", "application/json")
        .header("authorization", format!("Bearer {}", "x".repeat(900)));
    Ok(request.body(Empty::new())?)
}
