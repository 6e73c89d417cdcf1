//! One connection from watchtap to an API server, for any number of requests in sequence.

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{ACCEPT, HeaderMap, HeaderValue};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use observer_core::metrics::{MetricsReader, Sample};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinHandle;

use super::error::QuestionError;

/// Maximum size of a version document in bytes; a real one has about 300.
const MAX_DOCUMENT: usize = 64 * 1024;

/// A connection, and the header fields of every request on it. Read the body of an answer before the next request.
pub struct Conversation {
    sender: SendRequest<Empty<Bytes>>,
    connection: JoinHandle<()>,
    path_prefix: String,
    fields: HeaderMap,
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
        let (sender, connection) = opened.map_err(|error| QuestionError::Http { path: "/".to_owned(), error })?;
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
        let mut request =
            Request::get(format!("{}{path}", self.path_prefix)).body(Empty::new()).or(Err(QuestionError::Unspeakable))?;
        request.headers_mut().extend(self.fields.clone());
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accept));
        let failed = |error| QuestionError::Http { path: path.to_owned(), error };
        self.sender.ready().await.map_err(failed)?;
        self.sender.send_request(request).await.map_err(failed)
    }

    /// The `gitVersion` in `/version`.
    pub async fn version(&mut self) -> Result<String, QuestionError> {
        let mut response = success("/version", self.get("/version", "application/json").await?)?;
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
            let frame = frame.map_err(|error| QuestionError::Http { path: "/metrics".to_owned(), error })?;
            if let Some(bytes) = frame.data_ref() {
                reader.push(bytes, each);
            }
        }
        reader.finish(each);
        Ok(())
    }
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
