//! Why a patch is refused: what the client's `Status` says.

/// A refusal, with what a `Status` object carries.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{status}: {message}")]
pub struct Error {
    /// The HTTP status and the `code`.
    pub status: u16,
    /// The `reason`; empty where the API server gives none, which is with most of its 500.
    pub reason: &'static str,
    /// The `message`.
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

    /// The API server does not blame the client for some faults of a strategic merge patch.
    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self { status: 500, reason: "", message: message.into() }
    }
}
