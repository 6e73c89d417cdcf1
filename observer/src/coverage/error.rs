//! Why the pods of a cluster could not be read.

use hyper::StatusCode;

use crate::api_server::request::QuestionError;

/// Why a list failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CoverageError {
    /// No connection, one that broke, or an answer that is too long.
    #[error(transparent)]
    Connection(#[from] QuestionError),
    /// The API server answered with an error. The text is the message in its answer, or empty.
    #[error("the API server answered {status}{}", with_colon(.message))]
    Status { status: StatusCode, message: String },
    /// The answer is no such list.
    #[error("the answer is not a list of the API server: {0}")]
    NotAList(serde_json::Error),
    /// No complete answer within the time limit.
    #[error("no complete answer within {0} s")]
    TimedOut(u64),
}

fn with_colon(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}
