//! The API servers that clients reach, each with its profile and its revisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::history::Histories;
use super::limits::Limits;
use crate::exchange::{Exchange, MemoryUse, of_profile};
use crate::k8s::{Resource, Status};
use crate::observation::{Body, UpstreamName};
use crate::routing::{RevisionHistory, ServerProfile, ServerVersion, Verdict, lesson};
use crate::time::Timestamp;

/// One of several API servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UpstreamRecord {
    /// Its name, as users know it.
    pub upstream: UpstreamName,
    /// The known facts about it, with their basis.
    pub profile: ServerProfile,
    /// Client connections to it.
    pub connections: u64,
}

/// All API servers, bounded in number and memory.
#[derive(Debug)]
pub(super) struct Upstreams {
    known: BTreeMap<UpstreamName, Upstream>,
    most: usize,
    /// Memory of their profiles.
    memory: MemoryUse,
    /// The first API server that was named. While clients use none or several, a snapshot shows the profile of this one.
    first: Option<UpstreamName>,
    unknown: ServerProfile,
}

#[derive(Debug, Default)]
struct Upstream {
    profile: ServerProfile,
    /// Memory of the profile as it was counted, in bytes.
    counted_memory: usize,
    /// Latest profiles of servers of other versions at the same address.
    others: Vec<OtherVersion>,
    histories: Histories,
    connections: u64,
}

/// The profile of a server of another version, which connections share.
#[derive(Debug)]
struct OtherVersion {
    profile: Arc<ServerProfile>,
    /// Whether it was derived from the address's current profile, not from an earlier one.
    is_current: bool,
}

/// There is no room for another API server, or for its profile.
pub(super) struct TooMany;

