//! Sends `GET /version` and `GET /metrics` over a TLS connection that is already open.

use std::time::Duration;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderValue, USER_AGENT};
use observer_core::routing::FromMetrics;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::conversation::Conversation;
use super::error::QuestionError;

/// Time limit for connecting, and then for the request.
pub const LIMIT: Duration = Duration::from_secs(5);

/// The parameters of a request to an API server.
#[derive(Clone, Copy)]
pub struct Question<'q> {
    /// The value of the `Host` field.
    pub host: &'q str,
    /// The path in front of the API server's own paths; may be empty.
    pub path_prefix: &'q str,
    /// A bearer token.
    pub token: Option<&'q str>,
}

impl Question<'_> {
    /// Requests `gitVersion` of `/version` over `stream`, a TLS connection with HTTP/1.1.
    pub async fn version(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<String, QuestionError> {
        let asked = async { self.open(stream).await?.version().await };
        timeout(LIMIT, asked).await.unwrap_or(Err(QuestionError::TimedOut))
    }

    /// Requests `/metrics` over such a stream, and returns the facts about the server's configuration on that page. The page may
    /// have any length.
    pub async fn metrics(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Result<FromMetrics, QuestionError> {
        let mut found = FromMetrics::default();
        let asked = async { self.open(stream).await?.metrics(&mut |sample| found.note(sample)).await };
        timeout(LIMIT, asked).await.unwrap_or(Err(QuestionError::TimedOut))?;
        Ok(found)
    }

    /// Begins a conversation over `stream`, for any number of requests, one after the other.
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
