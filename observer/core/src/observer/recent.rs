//! Recent rates of requests, watch events and bytes, over all traffic.

use std::time::Duration;

use super::snapshot::Rates;
use crate::http::Direction;
use crate::observation::{Body, ExchangeObservation};
use crate::time::{PerSecond, Rate, Timestamp};
use crate::wire::EventType;

/// Time constant of the rates.
const OVER: Duration = Duration::from_secs(10);

/// Rates over all traffic; older occurrences fade.
#[derive(Debug)]
pub(super) struct Recent {
    requests: Rate,
    watch_events: Rate,
    response_bytes: Rate,
}

impl Recent {
    pub(super) const fn new() -> Self {
        Self { requests: Rate::new(OVER), watch_events: Rate::new(OVER), response_bytes: Rate::new(OVER) }
    }

    pub(super) fn note(&mut self, at: Timestamp, observed: &ExchangeObservation) {
        if let ExchangeObservation::Requested { .. } = observed {
            self.requests.note(at, 1);
        } else if let ExchangeObservation::BodyBytes { direction: Direction::Response, bytes } = observed {
            self.response_bytes.note(at, *bytes);
        } else if let ExchangeObservation::BodyRead { body: Body::Events(events) } = observed {
            let is_event = |kind| !matches!(kind, EventType::Bookmark | EventType::Error);
            self.watch_events.note(at, events.iter().filter(|event| is_event(event.event_type)).count() as u64);
        }
    }

    pub(super) fn rates(&self, at: Timestamp) -> Rates {
        let of = |rate: &Rate| PerSecond::rounded(rate.per_second(at));
        Rates {
            requests_per_second: of(&self.requests),
            watch_events_per_second: of(&self.watch_events),
            response_bytes_per_second: of(&self.response_bytes),
        }
    }
}