impl Upstreams {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            known: BTreeMap::new(),
            most: limits.upstreams,
            memory: MemoryUse::of(limits.profiles_memory),
            first: None,
            unknown: ServerProfile::default(),
        }
    }

    pub(super) fn learn(&mut self, name: &UpstreamName, profile: ServerProfile) -> Result<(), TooMany> {
        let (mut memory, counted) = (self.memory, of_profile(&profile));
        memory.remove(self.known.get(name).map_or(0, |upstream| upstream.counted_memory));
        if !memory.has_room(counted) {
            return Err(TooMany);
        }
        memory.add(counted);
        let upstream = self.entry(name)?;
        upstream.profile = profile;
        upstream.counted_memory = counted;
        upstream.others.iter_mut().for_each(|other| other.is_current = false);
        self.memory = memory;
        Ok(())
    }

    /// The profile of a server with `version`, at an address whose known profile has another version. Returns `None` if the address
    /// is unknown, or connections already hold too many such profiles.
    pub(super) fn another(&mut self, name: &UpstreamName, version: &ServerVersion) -> Option<Arc<ServerProfile>> {
        /// Maximum number of other versions per address; a rolling upgrade has one.
        const MOST: usize = 4;
        let upstream = self.known.get_mut(name)?;
        upstream.others.retain(|other| Arc::strong_count(&other.profile) > 1);
        let is_it = |other: &&OtherVersion| other.is_current && other.profile.version.as_ref() == Some(version);
        if let Some(other) = upstream.others.iter().find(is_it) {
            return Some(Arc::clone(&other.profile));
        }
        if upstream.others.len() >= MOST {
            return None;
        }
        let profile = Arc::new(upstream.profile.of_another_version(version.clone()));
        upstream.others.push(OtherVersion { profile: Arc::clone(&profile), is_current: true });
        Some(profile)
    }

    pub(super) fn connected(&mut self, name: &UpstreamName) -> Result<(), TooMany> {
        let upstream = self.entry(name)?;
        upstream.connections = upstream.connections.saturating_add(1);
        Ok(())
    }

    /// The profile of a server, and the revisions of a resource on it.
    pub(super) fn known_of(&self, name: &UpstreamName, resource: Option<&Resource>) -> (&ServerProfile, Option<&RevisionHistory>) {
        let Some(upstream) = self.known.get(name) else { return (&self.unknown, None) };
        (&upstream.profile, resource.and_then(|resource| upstream.histories.of(resource)))
    }

    /// The highest revision that a server has shown in the etcd that stores `resource`.
    pub(super) fn shown_by(&self, name: &UpstreamName, resource: &Resource) -> Option<u64> {
        self.known.get(name)?.histories.shown(resource)
    }

    /// Learns from an answer that contradicted its verdict. Returns the profile if it changed.
    pub(super) fn learn_from(
        &mut self,
        name: &UpstreamName,
        verdict: &Verdict,
        refusal: Option<&Status>,
    ) -> Option<&ServerProfile> {
        let profile = &mut self.known.get_mut(name)?.profile;
        let (gate, on) = lesson(profile, verdict, refusal)?;
        profile.note_answer(gate, on);
        Some(profile)
    }

    /// Notes that a list of a server had a lower revision than the server had shown before.
    pub(super) fn went_back(&mut self, name: &UpstreamName, resource: &Resource, revision: u64) {
        if let Some(upstream) = self.known.get_mut(name) {
            upstream.histories.went_back(resource, revision);
        }
    }

    /// Learns the revisions in a part of an answer. Returns whether the answer shows that earlier revisions are gone.
    pub(super) fn learn_revision(&mut self, exchange: &Exchange, at: Timestamp, body: &Body, limits: &Limits) -> bool {
        let has_room = self.known.values().map(|upstream| upstream.histories.len()).sum::<usize>() < limits.histories;
        self.known.get_mut(&exchange.upstream).is_some_and(|upstream| upstream.histories.learn(exchange, at, body, has_room))
    }

    /// Forgets the revisions of a server that was restarted, or may have been: its snapshots are gone.
    pub(super) fn forget(&mut self, name: &UpstreamName) {
        if let Some(upstream) = self.known.get_mut(name) {
            upstream.histories.forget();
        }
    }

    /// Forgets the revisions of all servers: any of them may have been restarted.
    pub(super) fn forget_all(&mut self) {
        self.known.values_mut().for_each(|upstream| upstream.histories.forget());
    }

    /// Whether clients have used several API servers, so that records must name them.
    pub(super) fn several(&self) -> bool {
        self.used().nth(1).is_some()
    }

    /// The profile of the only API server that clients have used. If they used none or several, the profile of the API server that
    /// was named first.
    pub(super) fn main_profile(&self) -> &ServerProfile {
        match (self.used().next(), self.several()) {
            (Some((_, upstream)), false) => &upstream.profile,
            (Some(_), true) | (None, _) => self.first.as_ref().map_or(&self.unknown, |first| self.known_of(first, None).0),
        }
    }

    /// The API servers that clients have used; empty if there is only one.
    pub(super) fn records(&self) -> Vec<UpstreamRecord> {
        if !self.several() {
            return Vec::new();
        }
        let record = |(name, upstream): (&UpstreamName, &Upstream)| UpstreamRecord {
            upstream: name.clone(),
            profile: upstream.profile.clone(),
            connections: upstream.connections,
        };
        self.used().map(record).collect()
    }

    /// All known API servers: their names, and the profile of each version there.
    pub(super) fn all(&self) -> impl Iterator<Item = (&UpstreamName, impl Iterator<Item = &ServerProfile>)> {
        self.known.iter().map(|(name, upstream)| {
            let others = upstream.others.iter().filter(|other| other.is_current).map(|other| &*other.profile);
            (name, [&upstream.profile].into_iter().chain(others))
        })
    }

    fn used(&self) -> impl Iterator<Item = (&UpstreamName, &Upstream)> {
        self.known.iter().filter(|(_, upstream)| upstream.connections > 0)
    }

    fn entry(&mut self, name: &UpstreamName) -> Result<&mut Upstream, TooMany> {
        if !self.known.contains_key(name) && self.known.len() >= self.most {
            return Err(TooMany);
        }
        self.first.get_or_insert_with(|| name.clone());
        Ok(self.known.entry(name.clone()).or_default())
    }
}
