//! Numbers of API servers, and of the connections to them.

use std::collections::BTreeSet;

use crate::observation::Plaintext;
use crate::observer::observe::Observer;
use crate::routing::ServerProfile;
use crate::series::{DirectionWord, Family, Label, LabelSet, ProtocolWord, Series, SourceWord};

impl Observer {
    pub(super) fn add_servers(&self, series: &mut Series) {
        let refusing: BTreeSet<_> = self.outages.lasting().map(|outage| &outage.upstream).collect();
        let known = self.upstreams.all().map(|(name, _)| name);
        // A server that refused its first connection is known only by its refusal.
        for name in known.chain(refusing.iter().copied()) {
            let labels = LabelSet::of(Label::Upstream, series.text(Label::Upstream, &name.0));
            series.raise_to(Family::UpstreamRefusing, &labels, u64::from(refusing.contains(name)));
        }
        for (name, profiles) in self.upstreams.all() {
            let labels = LabelSet::of(Label::Upstream, series.text(Label::Upstream, &name.0));
            for ServerProfile { version, provenance, .. } in profiles {
                let version = version.as_ref().map(ToString::to_string).unwrap_or_default();
                let labels = labels
                    .with(Label::ServerVersion, series.text(Label::ServerVersion, &version))
                    .with(Label::Source, SourceWord::of(provenance.version).number());
                series.raise_to(Family::UpstreamInfo, &labels, 1);
            }
        }
        for connection in self.connections.values_unordered().filter(|connection| connection.is_open) {
            let protocol = ProtocolWord::of(connection.protocol).number();
            series.add(Family::ConnectionsOpen, &LabelSet::of(Label::Protocol, protocol), 1);
        }
        for (family, bytes) in [(Family::ForwardedBytes, self.totals.forwarded), (Family::ObservedBytes, self.totals.observed)] {
            let Plaintext { request, response } = bytes;
            for (direction, bytes) in [(DirectionWord::Request, request), (DirectionWord::Response, response)] {
                series.add(family, &LabelSet::of(Label::Direction, direction.number()), bytes);
            }
        }
    }
}
