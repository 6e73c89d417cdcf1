//! One connection from watchtap to an API server, for any number of requests in sequence.

use std::fmt;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use observer_core::metrics::{MetricsReader, Sample};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;

use super::error::QuestionError;

const JSON: &str = "application/json";
/// Maximum size of a version document in bytes; a real one has about 300.
const MAX_DOCUMENT: usize = 64 * 1024;

/// A connection, and the header fields of every request on it. Read the body of an answer before the next request.
pub struct Conversation {
    sender: SendRequest<Full<Bytes>>,
    connection: JoinHandle<()>,
    path_prefix: String,
    fields: HeaderMap,
}

/// An answer that was read to its end. Its body may be secret, so `Debug` shows only its length.
pub struct Answer {
    /// Its status; any is an answer.
    pub status: StatusCode,
    /// The header fields.
    pub headers: HeaderMap,
    /// The body, within the bound that the caller gave.
    pub body: Bytes,
}

impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &mut formatter.debug_struct("Answer");
        shown.field("status", &self.status).field("body", &self.body.len()).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    git_version: String,
}

impl Conversation {
    pub(super) async fn open(
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        path_prefix: &str,
        fields: HeaderMap,
    ) -> Result<Self, QuestionError> {
        let opened = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) =
            opened.map_err(|error| QuestionError::Http { method: Method::GET, path: "/".to_owned(), error })?;
        // Errors of the connection appear where the answer is read.
        let connection = tokio::spawn(async move { drop(connection.await) });
        Ok(Self { sender, connection, path_prefix: path_prefix.trim_end_matches('/').to_owned(), fields })
    }

    /// Whether the other side still has the connection open.
    pub async fn is_open(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    /// Sends a GET for a path and query of the API server, after the path prefix. Any status is an answer.
    pub async fn get(&mut self, path: &str, accept: &'static str) -> Result<Response<Incoming>, QuestionError> {
        self.send(Method::GET, path, accept, Full::default(), None).await
    }

    /// Sends a GET, and reads the answer. A body of more than `most` bytes is an error.
    pub async fn read(&mut self, path: &str, most: usize) -> Result<Answer, QuestionError> {
        let response = self.get(path, JSON).await?;
        complete(Method::GET, path, response, most).await
    }

    /// Sends a PATCH of this media type, and reads the answer. A body of more than `most` bytes is an error.
    pub async fn patch(
        &mut self,
        path: &str,
        media_type: &'static str,
        document: Bytes,
        most: usize,
    ) -> Result<Answer, QuestionError> {
        let response = self.send(Method::PATCH, path, JSON, Full::new(document), Some(media_type)).await?;
        complete(Method::PATCH, path, response, most).await
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        accept: &'static str,
        body: Full<Bytes>,
        media_type: Option<&'static str>,
    ) -> Result<Response<Incoming>, QuestionError> {
        let request = Request::builder().method(method.clone()).uri(format!("{}{path}", self.path_prefix)).body(body);
        let mut request = request.or(Err(QuestionError::Unspeakable))?;
        request.headers_mut().extend(self.fields.clone());
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accept));
        if let Some(media_type) = media_type {
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
        }
        let failed = |error| QuestionError::Http { method: method.clone(), path: path.to_owned(), error };
        self.sender.ready().await.map_err(failed)?;
        self.sender.send_request(request).await.map_err(failed)
    }

    /// The `gitVersion` in `/version`.
    pub async fn version(&mut self) -> Result<String, QuestionError> {
        let mut response = success("/version", self.get("/version", JSON).await?)?;
        let body = Limited::new(response.body_mut(), MAX_DOCUMENT).collect().await;
        let body = body.or(Err(QuestionError::NotAVersion))?.to_bytes();
        let version: Version = serde_json::from_slice(&body).or(Err(QuestionError::NotAVersion))?;
        Ok(version.git_version)
    }

    /// Reads `/metrics`, of any length, and calls `each` with every sample.
    pub async fn metrics(&mut self, each: &mut (dyn FnMut(&Sample<'_>) + Send)) -> Result<(), QuestionError> {
        let mut response = success("/metrics", self.get("/metrics", "text/plain").await?)?;
        let mut reader = MetricsReader::default();
        while let Some(frame) = response.body_mut().frame().await {
            let frame = frame.map_err(|error| QuestionError::Http { method: Method::GET, path: "/metrics".to_owned(), error })?;
            if let Some(bytes) = frame.data_ref() {
                reader.push(bytes, each);
            }
        }
        reader.finish(each);
        Ok(())
    }
}

async fn complete(method: Method, path: &str, response: Response<Incoming>, most: usize) -> Result<Answer, QuestionError> {
    let (head, body) = response.into_parts();
    let read = Limited::new(body, most).collect().await;
    let path = path.to_owned();
    let body = match read {
        Ok(body) => body.to_bytes(),
        Err(error) => {
            return Err(match error.downcast::<hyper::Error>() {
                Ok(error) => QuestionError::Http { method, path, error: *error },
                Err(_too_long) => QuestionError::TooLong { method, path, most },
            });
        }
    };
    Ok(Answer { status: head.status, headers: head.headers, body })
}

fn success(path: &str, response: Response<Incoming>) -> Result<Response<Incoming>, QuestionError> {
    let status = response.status();
    if status.is_success() { Ok(response) } else { Err(QuestionError::Status { path: path.to_owned(), status }) }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        self.connection.abort();
    }
}
