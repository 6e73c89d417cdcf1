//! The `Status` object: the body of every error, and of some answers.

use serde::{Deserialize, Serialize};

/// One of `details.causes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct StatusCause {
    /// A machine-readable cause such as `ResourceVersionTooLarge`; empty on servers before 1.18.6.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The same in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The field that the cause is about.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

/// `meta.k8s.io/v1 Status`, as far as it explains an answer (kubernetes/apimachinery pkg/apis/meta/v1/types.go).
///
/// Strings are cut at 1 KiB and at most 16 causes are kept, whoever builds one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// `Success` or `Failure`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// For people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Such as `Expired`, `Timeout`, `TooManyRequests`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The HTTP status code, also inside a watch's `ERROR` event; 0 when absent.
    pub code: u16,
    /// `details.retryAfterSeconds`; `None` for zero, too, which Go leaves out of JSON and writes in protobuf.
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
    /// The revision that a server has that refuses a later one (kubernetes/apiserver pkg/storage/errors.go, `NewTooLargeResourceVersionError`).
    /// Its message is the only place that says it.
    pub fn current_revision(&self) -> Option<u64> {
        let (_, number) = self.message.split_once("Too large resource version: ")?.1.split_once(", current: ")?;
        number.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
    }

    /// Longest string kept of each field, in bytes.
    pub const MAX_TEXT: usize = 1024;
    /// Most causes kept.
    pub const MAX_CAUSES: usize = 16;

    /// About how much memory its texts take, in bytes.
    pub fn memory(&self) -> usize {
        let causes = self.causes.iter().map(|cause| {
            let StatusCause { reason, message, field } = cause;
            size_of::<StatusCause>() + reason.len() + message.len() + field.len()
        });
        let texts = [&self.status, &self.message, &self.reason, &self.continue_token];
        size_of::<Self>() + texts.into_iter().map(String::len).sum::<usize>() + causes.sum::<usize>()
    }

    /// The same without what the server says in words. Of a write it refuses, it quotes the value that it does not like, which may be the
    /// data of a Secret; fields are paths into the object, down to the keys of that data.
    #[must_use]
    pub fn without_words(self) -> Self {
        let cause = |cause: StatusCause| StatusCause { reason: cause.reason, ..StatusCause::default() };
        Self { message: String::new(), causes: self.causes.into_iter().map(cause).collect(), ..self }
    }
}
