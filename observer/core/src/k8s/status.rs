//! The `Status` object: the body of every error, and of some other answers.

use serde::{Deserialize, Serialize};

/// One of `details.causes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusCause {
    /// A machine-readable cause such as `ResourceVersionTooLarge`; empty on servers before 1.18.6.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The cause in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field to which the cause refers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// `meta.k8s.io/v1 Status`, as far as it explains an answer (kubernetes/apimachinery pkg/apis/meta/v1/types.go).
///
/// All code that builds one cuts strings at 1 KiB, and keeps at most 16 causes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// `Success` or `Failure`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// An explanation in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Such as `Expired`, `Timeout`, `TooManyRequests`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The HTTP status code, also inside a watch's `ERROR` event; 0 if absent.
    pub code: u16,
    /// `details.retryAfterSeconds`; `None` also for zero, which Go omits from JSON and writes in protobuf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_seconds: Option<u32>,
    /// `details.causes`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<StatusCause>,
    /// `metadata.continue`: the replacement token that comes with a 410 on a continue page.
    #[serde(rename = "continue", skip_serializing_if = "String::is_empty")]
    pub continue_token: String,
}

impl Status {
    /// The current revision of a server that refused a later one (kubernetes/apiserver pkg/storage/errors.go,
    /// `NewTooLargeResourceVersionError`). Only the message contains it.
    pub fn current_revision(&self) -> Option<u64> {
        let (_, number) = self.message.split_once("Too large resource version: ")?.1.split_once(", current: ")?;
        number.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
    }

    /// Longest string kept of each field, in bytes.
    pub const MAX_TEXT: usize = 1024;
    /// Maximum number of causes kept.
    pub const MAX_CAUSES: usize = 16;

    /// Approximate memory use, in bytes.
    pub fn memory(&self) -> usize {
        let causes = self.causes.iter().map(|cause| {
            let StatusCause { reason, message, field } = cause;
            size_of::<StatusCause>() + reason.len() + message.len() + field.len()
        });
        let texts = [&self.status, &self.message, &self.reason, &self.continue_token];
        size_of::<Self>() + texts.into_iter().map(String::len).sum::<usize>() + causes.sum::<usize>()
    }

    /// The same status without texts and field paths. If a server refuses a write, it quotes the invalid value, which may be the
    /// data of a Secret. Fields are paths into the object, down to the keys of that data.
    #[must_use]
    pub fn without_words(self) -> Self {
        let cause = |cause: StatusCause| StatusCause { reason: cause.reason, ..StatusCause::default() };
        Self { message: String::new(), causes: self.causes.into_iter().map(cause).collect(), ..self }
    }
}
