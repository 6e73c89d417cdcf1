//! Facts about API servers: their profiles, their listeners, and the versions that clients were given.

use super::event::Event;
use super::observe::Observer;
use crate::observation::{ConnectionId, ListenerState, UpstreamName, UpstreamObservation};
use crate::routing::{Basis, ServerProfile, ServerVersion};
use crate::time::Timestamp;

impl Observer {
    pub(super) fn observe_upstream(
        &mut self,
        upstream: UpstreamName,
        at: Timestamp,
        observed: UpstreamObservation,
        emit: &mut dyn FnMut(Event),
    ) {
        match observed {
            UpstreamObservation::Profile { profile } => {
                if self.upstreams.learn(&upstream, ServerProfile::clone(&profile)).is_ok() {
                    emit(Event::Profile { at, upstream, profile });
                } else {
                    self.missed.upstreams_dropped = self.missed.upstreams_dropped.saturating_add(1);
                }
            }
            UpstreamObservation::Listener { state } => {
                if state == ListenerState::Refusing {
                    self.upstreams.forget(&upstream);
                }
                self.following.listener(&upstream, state, at);
                self.outages.note(&upstream, state, at);
                emit(Event::Listener { at, upstream, state });
            }
        }
    }

    /// Learns the version that a client was given. If no version was known, this is the server's version. If another version was
    /// known, the address leads to several servers (a rolling upgrade), and this connection leads to a server with `version`. A
    /// version from a flag is never replaced.
    pub(super) fn learn_version(
        &mut self,
        connection: ConnectionId,
        version: &ServerVersion,
        at: Timestamp,
        emit: &mut dyn FnMut(Event),
    ) {
        let upstream = self.upstream_of(connection);
        let known = self.upstreams.known_of(&upstream, None).0;
        if known.provenance.version == Basis::Flag {
            return;
        }
        if known.version.is_none() {
            let profile = Box::new(known.of_another_version(version.clone()));
            if self.upstreams.learn(&upstream, ServerProfile::clone(&profile)).is_ok() {
                emit(Event::Profile { at, upstream, profile });
            } else {
                self.missed.upstreams_dropped = self.missed.upstreams_dropped.saturating_add(1);
            }
            return;
        }
        let other = (known.version.as_ref() != Some(version)).then(|| self.upstreams.another(&upstream, version)).flatten();
        if let Some(connection) = self.connections.get_mut(connection) {
            connection.profile = other;
        }
    }
}
