//! The hop's deviations from the server's behaviour.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// An event that affects all watches or connections at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Watches break: `RST_STREAM` on HTTP/2, a connection closed in the middle of the body on HTTP/1.1.
    BreakWatches,
    /// Watches end cleanly, as after their timeout.
    EndWatches,
    /// Watches end with an `Expired` event (410 in a stream of status 200).
    ExpireWatches,
    /// GOAWAY on HTTP/2, `Connection: close` in effect on HTTP/1.1: open requests continue, and no new one starts.
    GoAway,
}

/// A scripted answer in place of the server's, until [`super::HttpHop::script`] replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scripted {
    /// The requests that it applies to.
    pub of: Of,
    /// The answer to them.
    pub answer: ScriptedReply,
    /// Number of scripted answers per client.
    pub times: usize,
}

/// A class of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Every watch.
    Watches,
    /// Lists, including streaming lists, with a resource version other than 0.
    ListsAtVersion,
}

/// A scripted answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptedReply {
    /// 429 with `Retry-After: 1`.
    TooManyRequests,
    /// 504: the resource version is larger than the server's (kubernetes/apiserver `pkg/storage/errors.go`,
    /// `NewTooLargeResourceVersionError`).
    TooLargeResourceVersion,
    /// 500.
    InternalError,
    /// The server's own answer, without the bookmark that ends the initial events.
    WithoutListEnd,
    /// Success, and the end of the watch before any event.
    EmptyWatch,
    /// The server's own answer; the connection is reset this long after its head.
    ResetAfter(Duration),
}

/// The parts of a request that the script uses.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The `Authorization` field, which identifies the client.
    pub(super) client: String,
    /// Path and query.
    pub(super) uri: String,
}

/// The scripted answer, and how many each client has received.
#[derive(Debug, Default)]
pub(super) struct Script(Mutex<(Option<Scripted>, BTreeMap<String, usize>)>);

impl Script {
    pub(super) fn set(&self, scripted: Option<Scripted>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (scripted, BTreeMap::new());
    }

    /// The scripted answer to this request, or `None` if the server answers.
    pub(super) fn answer(&self, request: &Request) -> Option<ScriptedReply> {
        let (scripted, answered) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let scripted = (*scripted)?;
        let times = answered.entry(request.client.clone()).or_default();
        if !request.is(scripted.of) || *times >= scripted.times {
            return None;
        }
        *times += 1;
        Some(scripted.answer)
    }
}

impl Request {
    fn is(&self, of: Of) -> bool {
        match of {
            Of::Watches => self.is_watch(),
            Of::ListsAtVersion => {
                let is_list = !self.is_watch() || self.parameter("sendInitialEvents") == Some("true");
                is_list && !matches!(self.parameter("resourceVersion"), None | Some("" | "0"))
            }
        }
    }

    pub(super) fn is_watch(&self) -> bool {
        matches!(self.parameter("watch"), Some("true" | "1"))
    }

    fn parameter(&self, wanted: &str) -> Option<&str> {
        let query = self.uri.split_once('?')?.1;
        query.split('&').filter_map(|pair| pair.split_once('=')).find_map(|(name, value)| (name == wanted).then_some(value))
    }
}

impl ScriptedReply {
    /// Status code, reason, and further fields of the `Status` in JSON; `None` if the server answers.
    pub(super) fn status(self) -> Option<(u16, serde_json::Value)> {
        let failure = |code: u16, reason: &str, message: &str, details: serde_json::Value| {
            let status = serde_json::json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "message": message, "reason": reason, "details": details, "code": code,
            });
            Some((code, status))
        };
        let retry = serde_json::json!({"retryAfterSeconds": 1});
        match self {
            Self::TooManyRequests => failure(429, "TooManyRequests", "the server has received too many requests", retry),
            Self::TooLargeResourceVersion => {
                let causes = serde_json::json!({
                    "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1,
                });
                failure(504, "Timeout", "Too large resource version: 9, current: 8", causes)
            }
            Self::InternalError => failure(500, "InternalError", "Internal error occurred", serde_json::json!({})),
            Self::WithoutListEnd | Self::EmptyWatch | Self::ResetAfter(_) => None,
        }
    }
}
