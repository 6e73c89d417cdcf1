//! Restates what is open as observations, so that a later part of a capture can be read alone.

use std::collections::BTreeMap;

use crate::http::{Direction, StreamId};
use crate::observation::{Blockage, Body, ConnectionId, ExchangeId, Observation, UpstreamName, What};
use crate::time::Timestamp;

/// Most connections, and most exchanges, that are restated. A replay that begins at a later part ignores observations of others.
const MAX_OPEN: usize = 16_384;
/// Most API servers whose profile and listener are restated; more than there can be listeners.
const MAX_UPSTREAMS: usize = 256;
/// Most observations that are kept per connection or exchange.
const MAX_EACH: usize = 16;

/// Observations that a later part restates.
#[derive(Debug, Default)]
pub(super) struct Standing {
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
    said: Vec<Observation>,
    latest: Timestamp,
    request_bytes: u64,
    response_bytes: u64,
}

impl Standing {
    pub(super) fn note(&mut self, observation: &Observation) {
        match &observation.what {
            What::Profile { upstream, .. } => keep_latest(&mut self.profiles, upstream, observation),
            What::Listener { upstream, .. } => keep_latest(&mut self.listeners, upstream, observation),
            What::ConnectionOpened { connection, .. } if self.connections.len() < MAX_OPEN => {
                self.connections.insert(*connection, vec![observation.clone()]);
            }
            What::ConnectionEnded { connection, .. } => {
                if let Some(said) = self.connections.get_mut(connection) {
                    keep(said, observation);
                }
            }
            What::ConnectionClosed { connection, .. } => {
                self.connections.remove(connection);
                self.blocked.retain(|(blocked, ..), _| blocked != connection);
            }
            What::DecoderFailed { connection } => self.exchanges.retain(|id, _| id.connection != *connection),
            What::Requested { exchange, .. } if self.exchanges.len() < MAX_OPEN => {
                let open = Open { said: vec![observation.clone()], latest: observation.at, request_bytes: 0, response_bytes: 0 };
                self.exchanges.insert(*exchange, open);
            }
            What::Ended { exchange, .. } => {
                self.exchanges.remove(exchange);
                self.blocked.remove(&(exchange.connection, Some(exchange.stream), Blockage::StreamWindow));
            }
            What::Blocked { connection, stream, by, .. } if self.blocked.len() < MAX_OPEN => {
                self.blocked.insert((*connection, *stream, *by), observation.clone());
            }
            What::Unblocked { connection, stream, by } => {
                self.blocked.remove(&(*connection, *stream, *by));
            }
            What::Informed { exchange, .. }
            | What::Responded { exchange, .. }
            | What::Bytes { exchange, .. }
            | What::Understood { exchange, .. }
            | What::NotRead { exchange, .. }
            | What::Upgraded { exchange, .. }
            | What::BodyMissed { exchange, .. } => {
                if let Some(open) = self.exchanges.get_mut(exchange) {
                    open.note(observation);
                }
            }
            What::ConnectionOpened { .. }
            | What::Requested { .. }
            | What::GoAway { .. }
            | What::Blocked { .. }
            | What::Missed { .. }
            | What::Malformed { .. }
            | What::Dark { .. }
            | What::ResetInsteadOfRefused { .. }
            | What::ConnectFailed { .. }
            | What::Unobserved { .. }
            | What::Untold { .. }
            | What::ProbeMissed { .. }
            | What::NotProbed { .. }
            | What::Unrecorded { .. }
            | What::CaptureEnded { .. }
            | What::Unknown
            | What::ShutdownRequested
            | What::Tick => {}
        }
    }

    /// The observations that restate what is open. For a body under way they state its bytes so far, and that these were missed. A
    /// reader without the earlier parts lacks their content, so its counts are lower bounds.
    pub(super) fn observations(&self) -> impl Iterator<Item = Observation> {
        let alone = self.profiles.iter().chain(&self.listeners).map(|(_, latest)| latest.clone());
        let connections = self.connections.values().flatten().cloned();
        let exchanges = self.exchanges.iter().flat_map(|(id, open)| open.observations(*id));
        alone.chain(connections).chain(exchanges).chain(self.blocked.values().cloned())
    }
}

impl Open {
    fn note(&mut self, observation: &Observation) {
        self.latest = self.latest.max(observation.at);
        if let What::Bytes { direction, bytes, .. } = &observation.what {
            let sum = match direction {
                Direction::Request => &mut self.request_bytes,
                Direction::Response => &mut self.response_bytes,
            };
            *sum = sum.saturating_add(*bytes);
        } else if !is_of_a_batch(&observation.what) {
            keep(&mut self.said, observation);
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
            let what =
                if missed { What::BodyMissed { exchange, direction, bytes } } else { What::Bytes { exchange, direction, bytes } };
            Observation { at, what }
        });
        self.said.clone().into_iter().chain(sums)
    }
}

/// Whether an observation is left out because the byte sums stand for it.
fn is_of_a_batch(what: &What) -> bool {
    matches!(what, What::Understood { body: Body::Items(_) | Body::Events(_), .. } | What::BodyMissed { .. })
}

fn keep_latest(latest: &mut Vec<(UpstreamName, Observation)>, upstream: &UpstreamName, observation: &Observation) {
    let has_room = latest.len() < MAX_UPSTREAMS;
    match latest.iter_mut().find(|(name, _)| name == upstream) {
        Some((_, known)) => known.clone_from(observation),
        None if has_room => latest.push((upstream.clone(), observation.clone())),
        None => {}
    }
}

fn keep(said: &mut Vec<Observation>, observation: &Observation) {
    if said.len() < MAX_EACH {
        said.push(observation.clone());
    }
}
