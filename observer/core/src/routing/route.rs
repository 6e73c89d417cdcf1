//! Gives the verdict on a request. Each combination of possible values for the unknown facts is a world, and each world is looked
//! up in the tables. If all worlds agree, the verdict is known.

use std::collections::BTreeSet;

use super::columns::{Keys, Snapshot};
use super::etcd_read::{EtcdRead, etcd_reads};
use super::facts::{Facts, World, named_revision, possible_keys};
use super::history::Coverage;
use super::keys::is_virtual;
use super::rules::{self, ReadsOf, RuleId};
use super::served_from::{Certainty, Layer, ServedFrom, UnknownReason};
use super::tables::{Decision, boundaries, decide_get, decide_list, decide_refusal, decide_uncached, decide_watch};
use super::verdict::{Alternative, CacheState, Question, Verdict};
use super::version::{Release, ServerVersion};
use crate::k8s::{RequestInfo, Resource, ResourceVersion, Verb};

/// Subresources whose get reads the object, then connects to a node or a pod. A get of any other subresource returns the object or
/// a part of it.
const CONNECTING: [&str; 6] = ["attach", "exec", "log", "metrics", "portforward", "proxy"];

/// The first release whose deletecollection lists in pages of 10 000 if no limit is given. This limit makes a list with a
/// `resourceVersion` exact (kubernetes/apiserver `pkg/registry/generic/registry/store.go` `deleteCollectionPageSize`, v0.28 to
/// v0.37; absent in v0.27.0).
const DELETES_IN_PAGES: Release = Release::new(28, 0);

/// The first release that checks whether the watch cache is ready before it asks etcd for its current revision
/// (kubernetes/apiserver `pkg/storage/cacher/delegator.go` `GetList`, v0.34 and later; watches check first in every version).
const LOOKS_FIRST: Release = Release::new(34, 0);

/// The remark on a verdict without a version.
pub(super) const SAME_IN_ALL: &str = "the same in each version from 1.16 to 1.37, with its defaults";

/// The answer if no row covers a request. A test proves that this never happens.
const NO_RULE: ServedFrom = ServedFrom::Unknown { reason: UnknownReason::NoRule, remaining: Vec::new() };

/// Which layer answers. `None` if the request returns no stored objects: non-resource requests, writes, the legacy `/proxy/`
/// prefix, and resources that are not stored. Reads that a write causes do not count, except the list at the beginning of a
/// deletecollection.
pub fn route(question: &Question<'_>) -> Option<Verdict> {
    let resource = match read_resource(question) {
        Ok(resource) => resource,
        Err(verdict) => return verdict.map(|verdict| *verdict),
    };
    let Some(version) = &question.profile.version else {
        return Some(AnyVersion::of(question, resource).verdict(question, resource));
    };
    if version.is_too_old() {
        let remaining = vec![Layer::Cache, Layer::Etcd];
        return Some(Verdict::certain(
            ServedFrom::Unknown { reason: UnknownReason::VersionTooOld, remaining },
            rules::UNKNOWN_VERSION_TOO_OLD,
        ));
    }
    let releases = version.releases(boundaries);
    let worlds = World::all(question, resource, releases);
    let mut verdict = agree(question, resource, &worlds);
    verdict.notes = notes(question, resource, Some(version), &verdict);
    verdict.asks_before_ready = question.info.verb != Verb::Watch && version.release() < LOOKS_FIRST;
    Some(verdict)
}

/// The resource whose stored objects a request reads, from this API server. For any other request, its verdict.
pub(super) fn read_resource<'q>(question: &Question<'q>) -> Result<&'q Resource, Option<Box<Verdict>>> {
    let reads = matches!(question.info.verb, Verb::Get | Verb::List | Verb::Watch | Verb::DeleteCollection);
    match question.info.resource.as_ref().filter(|resource| reads && !is_virtual(resource)) {
        None => Err(None),
        Some(resource) if question.profile.is_aggregated(resource) => {
            Err(Some(Box::new(Verdict::certain(ServedFrom::Proxied, rules::AGGREGATED_API))))
        }
        Some(resource) => Ok(resource),
    }
}

