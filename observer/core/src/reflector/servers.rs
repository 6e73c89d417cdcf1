//! Facts about API servers that show why a revision expired, or a watch was lost or is deaf: refused connections, newest revisions,
//! and evidence that a resource changed.

use std::collections::BTreeMap;

use super::signs::{ChangeSource, Sign, Signs, Silent};
use crate::k8s::Resource;
use crate::observation::{Body, ListenerState, UpstreamName};
use crate::routing::is_in_main_etcd;
use crate::thresholds::PROOF_OF_DEAFNESS;
use crate::time::Timestamp;
use crate::wire::ObjectRef;

/// A period in which an API server refused connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    pub from: Timestamp,
    pub until: Option<Timestamp>,
}

/// All API servers, bounded.
#[derive(Debug)]
pub(super) struct Servers {
    known: BTreeMap<UpstreamName, Server>,
    limit: usize,
    /// Bound for the resources of all API servers together.
    resources: usize,
}

/// One API server.
#[derive(Debug, Default)]
pub(super) struct Server {
    /// The last period in which it refused connections.
    refusal: Option<Refusal>,
    resources: KnownResources,
    /// Newest revision of all resources that share an etcd by default.
    newest_of_all: Option<u64>,
    /// The revision of the etcd that most resources share, and the time of the request that read it: the last one for the newest
    /// state.
    current: Option<(u64, Timestamp)>,
}

/// The resources of an API server, by plural name and group.
#[derive(Debug, Default)]
struct KnownResources {
    by_name: BTreeMap<String, Vec<(String, KnownResource)>>,
    number: usize,
}

/// One resource of an API server.
#[derive(Debug, Default)]
struct KnownResource {
    /// Newest revision seen, and when it was first seen.
    newest: Option<(u64, Timestamp)>,
    signs: Box<Signs>,
}

/// A revision that a response showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub revision: u64,
    /// Time of the request, if it asked for the newest state.
    pub newest_at: Option<Timestamp>,
}

impl Servers {
    pub(super) const fn new(limit: usize, resources: usize) -> Self {
        Self { known: BTreeMap::new(), limit, resources }
    }

    pub(super) fn get(&self, name: &UpstreamName) -> Option<&Server> {
        self.known.get(name)
    }

    pub(super) fn listener(&mut self, name: &UpstreamName, state: ListenerState, at: Timestamp) {
        let Some(server) = self.entry(name) else { return };
        match state {
            ListenerState::Refusing => server.refusal = Some(Refusal { from: at, until: None }),
            ListenerState::Listening => {
                if let Some(refusal) = &mut server.refusal {
                    refusal.until.get_or_insert(at);
                }
            }
        }
    }

    /// Notes a decoded part of a body with its source, and the revision that the body shows, if any. If a request for the newest
    /// state gets a lower revision than one seen before that request, etcd was restored. The higher revisions are then dropped.
    pub(super) fn heard(
        &mut self,
        name: &UpstreamName,
        resource: &Resource,
        at: Timestamp,
        (body, source): (&Body, ChangeSource),
        shown: Option<Shown>,
    ) {
        if shown.is_none() && !matches!(body, Body::Events(_)) {
            return;
        }
        let others: usize = self.known.iter().filter(|(other, _)| *other != name).map(|(_, server)| server.resources.number).sum();
        let room = self.resources.saturating_sub(others);
        let Some(server) = self.entry(name) else { return };
        if let Some(shown) = shown {
            let before =
                server.resources.get(resource).and_then(|known| known.newest).filter(|(newest, _)| *newest > shown.revision);
            let went_back = before.zip(shown.newest_at).is_some_and(|((_, seen), asked)| seen < asked);
            server.note_shown(resource, shown, went_back);
        }
        let Some(known) = server.resources.entry(resource, room) else { return };
        known.signs.note(at, body, source);
        if let Some(Shown { revision, .. }) = shown.filter(|shown| known.newest.is_none_or(|(newest, _)| shown.revision > newest)) {
            known.newest = Some((revision, at));
        }
    }

    /// Notes an object in the answer to a write.
    pub(super) fn wrote(&mut self, name: &UpstreamName, resource: &Resource, at: Timestamp, object: &ObjectRef) {
        let known = self.known.get_mut(name).and_then(|server| server.resources.get_mut(resource));
        if let Some(known) = known {
            known.signs.note_object(at, object, ChangeSource::Etcd);
        }
    }

    fn entry(&mut self, name: &UpstreamName) -> Option<&mut Server> {
        if !self.known.contains_key(name) {
            if self.known.len() >= self.limit {
                return None;
            }
            self.known.insert(name.clone(), Server::default());
        }
        self.known.get_mut(name)
    }
}

impl Server {
    /// The period in which the server refused connections, if it overlaps the time from `from` to `until`.
    pub(super) fn refused_between(&self, from: Timestamp, until: Timestamp) -> Option<Refusal> {
        self.refusal.filter(|refusal| refusal.from <= until && refusal.until.is_none_or(|end| end >= from))
    }

    /// The newest revision seen in the etcd that stores `resource`.
    pub(super) fn newest_beside(&self, resource: &Resource) -> Option<u64> {
        if is_in_one_etcd(resource) { self.newest_of_all } else { self.newest(resource) }
    }

    /// The newest revision seen of `resource`.
    pub(super) fn newest(&self, resource: &Resource) -> Option<u64> {
        self.resources.get(resource).and_then(|known| known.newest).map(|(newest, _)| newest)
    }

    /// The revision of the etcd that stores `resource`, and the time of the request that read this revision. `None` without such a
    /// request, or if the resource may be in another etcd.
    pub(super) fn current(&self, resource: &Resource) -> Option<(u64, Timestamp)> {
        self.current.filter(|_| is_in_main_etcd(resource))
    }

