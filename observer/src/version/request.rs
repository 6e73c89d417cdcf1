//! Asking for `/version`.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{AUTHORIZATION, HOST, HeaderValue, USER_AGENT};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

/// Longest answer that is read, in bytes; a real one has some 300.
const MAX_ANSWER: usize = 64 * 1024;

/// How long connecting and asking may take.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Why the version is not known.
#[derive(Debug, thiserror::Error)]
pub enum VersionError {
    /// No connection.
    #[error("could not connect: {0}")]
    Connect(String),
    /// The server does not let us read it.
    #[error("the API server answered /version with {0}")]
    Status(StatusCode),
    /// Not HTTP, or broken off.
    #[error("asking for /version failed: {0}")]
    Http(#[from] hyper::Error),
    /// Not a version document.
    #[error("the answer to /version is not a version document")]
    NotAVersion,
    /// Nothing came in time.
    #[error("no answer to /version within {} s", LIMIT.as_secs())]
    TimedOut,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

/// Asks over `stream`, a TLS connection on which HTTP/1.1 is spoken, and returns `gitVersion`. `host` goes into the `Host` field,
/// `path_prefix` in front of the path; `token` is sent as a bearer token when given.
pub async fn ask(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    host: &str,
    path_prefix: &str,
    token: Option<&str>,
) -> Result<String, VersionError> {
    timeout(LIMIT, exchange(stream, host, path_prefix, token)).await.unwrap_or(Err(VersionError::TimedOut))
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    host: &str,
    path_prefix: &str,
    token: Option<&str>,
) -> Result<String, VersionError> {
    let request = request(host, path_prefix, token).ok_or(VersionError::NotAVersion)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let driver = tokio::spawn(connection);
    let answer = sender.send_request(request).await?;
    let status = answer.status();
    let body = Limited::new(answer.into_body(), MAX_ANSWER).collect().await;
    driver.abort();
    if !status.is_success() {
        return Err(VersionError::Status(status));
    }
    let body = body.or(Err(VersionError::NotAVersion))?.to_bytes();
    let version: Version = serde_json::from_slice(&body).or(Err(VersionError::NotAVersion))?;
    Ok(version.git_version)
}

/// `None` when host or token cannot stand in a header field.
fn request(host: &str, path_prefix: &str, token: Option<&str>) -> Option<Request<Empty<Bytes>>> {
    let path = format!("{}/version", path_prefix.trim_end_matches('/'));
    let agent = concat!("watchtap/", env!("CARGO_PKG_VERSION"));
    let mut request = Request::get(path).header(HOST, host).header(USER_AGENT, agent);
    if let Some(token) = token {
        let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    request.body(Empty::new()).ok()
}
