//! The meaning of a collector's answer for the records of its request.
//!
//! Upstream: open-telemetry/opentelemetry-proto `docs/specification.md` §OTLP/HTTP Response. Only 429, 502, 503 and 504 may be
//! sent again; a redirect is not followed.

use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use prost::Message;

/// The fate of the records of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The collector has them.
    Taken {
        /// Number of those that it rejected nevertheless.
        rejected: u64,
        /// Why, or a warning; may be empty.
        message: String,
    },
    /// They may be sent again.
    Later {
        /// One of the four that allow it.
        status: StatusCode,
        /// How long the collector asks to wait.
        after: Option<Duration>,
    },
    /// They must not be sent again.
    Refused {
        /// Any other, never a success.
        status: StatusCode,
    },
}

impl Answer {
    /// Reads an answer. The responses of all signals have the same form. A body in another form counts as empty, since the status
    /// alone decides.
    pub(super) fn of(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        if status.is_success() {
            let partial = ExportLogsServiceResponse::decode(body).ok().and_then(|response| response.partial_success);
            let partial = partial.unwrap_or_default();
            let rejected = u64::try_from(partial.rejected_log_records).unwrap_or_default();
            return Self::Taken { rejected, message: partial.error_message };
        }
        match status {
            StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT => Self::Later { status, after: retry_after(headers) },
            status => Self::Refused { status },
        }
    }
}

/// `Retry-After` in seconds. A date is ignored: it depends on two clocks, and collectors send seconds.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsPartialSuccess;

    use super::*;

    #[test]
    fn only_four_statuses_may_be_sent_again() {
        for status in (100..600).filter_map(|status| StatusCode::from_u16(status).ok()) {
            let answer = Answer::of(status, &HeaderMap::new(), b"");
            match status.as_u16() {
                200..300 => assert_eq!(answer, Answer::Taken { rejected: 0, message: String::new() }),
                429 | 502 | 503 | 504 => assert_eq!(answer, Answer::Later { status, after: None }),
                _ => assert_eq!(answer, Answer::Refused { status }),
            }
        }
    }

    #[test]
    fn retry_after_is_read_in_seconds() {
        for (value, expected) in [("5", Some(5)), (" 0 ", Some(0)), ("Wed, 21 Oct 2015 07:28:00 GMT", None), ("-1", None)] {
            let headers = [(RETRY_AFTER, value.parse().unwrap())].into_iter().collect();
            let status = StatusCode::SERVICE_UNAVAILABLE;
            let after = expected.map(Duration::from_secs);
            assert_eq!(Answer::of(status, &headers, b""), Answer::Later { status, after }, "{value}");
        }
    }

    #[test]
    fn partial_success_has_a_number_and_a_message() {
        let partial_success = Some(ExportLogsPartialSuccess { rejected_log_records: 3, error_message: "full".to_owned() });
        let body = ExportLogsServiceResponse { partial_success }.encode_to_vec();
        let taken = |rejected, message: &str| Answer::Taken { rejected, message: message.to_owned() };
        assert_eq!(Answer::of(StatusCode::OK, &HeaderMap::new(), &body), taken(3, "full"));
        assert_eq!(Answer::of(StatusCode::OK, &HeaderMap::new(), b"{\"json\":1}"), taken(0, ""));
    }
}