/// The answer to a request by a server of an unknown version.
#[derive(Clone, Debug)]
pub(super) enum AnyVersion {
    /// All known versions decide alike.
    Alike(Decision),
    /// They do not: each of these layers answers in some version.
    Layers(Vec<Layer>),
}

impl AnyVersion {
    pub(super) fn of(question: &Question<'_>, resource: &Resource) -> Self {
        let worlds = World::all(question, resource, boundaries().iter().copied());
        let decisions: Vec<Decision> = worlds.into_iter().map(|world| decide(question, resource, world)).collect();
        match decisions.split_first() {
            Some((first, rest)) if first.served_from != NO_RULE && rest.iter().all(|decision| decision == first) => {
                Self::Alike(first.clone())
            }
            _ => {
                let layers = decisions.iter().flat_map(|decision| decision.served_from.layers());
                Self::Layers(layers.collect::<BTreeSet<_>>().into_iter().collect())
            }
        }
    }

    /// The verdict on the request. It has no reads from etcd, since these depend on the version.
    pub(super) fn verdict(&self, question: &Question<'_>, resource: &Resource) -> Verdict {
        match self {
            Self::Alike(Decision { served_from, otherwise, rule }) => {
                let verdict = Verdict { otherwise: *otherwise, ..Verdict::certain(served_from.clone(), *rule) };
                Verdict { notes: notes(question, resource, None, &verdict), ..verdict }
            }
            Self::Layers(remaining) => {
                let reason = UnknownReason::VersionUnknown;
                let remaining = remaining.clone();
                Verdict::certain(ServedFrom::Unknown { reason, remaining }, rules::rule_of(reason))
            }
        }
    }
}

/// The verdict on a request that was sent before its connection was observed, or that cannot be decoded without the earlier bytes.
pub fn attached_late() -> Verdict {
    let reason = UnknownReason::AttachedLate;
    Verdict::certain(ServedFrom::Unknown { reason, remaining: Vec::new() }, rules::rule_of(reason))
}

/// If all worlds have the same layer, the verdict with that layer. Otherwise an unknown verdict, with the different decisions as
/// alternatives.
fn agree(question: &Question<'_>, resource: &Resource, worlds: &[World]) -> Verdict {
    let decisions: Vec<Decision> = worlds.iter().map(|world| decide(question, resource, *world)).collect();
    let (Some(first), Some(world)) = (decisions.first(), worlds.first()) else {
        return Verdict::certain(NO_RULE, rules::UNKNOWN_NO_RULE);
    };
    if decisions.iter().all(|decision| decision.served_from == first.served_from) {
        let reads = reads_of(question, *world, first);
        let fallback_reads = fallback_reads(question, *world, first);
        return Verdict {
            otherwise: first.otherwise,
            reads,
            fallback_reads,
            ..Verdict::certain(first.served_from.clone(), first.rule)
        };
    }
    unknown(question, resource, reason(worlds, &decisions), worlds)
}

fn unknown(question: &Question<'_>, resource: &Resource, reason: UnknownReason, worlds: &[World]) -> Verdict {
    let mut alternatives: Vec<Alternative> = Vec::new();
    let mut remaining = BTreeSet::new();
    for world in worlds {
        let decision = decide(question, resource, *world);
        remaining.extend(decision.served_from.layers());
        if alternatives.iter().any(|known| known.rule == decision.rule) {
            continue;
        }
        let reads = reads_of(question, *world, &decision);
        let Decision { served_from, otherwise, rule } = decision;
        alternatives.push(Alternative { when: world.condition(reason), served_from, rule, otherwise, reads });
    }
    let remaining = remaining.into_iter().collect();
    Verdict { alternatives, ..Verdict::certain(ServedFrom::Unknown { reason, remaining }, rules::rule_of(reason)) }
}

