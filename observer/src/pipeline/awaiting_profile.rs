//! Holds deliveries back until the profile of their API server is known.
//!
//! watchtap asks a server for its version when the first client connects, and that client's first request may be over before the
//! answer arrives. Deliveries that wait still count towards the intake's limits, which bound them. The task that asks the server
//! stops after a few seconds without an answer, and reports an unknown profile.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Upstream;
use crate::api_server::UpstreamId;
use crate::intake::{ConnectionId, Delivered, Delivery, Notice, TapEvent};

/// Holds deliveries back, and returns them in their order.
#[derive(Debug, Default)]
pub(super) struct AwaitingProfile {
    /// Servers whose profile is unknown.
    unknown: BTreeSet<UpstreamId>,
    /// Connections to these servers.
    connections: HashMap<ConnectionId, UpstreamId>,
    aside: BTreeMap<UpstreamId, Vec<Delivered>>,
}

impl AwaitingProfile {
    pub(super) fn new(upstreams: &[Upstream]) -> Self {
        let unknown = upstreams.iter().filter(|upstream| upstream.profile.is_none()).map(|upstream| upstream.id);
        Self { unknown: unknown.collect(), ..Self::default() }
    }

    /// Takes the next delivery. Returns the deliveries to decode now: none, only `delivered`, or `delivered` and those that waited
    /// for it.
    pub(super) fn pass(&mut self, delivered: Delivered) -> Vec<Delivered> {
        if self.unknown.is_empty() {
            return vec![delivered];
        }
        if let Delivery::Notice(Notice::Profile { upstream, .. }) = &delivered.delivery {
            let known = *upstream;
            self.unknown.remove(&known);
            self.connections.retain(|_, upstream| *upstream != known);
            return std::iter::once(delivered).chain(self.aside.remove(&known).into_iter().flatten()).collect();
        }
        match self.waits_for(&delivered.delivery) {
            Some(upstream) => {
                self.aside.entry(upstream).or_default().push(delivered);
                Vec::new()
            }
            None => vec![delivered],
        }
    }

    /// Returns all deliveries that still wait. For the end of a run, when no profile can arrive any more.
    pub(super) fn give_up(&mut self) -> Vec<Delivered> {
        self.unknown.clear();
        std::mem::take(&mut self.aside).into_values().flatten().collect()
    }

    fn waits_for(&mut self, delivery: &Delivery) -> Option<UpstreamId> {
        match delivery {
            Delivery::Connection(id, TapEvent::Opened { info, .. }) => {
                let upstream = info.upstream.filter(|upstream| self.unknown.contains(upstream))?;
                self.connections.insert(*id, upstream);
                Some(upstream)
            }
            // A closed connection stays in the map: its process may be reported later.
            Delivery::Connection(
                id,
                TapEvent::Bytes { .. }
                | TapEvent::Fields { .. }
                | TapEvent::Gap { .. }
                | TapEvent::ClientBlocked { .. }
                | TapEvent::Ended { .. }
                | TapEvent::NotObserved { .. }
                | TapEvent::Closed { .. },
            )
            | Delivery::Process(id, _) => self.connections.get(id).copied(),
            Delivery::Notice(_) => None,
        }
    }
}
