//! Failures of a list or a watch, and their meaning for the next list.

use crate::exchange::Exchange;
use crate::http::Direction;
use crate::k8s::{Continue, Status};
use crate::observation::ExchangeEnd;
use crate::time::Timestamp;

/// How an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failure {
    pub at: Timestamp,
    /// The HTTP status or the code of the `ERROR` event; `None` for any other end, such as a broken connection.
    pub code: Option<u16>,
    pub kind: FailureKind,
    /// Whether the request was for a page after the first.
    pub is_page: bool,
}

/// The meaning of a failure for the next list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureKind {
    /// The server has not reached the revision.
    TooLarge,
    /// The server no longer has the revision.
    Expired,
    /// The connection broke, or the client cancelled the request.
    Broken,
    /// Any other refusal.
    Refused,
}

impl Failure {
    /// Failure of the list of `exchange`; `None` if it is complete.
    pub(super) fn of(exchange: &Exchange, at: Timestamp) -> Option<Self> {
        let is_page = exchange.request.options.continue_token != Continue::Unset;
        if let Some(code) = exchange.status_code().filter(|status| *status >= 300) {
            let kind = FailureKind::of(code, exchange.status.as_ref());
            return Some(Self { at, code: Some(code), kind, is_page });
        }
        let broke = match exchange.ended?.1 {
            ExchangeEnd::Complete => exchange.response.is_none(),
            ExchangeEnd::Reset { by: Direction::Request | Direction::Response, .. }
            | ExchangeEnd::Cut(_)
            | ExchangeEnd::NotObserved => true,
        };
        broke.then_some(Failure { at, code: None, kind: FailureKind::Broken, is_page })
    }
}

impl FailureKind {
    /// The meaning of a refusal (kubernetes/apimachinery pkg/api/errors/errors.go, `IsTooLargeResourceVersion`,
    /// `IsResourceExpired`, `IsGone`). Servers before 1.18.6 send no cause; only their message shows that the revision is too
    /// large.
    pub(super) fn of(code: u16, status: Option<&Status>) -> Self {
        let names_it = |status: &Status| {
            status.causes.iter().any(|cause| cause.reason == "ResourceVersionTooLarge")
                || status.message.contains("Too large resource version")
        };
        match code {
            410 => Self::Expired,
            504 if status.is_some_and(names_it) => Self::TooLarge,
            _other => Self::Refused,
        }
    }
}
