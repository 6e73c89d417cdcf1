//! An event as a log record.

use std::io;
use std::time::SystemTime;

use observer_core::observer::Event;
use opentelemetry_proto::tonic::logs::v1::LogRecord;
use serde_json::Value as Json;

use super::any_value::{attributes, text};
use super::severity::severity;
use crate::view::live_line;

/// Prefix of the names of events and of their attributes.
const PREFIX: &str = "watchtap";

/// The record of an event: its live line, and all its fields in `--events` as attributes. `now` is the machine's clock.
pub(super) fn log_record(event: &Event, now: SystemTime) -> io::Result<LogRecord> {
    let Json::Object(mut fields) = serde_json::to_value(event)? else {
        return Err(io::Error::other("an event is no JSON object"));
    };
    // The name is a field of its own.
    let name = fields.shift_remove("event");
    let name = name.as_ref().and_then(Json::as_str).unwrap_or_default();
    let (severity, severity_text) = severity(event);
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Ok(LogRecord {
        time_unix_nano: event.happened_at().wall_nanos(),
        observed_time_unix_nano: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX),
        severity_number: severity.into(),
        severity_text: severity_text.to_owned(),
        event_name: format!("{PREFIX}.{name}"),
        body: Some(text(live_line(event).unwrap_or_else(|| name.to_owned()))),
        attributes: attributes(PREFIX, &fields),
        ..LogRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use observer_core::http::Direction;
    use observer_core::observation::ConnectionId;
    use observer_core::time::Timestamp;
    use opentelemetry_proto::tonic::common::v1::any_value::Value;

    use super::*;

    #[test]
    fn event_becomes_a_record_with_its_line_and_fields() {
        let at = Timestamp::from_nanos(1_000).with_wall_ahead(-1);
        let event = Event::Missed { at, connection: ConnectionId(3), stream: None, direction: Direction::Response, bytes: 1_500 };
        let record = log_record(&event, SystemTime::UNIX_EPOCH + Duration::from_nanos(7)).unwrap();
        assert_eq!((record.event_name.as_str(), record.severity_text.as_str()), ("watchtap.missed", "WARN"));
        assert_eq!((record.time_unix_nano, record.observed_time_unix_nano), (999, 7));
        assert_eq!(
            record.body.unwrap().value,
            Some(Value::StringValue("missed 1.5 kB on connection 3 were forwarded and not observed".to_owned()))
        );
        let attributes: Vec<_> = record.attributes.into_iter().map(|one| (one.key, one.value.unwrap().value.unwrap())).collect();
        let expected = [
            ("watchtap.at", Value::StringValue("1970-01-01T00:00:00.000000999Z".to_owned())),
            ("watchtap.connection", Value::IntValue(3)),
            ("watchtap.direction", Value::StringValue("response".to_owned())),
            ("watchtap.bytes", Value::IntValue(1_500)),
        ];
        assert_eq!(attributes, expected.map(|(name, value)| (name.to_owned(), value)));
    }

    #[test]
    fn event_without_a_line_has_its_name_as_the_body() {
        let event = Event::GoAway { at: Timestamp::default(), connection: ConnectionId(1), by: Direction::Request, code: 0 };
        let record = log_record(&event, SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(record.body.unwrap().value, Some(Value::StringValue("go-away".to_owned())));
        assert_eq!((record.event_name.as_str(), record.severity_text.as_str()), ("watchtap.go-away", "INFO"));
    }
}
