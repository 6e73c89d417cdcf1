//! How a request or a watch ended, in words.

use super::lifecycle::Exchange;
use super::watch::WatchStream;
use crate::http::Direction;
use crate::observation::{EndManner, ExchangeEnd};

/// Describes the end of an exchange; `None` while it is open.
pub fn of(exchange: &Exchange) -> Option<String> {
    let (_, end) = exchange.ended?;
    // A log has the same record whoever ended the watch.
    if exchange.is_logged && exchange.watch.is_some() && end == ExchangeEnd::Complete && !exchange.has_failed() {
        return Some("ended".to_owned());
    }
    Some(in_words(exchange.watch.as_ref(), exchange.status_code(), end))
}

/// Describes an end by the `ERROR` event of `watch`, else by its refusal (status 400 or above), else by `end`.
pub fn in_words(watch: Option<&WatchStream>, status: Option<u16>, end: ExchangeEnd) -> String {
    if let Some(error) = watch.and_then(|watch| watch.error.as_ref()) {
        return format!("{} {}", error.code, error.reason);
    }
    if let Some(status) = status.filter(|status| *status >= 400) {
        return format!("refused with {status}");
    }
    match end {
        ExchangeEnd::Complete if watch.is_some() => "ended by the server".to_owned(),
        ExchangeEnd::Complete => "complete".to_owned(),
        ExchangeEnd::Reset { by: Direction::Request, .. } => "cancelled by the client".to_owned(),
        ExchangeEnd::Reset { by: Direction::Response, code } => format!("reset by the server (code {code})"),
        ExchangeEnd::Cut(Some(end)) if end.manner == EndManner::ByWatchtap => "closed by watchtap".to_owned(),
        ExchangeEnd::Cut(Some(end)) => match end.direction {
            Direction::Request => "client disconnected".to_owned(),
            Direction::Response => "connection closed by the server".to_owned(),
        },
        ExchangeEnd::Cut(None) => "connection lost".to_owned(),
        ExchangeEnd::NotObserved => "no longer observed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::ConnectionEnd;

    #[test]
    fn close_by_watchtap_is_attributed_to_watchtap_only() {
        let words = |direction, manner| in_words(None, Some(200), ExchangeEnd::Cut(Some(ConnectionEnd { direction, manner })));
        for direction in [Direction::Request, Direction::Response] {
            assert_eq!(words(direction, EndManner::ByWatchtap), "closed by watchtap");
            assert_ne!(words(direction, EndManner::Fin), "closed by watchtap");
        }
    }
}
