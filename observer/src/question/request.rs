//! Asking an API server about itself.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue, USER_AGENT};
use observer_core::routing::FromMetrics;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::conversation::Conversation;

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
        path: String,
        /// The answer.
        status: StatusCode,
    },
    /// Not HTTP, or broken off.
    #[error("asking for {path} failed: {error}")]
    Http {
        /// What was asked for.
        path: String,
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

impl Question<'_> {
    /// Asks over `stream`, a TLS connection on which HTTP/1.1 is spoken, for `gitVersion` of `/version`.
    pub async fn version(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<String, QuestionError> {
        let asked = async { self.open(stream).await?.version().await };
        timeout(LIMIT, asked).await.unwrap_or(Err(QuestionError::TimedOut))
    }

    /// Asks likewise for `/metrics`, and returns what the page says of the server's configuration. It may be of any length.
    pub async fn metrics(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<FromMetrics, QuestionError> {
        let mut found = FromMetrics::default();
        let asked = async { self.open(stream).await?.metrics(&mut |sample| found.note(sample)).await };
        timeout(LIMIT, asked).await.unwrap_or(Err(QuestionError::TimedOut))?;
        Ok(found)
    }

    /// Begins a conversation over `stream`, on which any number of questions can be asked, one after the other.
    pub async fn open(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<Conversation, QuestionError> {
        let mut fields = HeaderMap::new();
        let host = HeaderValue::from_str(self.host).or(Err(QuestionError::Unspeakable))?;
        fields.insert(HOST, host);
        fields.insert(USER_AGENT, HeaderValue::from_static(concat!("watchtap/", env!("CARGO_PKG_VERSION"))));
        if let Some(token) = self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {token}")).or(Err(QuestionError::Unspeakable))?;
            value.set_sensitive(true);
            fields.insert(AUTHORIZATION, value);
        }
        Conversation::open(stream, self.path_prefix, fields).await
    }
}
