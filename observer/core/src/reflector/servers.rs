//! Facts about API servers that show why a revision expired or a watch was lost: refused connections and newest revisions.

use std::collections::BTreeMap;

use crate::k8s::Resource;
use crate::observation::{ListenerState, UpstreamName};
use crate::time::Timestamp;

/// A time in which an API server refused connections.
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
    /// The last time in which it refused connections.
    refusal: Option<Refusal>,
    /// Newest revision seen per resource (group and plural name), and when it was first seen.
    newest: BTreeMap<(String, String), (u64, Timestamp)>,
    /// Newest revision of all resources that share an etcd by default.
    newest_of_all: Option<u64>,
}

/// A revision that a response showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown {
    pub revision: u64,
    pub at: Timestamp,
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

    /// Notes a revision that a response showed. If the newest state is below a revision shown earlier, etcd was restored, and the
    /// higher revisions are dropped.
    pub(super) fn shown(&mut self, name: &UpstreamName, resource: &Resource, shown: Shown) {
        let others: usize = self.known.iter().filter(|(other, _)| *other != name).map(|(_, server)| server.newest.len()).sum();
        let room = self.resources.saturating_sub(others);
        let Some(server) = self.entry(name) else { return };
        let Shown { revision, at, newest_at } = shown;
        let key = (resource.group.clone(), resource.resource.clone());
        let before = server.newest.get(&key).filter(|(newest, _)| *newest > revision);
        if before.zip(newest_at).is_some_and(|((_, shown), asked)| *shown < asked) {
            server.newest.retain(|_, (newest, _)| *newest <= revision);
            server.newest_of_all = None;
        }
        if is_in_one_etcd(resource) {
            server.newest_of_all = server.newest_of_all.max(Some(revision));
        }
        if let Some(newest) = server.newest.get_mut(&key) {
            if revision > newest.0 {
                *newest = (revision, at);
            }
        } else if server.newest.len() < room {
            server.newest.insert(key, (revision, at));
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
    /// The refusal that overlaps the time from `from` to `until`, if any.
    pub(super) fn refused_between(&self, from: Timestamp, until: Timestamp) -> Option<Refusal> {
        self.refusal.filter(|refusal| refusal.from <= until && refusal.until.is_none_or(|end| end >= from))
    }

    /// The newest revision seen in the etcd that stores `resource`.
    pub(super) fn newest_beside(&self, resource: &Resource) -> Option<u64> {
        if is_in_one_etcd(resource) { self.newest_of_all } else { self.newest(resource) }
    }

    /// The newest revision seen of `resource`.
    pub(super) fn newest(&self, resource: &Resource) -> Option<u64> {
        // The key is cloned: a borrowed key would need a type of its own, and this runs only once per row of a snapshot.
        self.newest.get(&(resource.group.clone(), resource.resource.clone())).map(|(newest, _)| *newest)
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
        let (one, two) = (UpstreamName("a".to_owned()), UpstreamName("b".to_owned()));
        let newest = |revision, second| Shown { revision, at: at(second), newest_at: Some(at(second)) };
        let later = |revision, second| Shown { newest_at: None, ..newest(revision, second) };
        servers.shown(&one, &resource("pods"), newest(7, 1));
        servers.shown(&one, &resource("pods"), later(5, 2));
        servers.shown(&one, &resource("secrets"), newest(9, 3));
        servers.shown(&two, &resource("pods"), newest(9, 4));
        let server = servers.get(&one).unwrap();
        assert_eq!((server.newest(&resource("pods")), server.newest(&resource("secrets"))), (Some(7), None));
        assert_eq!(server.newest_beside(&resource("secrets")), Some(9));
        servers.shown(&one, &resource("pods"), Shown { newest_at: Some(at(1)), ..newest(6, 5) });
        assert_eq!(servers.get(&one).unwrap().newest(&resource("pods")), Some(7), "asked for before the other was shown");
        servers.shown(&one, &resource("pods"), newest(6, 6));
        let server = servers.get(&one).unwrap();
        assert_eq!((server.newest(&resource("pods")), server.newest_beside(&resource("secrets"))), (Some(6), Some(6)));
        assert!(servers.get(&two).is_none());
    }

    #[test]
    fn resources_of_all_servers_together_are_bounded() {
        let mut servers = Servers::new(2, 3);
        let (one, two) = (UpstreamName("a".to_owned()), UpstreamName("b".to_owned()));
        for (server, name) in [(&one, "pods"), (&one, "nodes"), (&two, "pods"), (&two, "nodes"), (&one, "leases")] {
            servers.shown(server, &resource(name), Shown { revision: 7, at: at(1), newest_at: None });
        }
        let known = |server| servers.get(server).unwrap().newest.len();
        assert_eq!((known(&one), known(&two)), (2, 1));
    }

    fn at(second: u64) -> Timestamp {
        Timestamp::from_nanos(second * 1_000_000_000)
    }

    fn resource(name: &str) -> Resource {
        Resource { group: String::new(), version: "v1".to_owned(), resource: name.to_owned() }
    }
}
