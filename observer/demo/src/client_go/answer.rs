//! The parts of an answer that a reflector reads: revisions, and the reason for a failure.

use serde::Deserialize;

/// A list, a `Status`, or the object of a watch event, with the fields that a reflector reads from any of them.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Document {
    pub(super) metadata: Metadata,
    code: u16,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) resource_version: String,
    #[serde(rename = "continue")]
    pub(super) next: String,
    annotations: Option<Annotations>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Annotations {
    #[serde(rename = "k8s.io/initial-events-end")]
    initial_events_end: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Details {
    causes: Vec<Cause>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cause {
    reason: String,
}

/// One event of a watch, as a line of JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WatchLine {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) object: Document,
}

/// Why a list or a watch failed, as far as reflectors distinguish failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// 410: the revision is gone.
    Expired,
    /// 504 with this cause: the server has not reached the revision.
    TooLarge,
    /// 429, too many requests.
    TooMany,
    /// The connection was refused.
    Refused,
    /// Anything else.
    Other,
}

impl Document {
    /// Whether it is the bookmark that ends the initial events.
    pub(super) fn ends_initial_events(&self) -> bool {
        self.metadata.annotations.as_ref().is_some_and(|annotations| annotations.initial_events_end == "true")
    }

    /// The failure in a `Status`.
    pub(super) fn failure(&self) -> Failure {
        failure(self.code, self.details.as_ref())
    }
}

/// The failure in an answer with this HTTP status.
pub(super) fn of_answer(status: u16, body: &[u8]) -> Failure {
    let document: Document = serde_json::from_slice(body).unwrap_or_default();
    failure(status, document.details.as_ref())
}

fn failure(code: u16, details: Option<&Details>) -> Failure {
    let too_large = details.is_some_and(|details| details.causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge"));
    match code {
        410 => Failure::Expired,
        429 => Failure::TooMany,
        504 if too_large => Failure::TooLarge,
        _other => Failure::Other,
    }
}
