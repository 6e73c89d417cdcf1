//! Why a patch is refused: the contents of the client's `Status`.

/// A refusal, with the fields of a `Status` object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {message}")]
pub struct Error {
    /// The HTTP status and the `code`.
    pub status: u16,
    /// The `reason`; empty if the API server gives none, as with most of its 500 answers.
    pub reason: &'static str,
    /// Explains the refusal; sent to the client.
    pub message: String,
}

impl Error {
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self { status: 400, reason: "BadRequest", message: message.into() }
    }

    pub(super) fn too_large(message: impl AsRef<str>) -> Self {
        Self { status: 413, reason: "RequestEntityTooLarge", message: format!("Request entity too large: {}", message.as_ref()) }
    }

    pub(super) fn unsupported_media_type(message: impl Into<String>) -> Self {
        Self { status: 415, reason: "UnsupportedMediaType", message: message.into() }
    }

    pub(super) fn unprocessable(message: impl Into<String>) -> Self {
        Self { status: 422, reason: "Invalid", message: message.into() }
    }

    /// A 500, for faults of a strategic merge patch that the API server does not report as the client's error.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self { status: 500, reason: "", message: message.into() }
    }
}