/// The first unknown fact that by itself changes the decision: two worlds differ only in this fact, and disagree.
fn reason(worlds: &[World], decisions: &[Decision]) -> UnknownReason {
    let known: Vec<(&World, &Decision)> = worlds.iter().zip(decisions).collect();
    let depends_on = |same_but_for: fn(World, World) -> World| {
        known.iter().any(|(one, decision)| {
            known
                .iter()
                .any(|(other, another)| same_but_for(**one, **other) == **one && decision.served_from != another.served_from)
        })
    };
    if depends_on(|one, other| World { release: one.release, ..other }) {
        UnknownReason::PatchUnknown
    } else if depends_on(|one, other| World { progress: one.progress, ..other }) {
        UnknownReason::EtcdUnknown
    } else if depends_on(|one, other| World { keys: one.keys, ..other }) {
        UnknownReason::ScopeUnknown
    } else {
        UnknownReason::SnapshotUnknown
    }
}

fn decide(question: &Question<'_>, resource: &Resource, world: World) -> Decision {
    let facts = facts(question, world);
    let info = question.info;
    let cached = question.profile.is_cached(resource);
    if let Some(refusal) = decide_refusal(info, question.options, &facts, cached) {
        return refusal;
    }
    if connects(info) {
        return Decision { served_from: ServedFrom::Etcd, otherwise: None, rule: rules::GET_CONNECT_ETCD };
    }
    if !cached {
        return decide_uncached(info.verb, &facts);
    }
    let decision = match info.verb {
        Verb::Get => decide_get(&facts),
        Verb::Watch => decide_watch(&facts),
        Verb::List | Verb::DeleteCollection => decide_list(&facts),
        Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::Proxy | Verb::Other => None,
    };
    decision.unwrap_or(Decision { served_from: NO_RULE, otherwise: None, rule: rules::UNKNOWN_NO_RULE })
}

/// Whether a request connects to a node or a pod.
pub(super) fn connects(info: &RequestInfo) -> bool {
    info.verb == Verb::Get && CONNECTING.contains(&info.subresource.as_str())
}

fn facts<'q>(question: &Question<'q>, world: World) -> Facts<'q> {
    let facts = Facts::new(question.profile, question.cache == CacheState::Ready, question.options, world);
    let in_pages = question.info.verb == Verb::DeleteCollection && world.release >= DELETES_IN_PAGES;
    Facts { limit: facts.limit || in_pages, ..facts }
}

fn reads_of(question: &Question<'_>, world: World, decision: &Decision) -> Vec<EtcdRead> {
    let reads = rules::rule(decision.rule.as_str()).map_or(ReadsOf::Nothing, |rule| rule.reads);
    etcd_reads(reads, question.info, question.options, &facts(question, world))
}

/// The reads of a list that etcd answers in place of the watch cache.
fn fallback_reads(question: &Question<'_>, world: World, decision: &Decision) -> Vec<EtcdRead> {
    let is_of_cache = matches!(decision.served_from, ServedFrom::Cache | ServedFrom::CacheConsistent);
    if question.info.verb == Verb::List && is_of_cache {
        etcd_reads(ReadsOf::Objects, question.info, question.options, &facts(question, world))
    } else {
        Vec::new()
    }
}

