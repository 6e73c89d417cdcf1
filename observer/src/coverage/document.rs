//! Reads one list over a connection, with a limit for its size and its time.

use std::time::Duration;

use hyper::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::error::CoverageError;
use crate::api_server::request::Conversation;

/// Time limit of one answer.
const ANSWERED_WITHIN: Duration = Duration::from_mins(1);

/// Maximum size of a list in bytes. A pod with a sidecar has some 12 kB.
const MAXIMUM: usize = 256 << 20;

/// Maximum size in bytes of an error document whose message is shown.
const MAXIMUM_ERROR: usize = 64 << 10;

/// A list of objects of one kind. The kind is required, so that another document is not taken for an empty list.
#[derive(Deserialize)]
pub(super) struct List<T> {
    #[serde(rename = "kind")]
    _kind: String,
    pub(super) items: Option<Vec<T>>,
}

/// The part of a `Status` that is for people.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    message: String,
}

/// The list at this path. A read on this connection may be followed by another one.
pub(super) async fn list<T: DeserializeOwned>(conversation: &mut Conversation, path: &str) -> Result<List<T>, CoverageError> {
    let read = timeout(ANSWERED_WITHIN, conversation.read(path, MAXIMUM)).await;
    let answer = read.or(Err(CoverageError::TimedOut(ANSWERED_WITHIN.as_secs())))??;
    if !answer.status.is_success() {
        return Err(CoverageError::Status { status: answer.status, message: message(&answer.body) });
    }
    serde_json::from_slice(&answer.body).map_err(CoverageError::NotAList)
}

/// The message of an answer with an error; empty if it has none.
fn message(body: &[u8]) -> String {
    if body.len() > MAXIMUM_ERROR {
        return String::new();
    }
    serde_json::from_slice::<Status>(body).unwrap_or_default().message
}

impl CoverageError {
    /// Whether the API server does not know this kind of object.
    pub(super) fn is_unknown_kind(&self) -> bool {
        matches!(self, Self::Status { status: StatusCode::NOT_FOUND, .. })
    }
}
