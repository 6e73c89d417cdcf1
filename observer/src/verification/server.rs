//! Sends the requests of a verification to the API server, over one connection at a time.

use std::pin::Pin;
use std::time::Duration;

use http_body_util::{BodyExt, Collected, Limited};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use hyper::{Method, StatusCode};
use observer_core::k8s::Resource;
use observer_core::metrics::Sample;
use observer_core::verification::{MetricsPage, ObservedAnswer};
use observer_core::wire::{BodyKind, BodyReader};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::failure::VerifyError;
use crate::api_server::request::{Conversation, QuestionError};

/// Time limit of one answer. A server may wait three seconds for a revision, and long lists take time.
const ANSWERED_WITHIN: Duration = Duration::from_mins(1);
/// Maximum size of a discovery document, in bytes.
const MAX_DISCOVERY: usize = 4 * 1024 * 1024;

/// Opens a connection with the user's credentials.
pub type Connect = Box<dyn Fn() -> Pin<Box<dyn Future<Output = anyhow::Result<Conversation>> + Send>> + Send>;

/// An API server, with the number of requests sent to it.
pub struct Server {
    connect: Connect,
    conversation: Option<Conversation>,
    connections: u32,
    requests: u32,
    most_requests: u32,
}

/// An answer, and its audit ID.
pub(super) struct Answered {
    pub(super) answer: ObservedAnswer,
    pub(super) audit_id: Option<String>,
}

impl Server {
    /// A server that is not connected yet.
    pub fn new(connect: Connect) -> Self {
        Self { connect, conversation: None, connections: 0, requests: 0, most_requests: u32::MAX }
    }

    /// Sets the maximum number of requests from now on.
    pub(super) fn allow(&mut self, most_requests: u32) {
        self.most_requests = self.requests.saturating_add(most_requests);
    }

    /// Requests sent so far.
    pub(super) fn requests(&self) -> u32 {
        self.requests
    }

    /// The number of the last request's connection. The same server answers all requests on one connection.
    pub(super) fn connection(&self) -> u32 {
        self.connections
    }

    /// The version that the server reports.
    pub(super) async fn version(&mut self) -> Result<String, VerifyError> {
        Ok(self.asked(async |conversation: &mut Conversation| conversation.version().await).await??)
    }

    /// Reads a metrics page, and passes every sample to `also`. If the page has to be requested again, `also` gets the samples of
    /// both pages.
    pub(super) async fn page(
        &mut self,
        resources: &[Resource],
        also: &mut (dyn FnMut(&Sample<'_>) + Send),
    ) -> Result<MetricsPage, VerifyError> {
        let read = self.asked(async |conversation: &mut Conversation| {
            let mut page = MetricsPage::of(resources);
            let mut each = |sample: &Sample<'_>| {
                page.note(sample);
                also(sample);
            };
            conversation.metrics(&mut each).await?;
            Ok(page)
        });
        read.await?.map_err(|error| match error {
            QuestionError::Status { status: StatusCode::UNAUTHORIZED, .. } => VerifyError::Unauthenticated,
            QuestionError::Status { status: StatusCode::FORBIDDEN, .. } => VerifyError::NoMetrics,
            error @ (QuestionError::Connect(_)
            | QuestionError::Status { .. }
            | QuestionError::Http { .. }
            | QuestionError::TooLong { .. }
            | QuestionError::NotAVersion
            | QuestionError::Unspeakable
            | QuestionError::TimedOut) => error.into(),
        })
    }

    /// Sends a GET for a path and query, and reads the answer.
    pub(super) async fn ask(&mut self, request: &str, kind: BodyKind) -> Result<Answered, VerifyError> {
        Ok(self.asked(async |conversation: &mut Conversation| ask(conversation, request, kind).await).await??)
    }

    /// Reads a discovery document; `None` if there is none.
    pub(super) async fn discover<D: DeserializeOwned>(&mut self, path: &str) -> Result<Option<D>, VerifyError> {
        Ok(self.asked(async |conversation: &mut Conversation| discover(conversation, path).await).await??)
    }

    /// Sends a request on the current connection. A connection that was used before may have been closed between two requests; then
    /// the request is repeated on a new one. After a failure, the rest of an answer may still arrive, so that connection is closed.
    async fn asked<T>(
        &mut self,
        mut ask: impl AsyncFnMut(&mut Conversation) -> Result<T, QuestionError>,
    ) -> Result<Result<T, QuestionError>, VerifyError> {
        loop {
            let is_kept = self.conversation.is_some();
            let asked = timeout(ANSWERED_WITHIN, ask(self.conversation().await?)).await;
            let asked = asked.unwrap_or(Err(QuestionError::TimedOut));
            if asked.is_err() {
                self.conversation = None;
            }
            if !is_kept || !matches!(asked, Err(QuestionError::Http { .. })) {
                return Ok(asked);
            }
        }
    }

    /// A connection for one request: the current one, or a new one if there is none or it has ended.
    async fn conversation(&mut self) -> Result<&mut Conversation, VerifyError> {
        if self.requests >= self.most_requests {
            return Err(VerifyError::TooManyRequests { limit: self.most_requests });
        }
        self.requests += 1;
        if let Some(mut conversation) = self.conversation.take()
            && conversation.is_open().await
        {
            return Ok(self.conversation.insert(conversation));
        }
        self.connections += 1;
        let conversation = (self.connect)().await.map_err(VerifyError::Connect)?;
        Ok(self.conversation.insert(conversation))
    }
}

async fn discover<D: DeserializeOwned>(conversation: &mut Conversation, path: &str) -> Result<Option<D>, QuestionError> {
    let response = conversation.get(path, "application/json").await?;
    let is_there = response.status().is_success();
    let body = Limited::new(response.into_body(), MAX_DISCOVERY).collect().await;
    let bytes = body.map(Collected::to_bytes).unwrap_or_default();
    Ok(if is_there { serde_json::from_slice(&bytes).ok() } else { None })
}

async fn ask(conversation: &mut Conversation, request: &str, kind: BodyKind) -> Result<Answered, QuestionError> {
    let mut response = conversation.get(request, "application/json").await?;
    let status = response.status();
    let mut answer = ObservedAnswer::of_status(status.as_u16());
    let kind = if status.is_success() { kind } else { BodyKind::Document };
    let headers = response.headers();
    let audit_id = text(headers, "audit-id");
    let content_type = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let encoding = text(headers, CONTENT_ENCODING.as_str()).unwrap_or_default();
    // A refusal by API priority and fairness is plain text.
    let mut reader = BodyReader::new(kind, &content_type, &encoding).ok();
    while let Some(frame) = response.body_mut().frame().await {
        let frame = frame.map_err(|error| QuestionError::Http { method: Method::GET, path: request.to_owned(), error })?;
        if let (Some(bytes), Some(reader)) = (frame.data_ref(), &mut reader) {
            reader.push(bytes, &mut |fact| answer.note(&fact));
        }
    }
    if let Some(mut reader) = reader {
        reader.finish(&mut |fact| answer.note(&fact));
    }
    Ok(Answered { answer, audit_id })
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}
