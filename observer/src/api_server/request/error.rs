//! Why one of watchtap's own requests to an API server failed.

use hyper::{Method, StatusCode};

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
    #[error("{method} {path} failed: {error}")]
    Http {
        /// The method of the request.
        method: Method,
        /// The path of the request.
        path: String,
        /// The error of the HTTP client.
        error: hyper::Error,
    },
    /// The answer has a larger body than any of its kind.
    #[error("the answer to {method} {path} is larger than {most} bytes")]
    TooLong {
        /// The method of the request.
        method: Method,
        /// The path of the request.
        path: String,
        /// The bound in bytes.
        most: usize,
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
