//! How a watch ended, as far as it decides what its client does next.

use serde::Serialize;

use crate::exchange::Exchange;
use crate::http::Direction;
use crate::observation::{EndManner, ExchangeEnd};
use crate::time::Timestamp;

/// How a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub enum WatchEnd {
    /// By the server, after the time that the client had asked for (`timeoutSeconds`).
    TimedOut,
    /// By the server, before that time, as a whole response.
    Early,
    /// By the server within a second, before any event: the client takes it for a failure.
    VeryShort,
    /// By an `ERROR` event.
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
    /// The connection ended; the server's end came first, or nobody's.
    ConnectionLost {
        /// How the server ended it.
        manner: Option<EndManner>,
    },
    /// The client reset the stream.
    Cancelled,
    /// The client ended the connection.
    ClientLeft,
    /// watchtap ended.
    ByWatchtap,
    /// Observing lost sight of it; it may go on.
    OutOfSight,
}

impl WatchEnd {
    /// The client gives up a watch that delivered nothing within this time (client-go tools/cache/reflector.go, `VeryShortWatchError`).
    pub(super) const VERY_SHORT_NANOS: u64 = 1_000_000_000;
    /// The server may end a watch this much before `timeoutSeconds` are over as the client counts them: its clock begins later, its timers
    /// are exact to milliseconds, and the client measures whole seconds.
    const TIMEOUT_SLACK_NANOS: u64 = 1_000_000_000;

    /// How the watch of `exchange` ended; nothing while it goes on.
    pub(super) fn of(exchange: &Exchange) -> Option<Self> {
        let (ended, end) = exchange.ended?;
        if let Some(error) = exchange.watch.as_ref().and_then(|watch| watch.error.as_ref()) {
            return Some(Self::ErrorEvent { code: error.code });
        }
        if let Some(status) = exchange.status_code().filter(|status| *status >= 300) {
            return Some(Self::Refused { status });
        }
        Some(match end {
            ExchangeEnd::Complete => Self::complete(exchange, ended),
            ExchangeEnd::Reset { by: Direction::Request, .. } => Self::Cancelled,
            ExchangeEnd::Reset { by: Direction::Response, code } => Self::StreamReset { code },
            ExchangeEnd::Cut(Some(end)) if end.manner == EndManner::ByWatchtap => Self::ByWatchtap,
            ExchangeEnd::Cut(Some(end)) if end.direction == Direction::Request => Self::ClientLeft,
            ExchangeEnd::Cut(end) => Self::ConnectionLost { manner: end.map(|end| end.manner) },
            ExchangeEnd::OutOfSight => Self::OutOfSight,
        })
    }

    fn complete(exchange: &Exchange, ended: Timestamp) -> Self {
        let lived = ended.since(exchange.started).as_nanos();
        let is_dark = exchange.missed_bytes > 0 || (exchange.not_read.is_some() && exchange.response_bytes > 0);
        let delivered = is_dark || exchange.watch.as_ref().is_some_and(|watch| watch.last_event.is_some());
        if lived < u128::from(Self::VERY_SHORT_NANOS) && !delivered {
            return Self::VeryShort;
        }
        let asked = exchange.request.options.timeout_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let asked = asked.map(|seconds| u128::from(seconds) * 1_000_000_000);
        match asked {
            Some(asked) if lived + u128::from(Self::TIMEOUT_SLACK_NANOS) >= asked => Self::TimedOut,
            Some(_) | None => Self::Early,
        }
    }

    /// The HTTP status, or the code of the `ERROR` event, by which the server ended it.
    pub(super) const fn code(self) -> Option<u16> {
        match self {
            Self::Refused { status: code } | Self::ErrorEvent { code } => Some(code),
            Self::TimedOut
            | Self::Early
            | Self::VeryShort
            | Self::StreamReset { .. }
            | Self::ConnectionLost { .. }
            | Self::Cancelled
            | Self::ClientLeft
            | Self::ByWatchtap
            | Self::OutOfSight => None,
        }
    }

    /// In words, as the end of "the watch …".
    pub fn in_words(self) -> String {
        match self {
            Self::TimedOut => "ended after the time it asked for".to_owned(),
            Self::Early => "was ended early by the server".to_owned(),
            Self::VeryShort => "was ended within a second, before any event".to_owned(),
            Self::ErrorEvent { code } => format!("ended with an ERROR event of code {code}"),
            Self::Refused { status } => format!("was refused with {status}"),
            Self::StreamReset { code } => format!("was reset by the server (code {code})"),
            Self::ConnectionLost { .. } => "ended with its connection".to_owned(),
            Self::Cancelled => "was cancelled by the client".to_owned(),
            Self::ClientLeft => "ended when the client left".to_owned(),
            Self::ByWatchtap => "was ended by watchtap".to_owned(),
            Self::OutOfSight => "went out of sight".to_owned(),
        }
    }
}
