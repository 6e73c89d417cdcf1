//! Why one of watchtap's own requests to an API server failed.

use hyper::StatusCode;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum QuestionError {
    /// The connection failed.
    #[error("could not connect: {0}")]
    Connect(String),
    /// The answer's status is not a success.
    #[error("the API server answered {path} with {status}")]
    Status {
        /// The path of the request.
        path: String,
        /// The status, as received; never a success.
        status: StatusCode,
    },
    /// The answer is not HTTP, or was interrupted.
    #[error("GET {path} failed: {error}")]
    Http {
        /// The path of the request.
        path: String,
        /// The error of the HTTP client.
        error: hyper::Error,
    },
    /// The answer to `/version` is not a version document.
    #[error("the answer to /version is not a version document")]
    NotAVersion,
    /// The host or the credential contains characters that HTTP does not allow.
    #[error("the server's name or the token has characters that HTTP does not allow")]
    Unspeakable,
    /// The answer did not arrive within [`LIMIT`](super::LIMIT).
    #[error("the API server did not answer in time")]
    TimedOut,
}
