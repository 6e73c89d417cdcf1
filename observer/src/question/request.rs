//! Asking an API server about itself.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, HOST, HeaderValue, USER_AGENT};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use observer_core::metrics::MetricsReader;
use observer_core::routing::FromMetrics;
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longest version document that is read, in bytes; a real one has some 300.
const MAX_DOCUMENT: usize = 64 * 1024;

/// How long connecting may take, and then asking.
pub const LIMIT: Duration = Duration::from_secs(5);

/// Why something is not known.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// No connection.
    #[error("could not connect: {0}")]
    Connect(String),
    /// The server does not let us read it.
    #[error("the API server answered {path} with {status}")]
    Status {
        /// What was asked for.
        path: &'static str,
        /// The answer.
        status: StatusCode,
    },
    /// Not HTTP, or broken off.
    #[error("asking for {path} failed: {error}")]
    Http {
        /// What was asked for.
        path: &'static str,
        /// What went wrong.
        error: hyper::Error,
    },
    /// Not a version document.
    #[error("the answer to /version is not a version document")]
    NotAVersion,
    /// Host or credential cannot stand in a request.
    #[error("the server's name or the token has characters that HTTP does not allow")]
    Unspeakable,
    /// Nothing came in time.
    #[error("no answer in time")]
    TimedOut,
}

/// How an API server is asked.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// What goes into the `Host` field.
    pub host: &'q str,
    /// What stands in front of the API server's own paths, or nothing.
    pub path_prefix: &'q str,
    /// A bearer token.
    pub token: Option<&'q str>,
}

/// An answer whose body is to be read, and what reads from the connection meanwhile.
struct Answer {
    response: Response<Incoming>,
    connection: JoinHandle<()>,
    _sender: SendRequest<Empty<Bytes>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

impl Question<'_> {
    /// Asks over `stream`, a TLS connection on which HTTP/1.1 is spoken, for `gitVersion` of `/version`.
    pub async fn version(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<String, QuestionError> {
        let asked = async {
            let mut answer = self.get(stream, "/version").await?;
            let body = Limited::new(answer.response.body_mut(), MAX_DOCUMENT).collect().await;
            let body = body.or(Err(QuestionError::NotAVersion))?.to_bytes();
            let version: Version = serde_json::from_slice(&body).or(Err(QuestionError::NotAVersion))?;
            Ok(version.git_version)
        };
        timeout(LIMIT, asked).await.unwrap_or(Err(QuestionError::TimedOut))
    }

    /// Asks likewise for `/metrics`, and returns what the page says of the server's configuration. It may be of any length.
    pub async fn metrics(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<FromMetrics, QuestionError> {
        let asked = async {
            let mut answer = self.get(stream, "/metrics").await?;
            let mut found = FromMetrics::default();
            let mut reader = MetricsReader::default();
            while let Some(frame) = answer.response.body_mut().frame().await {
                let frame = frame.map_err(|error| QuestionError::Http { path: "/metrics", error })?;
                if let Some(bytes) = frame.data_ref() {
                    reader.push(bytes, &mut |sample| found.note(sample));
                }
            }
            reader.finish(&mut |sample| found.note(sample));
            Ok(found)
        };
        timeout(LIMIT, asked).await.unwrap_or(Err(QuestionError::TimedOut))
    }

    async fn get(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        path: &'static str,
    ) -> Result<Answer, QuestionError> {
        let request = self.request(path).ok_or(QuestionError::Unspeakable)?;
        let failed = |error| QuestionError::Http { path, error };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
        // What goes wrong on the connection is told where its answer is read.
        let connection = tokio::spawn(async move { drop(connection.await) });
        let response = sender.send_request(request).await.map_err(failed)?;
        let status = response.status();
        let answer = Answer { response, connection, _sender: sender };
        if status.is_success() { Ok(answer) } else { Err(QuestionError::Status { path, status }) }
    }

    /// `None` when host or token cannot stand in a header field.
    fn request(self, path: &str) -> Option<Request<Empty<Bytes>>> {
        let path = format!("{}{path}", self.path_prefix.trim_end_matches('/'));
        let agent = concat!("watchtap/", env!("CARGO_PKG_VERSION"));
        let mut request = Request::get(path).header(HOST, self.host).header(USER_AGENT, agent);
        if let Some(token) = self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
            value.set_sensitive(true);
            request = request.header(AUTHORIZATION, value);
        }
        request.body(Empty::new()).ok()
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
