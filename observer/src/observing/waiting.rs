//! What has to wait until its API server is known.
//!
//! A server is asked for its version when its first client comes, and the client's first request may be over before the answer is there.
//! What is put aside here keeps its charge against the intake's limits, so this is bounded as the intake is; and whoever asks gives up
//! after some seconds and says so.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use super::Upstream;
use crate::intake::{ConnectionId, Delivered, Delivery, Notice, TapEvent};

/// Puts deliveries aside, and gives them back in their order.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    names: BTreeMap<SocketAddr, String>,
    /// Servers of which nothing is known yet.
    unknown: BTreeSet<String>,
    /// Connections to them.
    connections: HashMap<ConnectionId, String>,
    aside: BTreeMap<String, Vec<Delivered>>,
}

impl Waiting {
    pub(super) fn new(upstreams: &[Upstream]) -> Self {
        let unknown = upstreams.iter().filter(|upstream| upstream.profile.is_none()).map(|upstream| upstream.name.clone());
        Self {
            names: upstreams.iter().map(|upstream| (upstream.listener, upstream.name.clone())).collect(),
            unknown: unknown.collect(),
            ..Self::default()
        }
    }

    /// What is to be decoded now that `delivered` has come: nothing, it alone, or with it what waited for it.
    pub(super) fn pass(&mut self, delivered: Delivered) -> Vec<Delivered> {
        if self.unknown.is_empty() {
            return vec![delivered];
        }
        if let Delivery::Notice(Notice::Profile { listener, .. }) = &delivered.delivery {
            let name = self.names.get(listener).cloned().unwrap_or_default();
            self.unknown.remove(&name);
            self.connections.retain(|_, upstream| *upstream != name);
            return std::iter::once(delivered).chain(self.aside.remove(&name).into_iter().flatten()).collect();
        }
        match self.waits_for(&delivered.delivery) {
            Some(name) => {
                self.aside.entry(name).or_default().push(delivered);
                Vec::new()
            }
            None => vec![delivered],
        }
    }

    /// All that still waits: nobody will come to say what it waits for.
    pub(super) fn give_up(&mut self) -> Vec<Delivered> {
        self.unknown.clear();
        std::mem::take(&mut self.aside).into_values().flatten().collect()
    }

    fn waits_for(&mut self, delivery: &Delivery) -> Option<String> {
        match delivery {
            Delivery::Connection(id, TapEvent::Opened { info, .. }) => {
                let name = self.names.get(&info.listener).filter(|name| self.unknown.contains(*name))?.clone();
                self.connections.insert(*id, name.clone());
                Some(name)
            }
            // One that is closed stays: its process may be told behind that.
            Delivery::Connection(
                id,
                TapEvent::Bytes { .. }
                | TapEvent::Fields { .. }
                | TapEvent::Gap { .. }
                | TapEvent::ClientBlocked { .. }
                | TapEvent::Ended { .. }
                | TapEvent::OutOfSight { .. }
                | TapEvent::Closed { .. },
            )
            | Delivery::Process(id, _) => self.connections.get(id).cloned(),
            Delivery::Notice(_) => None,
        }
    }
}