/// The remarks on a verdict. `version` is that of the server, if it is known.
fn notes(question: &Question<'_>, resource: &Resource, version: Option<&ServerVersion>, verdict: &Verdict) -> Vec<&'static str> {
    let options = question.options;
    let limit_is_ignored = verdict.served_from == ServedFrom::Cache
        && question.info.is_collection()
        && question.info.verb != Verb::Watch
        && options.resource_version == ResourceVersion::Any
        && options.limit > 0;
    let is_in_stream = verdict.rule == rules::WATCH_LIST_NO_PROGRESS;
    let is_served = question.profile.is_cached(resource) && !matches!(verdict.served_from, ServedFrom::Rejected { .. });
    let has_selector = !options.label_selector.is_empty() || !options.field_selector.is_empty();
    let is_filtered_late = verdict.served_from == ServedFrom::Etcd && question.info.name.is_empty() && has_selector;
    [
        (is_filtered_late, "selectors filter after reading: every object of the range is read"),
        (limit_is_ignored, "the limit is ignored: one response has all items"),
        (is_in_stream, "the watch is answered with 200; the status comes in an ERROR event"),
        (
            verdict.served_from == ServedFrom::Snapshot,
            "etcd answers instead if this resource was not written since etcd's last compaction: no snapshot is left then",
        ),
        (question.info.verb == Verb::DeleteCollection, "this is the list at the beginning of a deletecollection"),
        (version.is_none(), SAME_IN_ALL),
        (
            version.is_some_and(|version| version.borrowed_from().is_some()) && is_served,
            "the server is newer than any version known here: rules of 1.37 used",
        ),
        (
            version.is_some_and(|version| version.minor() == Release::NEWEST.minor) && is_served,
            "the rules of 1.37 are those of a beta",
        ),
    ]
    .into_iter()
    .filter_map(|(holds, note)| holds.then_some(note))
    .collect()
}

impl World {
    /// Every world that the known facts leave possible. If the worlds agree, the first one determines the rule, the second outcome
    /// and the reads.
    fn all(question: &Question<'_>, resource: &Resource, releases: impl IntoIterator<Item = Release>) -> Vec<Self> {
        let progress = question.profile.etcd.supports_progress_requests().map_or(vec![true, false], |known| vec![known]);
        let snapshots = possible_snapshots(question);
        let is_get = question.info.verb == Verb::Get || !question.profile.is_cached(resource);
        let mut worlds = Vec::new();
        for release in releases {
            let keys = possible_keys(question.info, question.options, release);
            let keys = keys.iter().take(if is_get { 1 } else { keys.len() });
            for (keys, progress) in keys.flat_map(|keys| progress.iter().map(move |progress| (*keys, *progress))) {
                worlds.extend(snapshots.iter().map(|snapshot| Self { release, progress, keys, snapshot: *snapshot }));
            }
        }
        worlds
    }

    /// The condition that distinguishes this world, in words.
    fn condition(self, reason: UnknownReason) -> String {
        match reason {
            UnknownReason::VersionUnknown | UnknownReason::VersionTooOld | UnknownReason::PatchUnknown => {
                format!("API server {} or later", self.release)
            }
            UnknownReason::EtcdUnknown if self.progress => {
                "etcd answers progress requests (3.4.31 or later in 3.4, otherwise 3.5.13 or later)".to_owned()
            }
            UnknownReason::EtcdUnknown => "etcd does not answer progress requests".to_owned(),
            UnknownReason::ScopeUnknown => match self.keys {
                Keys::Many => "the resource is namespaced".to_owned(),
                Keys::One => "the resource is cluster-scoped".to_owned(),
            },
            UnknownReason::SnapshotUnknown => match self.snapshot {
                Snapshot::Held => "the watch cache still holds a snapshot of that revision".to_owned(),
                Snapshot::Ahead => "the watch cache has not reached that revision".to_owned(),
                Snapshot::Gone => "every snapshot is newer than that revision".to_owned(),
            },
            UnknownReason::NoRule | UnknownReason::Contradicted | UnknownReason::AttachedLate => String::new(),
        }
    }
}

/// The possible states of the snapshot at the named revision. Without a named revision, the snapshot does not matter.
fn possible_snapshots(question: &Question<'_>) -> Vec<Snapshot> {
    let Some(revision) = named_revision(question.options) else { return vec![Snapshot::Held] };
    match coverage(question, revision) {
        Coverage::Held => vec![Snapshot::Held],
        Coverage::Ahead => vec![Snapshot::Ahead, Snapshot::Held],
        Coverage::Gone => vec![Snapshot::Gone],
        Coverage::Undecided => vec![Snapshot::Held, Snapshot::Gone],
    }
}

/// Whether the watch cache holds a snapshot of this revision.
pub(super) fn coverage(question: &Question<'_>, revision: u64) -> Coverage {
    question.history.map_or(Coverage::Undecided, |history| history.coverage(revision, question.now))
}

impl Verdict {
    fn certain(served_from: ServedFrom, rule: RuleId) -> Self {
        Self {
            served_from,
            rule,
            certainty: Certainty::Predicted,
            proof: None,
            predicted: None,
            otherwise: None,
            reads: Vec::new(),
            fallback_reads: Vec::new(),
            alternatives: Vec::new(),
            notes: Vec::new(),
            asks_before_ready: false,
        }
    }
}
