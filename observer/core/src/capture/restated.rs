//! Restates open connections and exchanges as observations, so that a later part of a capture can be read alone.

use std::collections::BTreeMap;

use crate::http::{Direction, StreamId};
use crate::observation::{
    Blockage, Body, ConnectionId, ConnectionObservation, ExchangeId, ExchangeObservation, Observation, Subject, UpstreamName,
    UpstreamObservation,
};
use crate::time::Timestamp;

/// Maximum number of connections, and of exchanges, that are restated. A replay that begins at a later part ignores observations of
/// others.
const MAX_OPEN: usize = 16_384;
/// Maximum number of API servers whose profile and listener are restated; there can be fewer listeners than that.
const MAX_UPSTREAMS: usize = 256;
/// Maximum number of observations that are kept per connection or exchange.
const MAX_EACH: usize = 16;

/// Observations that a later part restates.
#[derive(Debug, Default)]
pub(super) struct Restated {
    /// The latest profile of each API server, in the order in which the servers were first named.
    profiles: Vec<(UpstreamName, Observation)>,
    listeners: Vec<(UpstreamName, Observation)>,
    connections: BTreeMap<ConnectionId, Vec<Observation>>,
    exchanges: BTreeMap<ExchangeId, Open>,
    blocked: BTreeMap<(ConnectionId, Option<StreamId>, Blockage), Observation>,
}

/// An exchange that is under way.
#[derive(Debug)]
struct Open {
    /// Its observations, without the batches and byte counts that the sums below stand for.
    kept: Vec<Observation>,
    latest: Timestamp,
    request_bytes: u64,
    response_bytes: u64,
}

impl Restated {
    pub(super) fn note(&mut self, observation: &Observation) {
        match &observation.subject {
            Subject::Connection(connection, observed) => self.note_connection(*connection, observed, observation),
            Subject::Exchange(exchange, observed) => self.note_exchange(*exchange, observed, observation),
            Subject::Upstream(upstream, UpstreamObservation::Profile { .. }) => {
                keep_latest(&mut self.profiles, upstream, observation);
            }
            Subject::Upstream(upstream, UpstreamObservation::Listener { .. }) => {
                keep_latest(&mut self.listeners, upstream, observation);
            }
            Subject::Tap(_) | Subject::Capture(_) | Subject::Run(_) | Subject::Unknown => {}
        }
    }

    fn note_connection(&mut self, connection: ConnectionId, observed: &ConnectionObservation, observation: &Observation) {
        match observed {
            ConnectionObservation::Opened { .. } => {
                if self.connections.len() < MAX_OPEN {
                    self.connections.insert(connection, vec![observation.clone()]);
                }
            }
            ConnectionObservation::HalfEnded { .. } => {
                if let Some(kept) = self.connections.get_mut(&connection) {
                    keep(kept, observation);
                }
            }
            ConnectionObservation::Closed { .. } => {
                self.connections.remove(&connection);
                self.blocked.retain(|(blocked, ..), _| *blocked != connection);
            }
            ConnectionObservation::Blocked { stream, by, .. } => {
                if self.blocked.len() < MAX_OPEN {
                    self.blocked.insert((connection, *stream, *by), observation.clone());
                }
            }
            ConnectionObservation::Unblocked { stream, by } => {
                self.blocked.remove(&(connection, *stream, *by));
            }
            ConnectionObservation::DecoderFailed => self.exchanges.retain(|id, _| id.connection != connection),
            ConnectionObservation::GoAway { .. }
            | ConnectionObservation::Gap { .. }
            | ConnectionObservation::Malformed { .. }
            | ConnectionObservation::DecodingStopped { .. } => {}
        }
    }

    fn note_exchange(&mut self, exchange: ExchangeId, observed: &ExchangeObservation, observation: &Observation) {
        if let ExchangeObservation::Requested { .. } = observed {
            if self.exchanges.len() < MAX_OPEN {
                let kept = vec![observation.clone()];
                self.exchanges.insert(exchange, Open { kept, latest: observation.at, request_bytes: 0, response_bytes: 0 });
            }
        } else if let ExchangeObservation::Ended { .. } = observed {
            self.exchanges.remove(&exchange);
            self.blocked.remove(&(exchange.connection, Some(exchange.stream), Blockage::StreamWindow));
        } else if let Some(open) = self.exchanges.get_mut(&exchange) {
            open.note(observed, observation);
        }
    }

    /// The observations that restate everything that is open. For a body under way, they state its bytes so far, and that these
    /// were missed. A reader without the earlier parts lacks their content, so its counts are lower bounds.
    pub(super) fn observations(&self) -> impl Iterator<Item = Observation> {
        let alone = self.profiles.iter().chain(&self.listeners).map(|(_, latest)| latest.clone());
        let connections = self.connections.values().flatten().cloned();
        let exchanges = self.exchanges.iter().flat_map(|(id, open)| open.observations(*id));
        alone.chain(connections).chain(exchanges).chain(self.blocked.values().cloned())
    }
}

impl Open {
    fn note(&mut self, observed: &ExchangeObservation, observation: &Observation) {
        self.latest = self.latest.max(observation.at);
        if let ExchangeObservation::BodyBytes { direction, bytes } = observed {
            let sum = match direction {
                Direction::Request => &mut self.request_bytes,
                Direction::Response => &mut self.response_bytes,
            };
            *sum = sum.saturating_add(*bytes);
        } else if !is_of_a_batch(observed) {
            keep(&mut self.kept, observation);
        }
    }

    fn observations(&self, exchange: ExchangeId) -> impl Iterator<Item = Observation> {
        let sums = [
            (self.request_bytes, Direction::Request, false),
            (self.response_bytes, Direction::Response, false),
            (self.response_bytes, Direction::Response, true),
        ];
        let at = self.latest;
        let sums = sums.into_iter().filter(|(bytes, ..)| *bytes > 0).map(move |(bytes, direction, missed)| {
            let observed = if missed {
                ExchangeObservation::BodyGap { direction, bytes }
            } else {
                ExchangeObservation::BodyBytes { direction, bytes }
            };
            Observation { at, subject: Subject::Exchange(exchange, observed) }
        });
        self.kept.clone().into_iter().chain(sums)
    }
}

/// Whether an observation is left out because the byte sums stand for it.
fn is_of_a_batch(observed: &ExchangeObservation) -> bool {
    matches!(
        observed,
        ExchangeObservation::BodyRead { body: Body::Items(_) | Body::Events(_) } | ExchangeObservation::BodyGap { .. }
    )
}

fn keep_latest(latest: &mut Vec<(UpstreamName, Observation)>, upstream: &UpstreamName, observation: &Observation) {
    let has_room = latest.len() < MAX_UPSTREAMS;
    match latest.iter_mut().find(|(name, _)| name == upstream) {
        Some((_, known)) => known.clone_from(observation),
        None if has_room => latest.push((upstream.clone(), observation.clone())),
        None => {}
    }
}

fn keep(kept: &mut Vec<Observation>, observation: &Observation) {
    if kept.len() < MAX_EACH {
        kept.push(observation.clone());
    }
}
