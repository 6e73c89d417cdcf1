//! Why the EndpointSlice could not be read.

use hyper::StatusCode;

use crate::api_server::request::QuestionError;

/// Why the EndpointSlice could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SliceError {
    /// The API server knows no such user, or the user may not read it.
    #[error("the API server answered {0}; grant its service account get on endpointslices.discovery.k8s.io named kubernetes")]
    Denied(StatusCode),
    /// There is none.
    #[error("the API server has none (404)")]
    NotFound,
    /// The answer is another error.
    #[error("the API server answered {0}")]
    Status(StatusCode),
    /// The answer is something else.
    #[error("the answer is not an EndpointSlice")]
    NotASlice,
    /// No connection, or no answer.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// The pod has no credential, or one that cannot be used.
    #[error("{0}")]
    NoCredential(String),
}

impl SliceError {
    /// Whether the API server answered in a way that does not change by itself.
    pub(crate) const fn is_refusal(&self) -> bool {
        match self {
            Self::Denied(_) | Self::NotFound | Self::NotASlice | Self::NoCredential(_) => true,
            Self::Status(_) | Self::Question(_) => false,
        }
    }
}
