//! §3.1, §2.4: resources without a watch cache.

use super::outcome::{Decision, ETCD, ETCD_OR_EVENT_504};
use crate::k8s::Verb;
use crate::routing::columns::{InitialEvents, Version};
use crate::routing::facts::Facts;
use crate::routing::rules;
use crate::routing::version::Release;

/// The first release whose etcd layer asks for the current revision before it sends initial events (kubernetes/apiserver
/// `pkg/storage/etcd3/watcher.go`, v0.29 to v0.37; measured on real servers, `docs/accuracy.md`).
const ASKS_FIRST: Release = Release::new(29, 0);

/// etcd always answers. If a streaming list asks for a revision that etcd has not reached, releases from 1.29 on send an `ERROR`
/// event with code 504.
pub(in crate::routing) fn decide_uncached(verb: Verb, facts: &Facts<'_>) -> Decision {
    let demands = facts.initial == InitialEvents::True && facts.version == Version::N;
    let answer = if verb == Verb::Watch && demands && facts.release >= ASKS_FIRST { &ETCD_OR_EVENT_504 } else { &ETCD };
    answer.by(rules::UNCACHED_RESOURCE)
}
