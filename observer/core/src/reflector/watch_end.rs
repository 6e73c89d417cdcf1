//! How a watch ended. The end decides the client's next request.

use serde::Serialize;

use crate::exchange::Exchange;
use crate::http::Direction;
use crate::observation::{EndManner, ExchangeEnd};
use crate::thresholds::VERY_SHORT_WATCH;
use crate::time::Timestamp;

/// How a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum WatchEnd {
    /// By the server, after the requested time (`timeoutSeconds`).
    TimedOut,
    /// By the server before that time, with a complete response.
    Early,
    /// By the server within a second, before any event: the client treats this as a failure.
    VeryShort,
    /// By the server by force, because the client read too slowly, as the server's log shows.
    ByForce,
    /// By an `ERROR` event, such as 410 `Expired`.
    ErrorEvent {
        /// `code` of its `Status`.
        code: u16,
    },
    /// It was refused.
    Refused {
        /// The HTTP status.
        status: u16,
    },
    /// The server reset the stream.
    StreamReset {
        /// The error code of RFC 9113 §7.
        code: u32,
    },
    /// The connection ended. Either the server ended it first, or it is unknown which side did.
    ConnectionLost {
        /// How the server ended it; `None` if unknown.
        manner: Option<EndManner>,
    },
    /// The client reset the stream.
    Cancelled,
    /// The client ended the connection.
    ClientLeft,
    /// watchtap ended the connection.
    ByWatchtap,
    /// Before the requested time, as a log shows; the log has neither an `ERROR` event nor the side that ended it.
    BeforeTimeout,
    /// Observation stopped while the watch was open. The watch may still be running.
    NotObserved,
}

impl WatchEnd {
    /// A server may end a watch this much before `timeoutSeconds` have passed for the client. The two clocks start at different
    /// times, server timers are exact to milliseconds, and the client has a resolution of one second.
    const TIMEOUT_SLACK_NANOS: u64 = 1_000_000_000;

    /// How the watch of `exchange` ended; `None` while it is open.
    pub(crate) fn of(exchange: &Exchange) -> Option<Self> {
        let (ended, end) = exchange.ended?;
        if let Some(error) = exchange.watch.as_ref().and_then(|watch| watch.error.as_ref()) {
            return Some(Self::ErrorEvent { code: error.code });
        }
        if let Some(status) = exchange.status_code().filter(|status| *status >= 300) {
            return Some(Self::Refused { status });
        }
        let is_of_server = matches!(end, ExchangeEnd::Complete | ExchangeEnd::Reset { by: Direction::Response, .. });
        if exchange.closed_by_force.is_some() && is_of_server && !Self::is_of_its_time(exchange, ended) {
            return Some(Self::ByForce);
        }
        Some(match end {
            ExchangeEnd::Complete if exchange.is_logged => Self::logged(exchange, ended),
            ExchangeEnd::Complete => Self::complete(exchange, ended),
            ExchangeEnd::Reset { by: Direction::Request, .. } => Self::Cancelled,
            ExchangeEnd::Reset { by: Direction::Response, code } => Self::StreamReset { code },
            ExchangeEnd::Cut(Some(end)) if end.manner == EndManner::ByWatchtap => Self::ByWatchtap,
            ExchangeEnd::Cut(Some(end)) if end.direction == Direction::Request => Self::ClientLeft,
            ExchangeEnd::Cut(end) => Self::ConnectionLost { manner: end.map(|end| end.manner) },
            ExchangeEnd::NotObserved => Self::NotObserved,
        })
    }

    fn complete(exchange: &Exchange, ended: Timestamp) -> Self {
        let lived = ended.since(exchange.started).as_nanos();
        let is_partly_unread = exchange.missed_bytes > 0 || (exchange.not_read.is_some() && exchange.response_bytes > 0);
        let delivered = is_partly_unread || exchange.watch.as_ref().is_some_and(|watch| watch.last_event.is_some());
        if lived < VERY_SHORT_WATCH.as_nanos() && !delivered {
            return Self::VeryShort;
        }
        if Self::is_of_its_time(exchange, ended) { Self::TimedOut } else { Self::Early }
    }

    /// The end of a watch that an API server logged when its response ended, for whatever reason.
    fn logged(exchange: &Exchange, ended: Timestamp) -> Self {
        if Self::is_of_its_time(exchange, ended) { Self::TimedOut } else { Self::BeforeTimeout }
    }

    /// Whether the requested time had passed.
    fn is_of_its_time(exchange: &Exchange, ended: Timestamp) -> bool {
        let lived = ended.since(exchange.started).as_nanos() + u128::from(Self::TIMEOUT_SLACK_NANOS);
        let asked = exchange.request.options.timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        asked.is_some_and(|seconds| lived >= u128::from(seconds) * 1_000_000_000)
    }

    /// The HTTP status or `ERROR` code with which the server ended it; `None` for any other end.
    pub(super) const fn code(self) -> Option<u16> {
        match self {
            Self::Refused { status: code } | Self::ErrorEvent { code } => Some(code),
            Self::TimedOut
            | Self::Early
            | Self::VeryShort
            | Self::ByForce
            | Self::StreamReset { .. }
            | Self::ConnectionLost { .. }
            | Self::Cancelled
            | Self::ClientLeft
            | Self::ByWatchtap
            | Self::BeforeTimeout
            | Self::NotObserved => None,
        }
    }

    /// Describes the end, to follow the words "the watch".
    pub fn in_words(self) -> String {
        match self {
            Self::TimedOut => "ended after its requested timeout".to_owned(),
            Self::Early => "was ended early by the server".to_owned(),
            Self::VeryShort => "was ended within a second, before any event".to_owned(),
            Self::ByForce => "was closed by the server by force, because the client read too slowly".to_owned(),
            Self::ErrorEvent { code } => format!("ended with an ERROR event, code {code}"),
            Self::Refused { status } => format!("was refused with {status}"),
            Self::StreamReset { code } => format!("was reset by the server (code {code})"),
            Self::ConnectionLost { .. } => "ended with its connection".to_owned(),
            Self::Cancelled => "was cancelled by the client".to_owned(),
            Self::ClientLeft => "ended when the client disconnected".to_owned(),
            Self::ByWatchtap => "was closed by watchtap".to_owned(),
            Self::BeforeTimeout => "ended before its requested timeout; the log does not show why".to_owned(),
            Self::NotObserved => "was no longer observed".to_owned(),
        }
    }
}
