//! A client of one collector: one request at a time, on a connection that is kept open.
//!
//! The forward proxy of the environment is not used: it leads to API servers.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression as Level;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderValue, USER_AGENT};
use http::{Request, Response};
use http_body_util::{BodyExt, Collected, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::answer::Answer;
use super::destination::{Compression, Destination};
use crate::api_server::{TlsConfigError, UpstreamEndpoint, UpstreamError, UpstreamTls, dial};
use crate::error_chain;

/// Largest body of an answer that is read, in bytes.
const MAX_ANSWER: usize = 64 * 1024;

/// How long the body of an answer may take after its head. It is small, and usually comes with the head.
const BODY_LIMIT: Duration = Duration::from_secs(1);

/// The port at which most collectors speak gRPC, which fails in a way that is hard to recognise.
const GRPC_PORT: u16 = 4317;

/// A client of one collector.
pub(super) struct Collector {
    destination: Destination,
    tls: Option<UpstreamTls>,
    open: Option<Connection>,
}

/// An open connection. When it is dropped, its task ends and its socket is closed, whatever the peer does.
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    task: JoinHandle<()>,
}

/// No answer came; the reason in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unreachable(pub(super) String);

impl Collector {
    /// Prepares a client; connects when there is something to send.
    pub(super) fn new(destination: Destination) -> io::Result<Self> {
        let Destination { endpoint, trust, trust_variable, .. } = &destination;
        let failed = |error: TlsConfigError| {
            io::Error::other(match error {
                TlsConfigError::NoNativeRoots => {
                    format!("the system's trust store is empty or unreadable; name a file of certificates in {trust_variable}")
                }
                TlsConfigError::NoRoots | TlsConfigError::Pem { .. } => {
                    format!("the file of {trust_variable} has no usable certificate")
                }
                TlsConfigError::ServerName { .. } => "the host of its URL is no valid server name".to_owned(),
                other @ (TlsConfigError::ClientCertificate { .. }
                | TlsConfigError::ClientKey { .. }
                | TlsConfigError::KeyOfAnotherCertificate
                | TlsConfigError::Authority(_)
                | TlsConfigError::Library(_)) => other.to_string(),
            })
        };
        let tls = endpoint.is_https.then(|| UpstreamTls::new(trust, &endpoint.host, None)).transpose().map_err(failed)?;
        Ok(Self { destination, tls, open: None })
    }

    /// Sends a request with this body. The time limit is that of the connection and of the head of the answer.
    pub(super) async fn post(&mut self, body: Vec<u8>) -> Result<Answer, Unreachable> {
        let limit = self.destination.time_limit;
        let responded = timeout(limit, self.respond(body)).await;
        let responded = responded.unwrap_or_else(|_elapsed| Err(format!("no answer within {}", humantime::format_duration(limit))));
        match responded {
            Ok((connection, response)) => Ok(self.answer(connection, response).await),
            Err(why) => Err(Unreachable(if self.destination.endpoint.port == GRPC_PORT { with_hint(&why) } else { why })),
        }
    }

    /// A text of the collector, without the credentials that it may quote.
    pub(super) fn redact(&self, text: &str) -> String {
        self.destination.headers.redact(text)
    }

    async fn respond(&mut self, body: Vec<u8>) -> Result<(Connection, Response<Incoming>), String> {
        let request = self.request(body)?;
        let mut connection = match self.still_open().await {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let response = connection.sender.send_request(request).await.map_err(|error| error_chain::in_words(&error))?;
        Ok((connection, response))
    }

    /// Reads the body. The status alone decides, so a body that is too long, breaks off or stalls counts as empty; then the
    /// connection is not used again.
    async fn answer(&mut self, connection: Connection, response: Response<Incoming>) -> Answer {
        let (head, body) = response.map(|body| Limited::new(body, MAX_ANSWER)).into_parts();
        let body = timeout(BODY_LIMIT, body.collect()).await.ok().and_then(Result::ok);
        if body.is_some() {
            self.open = Some(connection);
        }
        let body = body.map(Collected::to_bytes).unwrap_or_default();
        Answer::of(head.status, &head.headers, &body)
    }

    async fn still_open(&mut self) -> Option<Connection> {
        let mut connection = self.open.take()?;
        connection.sender.ready().await.is_ok().then_some(connection)
    }

    fn request(&self, body: Vec<u8>) -> Result<Request<Full<Bytes>>, String> {
        let Destination { endpoint, headers, compression, .. } = &self.destination;
        let body = match compression {
            Compression::None => body,
            Compression::Gzip => gzip(&body).map_err(|error| error.to_string())?,
        };
        let mut request = Request::post(&endpoint.path).body(Full::new(body.into())).map_err(|error| error.to_string())?;
        let fields = request.headers_mut();
        fields.extend(headers.fields());
        let host = HeaderValue::try_from(endpoint.authority()).map_err(|error| error.to_string())?;
        fields.insert(HOST, host);
        fields.insert(USER_AGENT, HeaderValue::from_static(concat!("watchtap/", env!("CARGO_PKG_VERSION"))));
        fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        if *compression == Compression::Gzip {
            fields.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        Ok(request)
    }

    async fn connect(&self) -> Result<Connection, String> {
        let endpoint = &self.destination.endpoint;
        let address = UpstreamEndpoint { host: endpoint.host.clone(), port: endpoint.port };
        // The rest of the limit is for the handshake and the answer.
        let limit = self.destination.time_limit / 2;
        let tcp = dial(&address, &address.to_string(), limit).await.map_err(|error| in_words(error, limit))?;
        match &self.tls {
            None => open(tcp).await,
            Some(tls) => {
                let connector = TlsConnector::from(Arc::clone(&tls.client_config()));
                let stream = connector.connect(tls.server_name(), tcp).await;
                let variable = &self.destination.trust_variable;
                open(stream.map_err(|error| format!("TLS: {error}; check {variable} and the scheme of the URL"))?).await
            }
        }
    }
}

async fn open(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Connection, String> {
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(|error| error_chain::in_words(&error))?;
    // Errors of the connection appear where the answer is read.
    let task = tokio::spawn(async move { drop(connection.await) });
    Ok(Connection { sender, task })
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Without its sender, the task would still wait for a peer that takes no bytes.
        self.task.abort();
    }
}

/// Why there is no connection. The error's own words are about kubeconfigs.
fn in_words(error: UpstreamError, limit: Duration) -> String {
    match error {
        UpstreamError::Refused { .. } => "connection refused".to_owned(),
        UpstreamError::TimedOut { .. } => format!("no connection within {}", humantime::format_duration(limit)),
        UpstreamError::Unresolved { detail, .. } => format!("cannot resolve its name: {detail}"),
        UpstreamError::Unreachable { detail, .. } => detail,
        UpstreamError::NoDescriptor { detail, .. } => format!("no file descriptor: {detail}"),
        UpstreamError::Closed { .. } => "connection closed".to_owned(),
        other @ (UpstreamError::Certificate { .. }
        | UpstreamError::CertificateTime { .. }
        | UpstreamError::Tls { .. }
        | UpstreamError::ForwardProxy { .. }) => other.to_string(),
    }
}

fn gzip(body: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::fast());
    encoder.write_all(body)?;
    encoder.finish()
}

fn with_hint(why: &str) -> String {
    format!("{why} (port {GRPC_PORT} is usually that of gRPC; OTLP over HTTP has 4318)")
}