    /// A sign of `resource` that proves a silent watch deaf.
    pub(super) fn proof(&self, resource: &Resource, silent: Silent<'_>, now: Timestamp) -> Option<Sign> {
        self.resources.get(resource)?.signs.proof(silent, now, PROOF_OF_DEAFNESS)
    }

    fn note_shown(&mut self, resource: &Resource, shown: Shown, went_back: bool) {
        let revision = shown.revision;
        if went_back {
            self.resources.retain(|known| known.newest.is_none_or(|(newest, _)| newest <= revision));
            self.newest_of_all = None;
        }
        if !is_in_one_etcd(resource) {
            return;
        }
        self.newest_of_all = self.newest_of_all.max(Some(revision));
        if let Some(asked) = shown.newest_at.filter(|_| is_in_main_etcd(resource)) {
            self.current = Some((revision, asked));
        }
    }
}

impl KnownResources {
    fn get(&self, resource: &Resource) -> Option<&KnownResource> {
        let groups = self.by_name.get(&resource.resource)?;
        groups.iter().find(|(group, _)| *group == resource.group).map(|(_, known)| known)
    }

    fn get_mut(&mut self, resource: &Resource) -> Option<&mut KnownResource> {
        let groups = self.by_name.get_mut(&resource.resource)?;
        groups.iter_mut().find(|(group, _)| *group == resource.group).map(|(_, known)| known)
    }

    /// The resource, added if fewer than `room` resources are kept.
    fn entry(&mut self, resource: &Resource, room: usize) -> Option<&mut KnownResource> {
        if self.get(resource).is_none() {
            if self.number >= room {
                return None;
            }
            self.number += 1;
            let groups = self.by_name.entry(resource.resource.clone()).or_default();
            groups.push((resource.group.clone(), KnownResource::default()));
        }
        self.get_mut(resource)
    }

    fn retain(&mut self, is_kept: impl Fn(&KnownResource) -> bool) {
        for groups in self.by_name.values_mut() {
            groups.retain(|(_, known)| is_kept(known));
        }
        self.number = self.by_name.values().map(Vec::len).sum();
    }
}

/// Whether a resource is in the etcd that all resources share by default. Flags often move events to another one.
fn is_in_one_etcd(resource: &Resource) -> bool {
    resource.resource != "events"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusal_is_found_in_overlapping_intervals() {
        let mut servers = Servers::new(4, 4);
        let name = UpstreamName("a:6443".to_owned());
        servers.listener(&name, ListenerState::Refusing, at(10));
        let open_end = |servers: &Servers, from, until| servers.get(&name).unwrap().refused_between(at(from), at(until)).is_some();
        assert!(!open_end(&servers, 1, 9));
        assert!(open_end(&servers, 1, 10) && open_end(&servers, 11, 12));
        servers.listener(&name, ListenerState::Listening, at(20));
        assert!(open_end(&servers, 20, 30) && !open_end(&servers, 21, 30));
        servers.listener(&name, ListenerState::Listening, at(40));
        assert!(!open_end(&servers, 30, 50));
    }

    #[test]
    fn newest_revision_decreases_only_on_a_later_consistent_read() {
        let mut servers = Servers::new(1, 1);
        let (one, two) = (name("a"), name("b"));
        shown(&mut servers, &one, "pods", (7, 1, Some(1)));
        shown(&mut servers, &one, "pods", (5, 2, None));
        shown(&mut servers, &one, "secrets", (9, 3, Some(3)));
        shown(&mut servers, &two, "pods", (9, 4, Some(4)));
        let server = servers.get(&one).unwrap();
        assert_eq!((server.newest(&resource("pods")), server.newest(&resource("secrets"))), (Some(7), None));
        assert_eq!(server.newest_beside(&resource("secrets")), Some(9));
        shown(&mut servers, &one, "pods", (6, 5, Some(1)));
        assert_eq!(servers.get(&one).unwrap().newest(&resource("pods")), Some(7), "asked for before the other was shown");
        shown(&mut servers, &one, "pods", (6, 6, Some(6)));
        let server = servers.get(&one).unwrap();
        assert_eq!((server.newest(&resource("pods")), server.newest_beside(&resource("secrets"))), (Some(6), Some(6)));
        assert_eq!(server.current(&resource("nodes")), Some((6, at(6))));
        assert_eq!(server.current(&resource("events")), None, "perhaps in another etcd");
        assert!(servers.get(&two).is_none());
    }

    #[test]
    fn resources_of_all_servers_together_are_bounded() {
        let mut servers = Servers::new(2, 3);
        let (one, two) = (name("a"), name("b"));
        for (server, plural) in [(&one, "pods"), (&one, "nodes"), (&two, "pods"), (&two, "nodes"), (&one, "leases")] {
            shown(&mut servers, server, plural, (7, 1, None));
        }
        let known = |server| servers.get(server).unwrap().resources.number;
        assert_eq!((known(&one), known(&two)), (2, 1));
    }

    /// A revision, the second at which it is shown, and that of the request for the newest state.
    fn shown(servers: &mut Servers, name: &UpstreamName, plural: &str, (revision, second, asked): (u64, u64, Option<u64>)) {
        let shown = Shown { revision, newest_at: asked.map(at) };
        servers.heard(name, &resource(plural), at(second), (&Body::Kind(String::new()), ChangeSource::Etcd), Some(shown));
    }

    fn name(name: &str) -> UpstreamName {
        UpstreamName(name.to_owned())
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }

    fn resource(name: &str) -> Resource {
        Resource { group: String::new(), version: "v1".to_owned(), resource: name.to_owned() }
    }
}
