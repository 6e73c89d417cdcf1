//! The server that is asked, over one connection at a time.

use std::pin::Pin;
use std::time::Duration;

use http_body_util::{BodyExt, Collected, Limited};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use observer_core::k8s::Resource;
use observer_core::metrics::Sample;
use observer_core::verification::{Answer, MetricsPage};
use observer_core::wire::{BodyKind, BodyReader};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::failure::VerifyError;
use crate::question::{Conversation, QuestionError};

/// How long one answer may take. A server waits three seconds for a revision; long lists take long.
const ANSWERED_WITHIN: Duration = Duration::from_mins(1);
/// Longest discovery document that is read, in bytes.
const MAX_DISCOVERY: usize = 4 * 1024 * 1024;

/// Opens a connection with the user's credentials.
pub type Connect = Box<dyn Fn() -> Pin<Box<dyn Future<Output = anyhow::Result<Conversation>> + Send>> + Send>;

/// An API server, and how many requests it got.
pub struct Server {
    connect: Connect,
    conversation: Option<Conversation>,
    requests: u32,
}

/// An answer, and the name under which the audit log has it.
pub(super) struct Answered {
    pub(super) answer: Answer,
    pub(super) audit_id: Option<String>,
}

impl Server {
    /// A server that is not connected yet.
    pub fn new(connect: Connect) -> Self {
        Self { connect, conversation: None, requests: 0 }
    }

    /// Requests so far.
    pub(super) fn requests(&self) -> u32 {
        self.requests
    }

    /// What the server says its version is.
    pub(super) async fn version(&mut self) -> Result<String, VerifyError> {
        self.requests += 1;
        let version = self.conversation().await?.version().await;
        self.keep(version)
    }

    /// A page of metrics. `also` hears every sample.
    pub(super) async fn page(
        &mut self,
        resources: &[Resource],
        also: &mut (dyn FnMut(&Sample<'_>) + Send),
    ) -> Result<MetricsPage, VerifyError> {
        self.requests += 1;
        let mut page = MetricsPage::of(resources);
        let mut told = |sample: &Sample<'_>| {
            page.note(sample);
            also(sample);
        };
        let conversation = self.conversation().await?;
        let read = timeout(ANSWERED_WITHIN, conversation.metrics(&mut told)).await.unwrap_or(Err(QuestionError::TimedOut));
        match self.keep(read) {
            Err(VerifyError::Question(QuestionError::Status { status, .. })) if matches!(status.as_u16(), 401 | 403) => {
                Err(VerifyError::NoMetrics { status: status.as_u16() })
            }
            read => read.map(|()| page),
        }
    }

    /// The answer to a GET of path and query.
    pub(super) async fn ask(&mut self, request: &str, kind: BodyKind) -> Result<Answered, VerifyError> {
        self.requests += 1;
        let conversation = self.conversation().await?;
        let asked = timeout(ANSWERED_WITHIN, ask(conversation, request, kind)).await;
        let asked = asked.unwrap_or(Err(QuestionError::TimedOut));
        self.keep(asked)
    }

    /// A document of discovery; `None` where there is none.
    pub(super) async fn discover<D: DeserializeOwned>(&mut self, path: &str) -> Result<Option<D>, VerifyError> {
        self.requests += 1;
        let conversation = self.conversation().await?;
        let asked = async {
            let response = conversation.get(path, "application/json").await?;
            let is_there = response.status().is_success();
            let body = Limited::new(response.into_body(), MAX_DISCOVERY).collect().await;
            let bytes = body.map(Collected::to_bytes).unwrap_or_default();
            Ok(if is_there { serde_json::from_slice(&bytes).ok() } else { None })
        };
        let asked = timeout(ANSWERED_WITHIN, asked).await.unwrap_or(Err(QuestionError::TimedOut));
        self.keep(asked)
    }

    /// The present connection, or a new one.
    async fn conversation(&mut self) -> Result<&mut Conversation, VerifyError> {
        let conversation = match self.conversation.take() {
            Some(conversation) => conversation,
            None => (self.connect)().await.map_err(VerifyError::Connect)?,
        };
        Ok(self.conversation.insert(conversation))
    }

    /// After a failure, what is left of an answer may still be under way, so that connection is given up.
    fn keep<T>(&mut self, asked: Result<T, QuestionError>) -> Result<T, VerifyError> {
        if asked.is_err() {
            self.conversation = None;
        }
        Ok(asked?)
    }
}

async fn ask(conversation: &mut Conversation, request: &str, kind: BodyKind) -> Result<Answered, QuestionError> {
    let mut response = conversation.get(request, "application/json").await?;
    let status = response.status();
    let mut answer = Answer::of_status(status.as_u16());
    let kind = if status.is_success() { kind } else { BodyKind::Document };
    let headers = response.headers();
    let audit_id = text(headers, "audit-id");
    let content_type = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let encoding = text(headers, CONTENT_ENCODING.as_str()).unwrap_or_default();
    // A refusal by priority and fairness is plain text.
    let mut reader = BodyReader::new(kind, &content_type, &encoding).ok();
    while let Some(frame) = response.body_mut().frame().await {
        let frame = frame.map_err(|error| QuestionError::Http { path: request.to_owned(), error })?;
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
