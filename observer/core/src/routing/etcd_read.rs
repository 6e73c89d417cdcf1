//! The reads from etcd that the API server makes for one request (§4.1 of docs/semantics.md; kubernetes/apiserver
//! `pkg/storage/etcd3/store.go` and `watcher.go`).

use std::fmt;

use serde::Serialize;

use super::columns::{Keys, Match};
use super::facts::{Facts, named_revision, selected_namespace};
use super::keys::{Scope, below_root, end_of_prefix, resource_prefix, scope_of};
use super::rules::ReadsOf;
use super::version::Release;
use crate::k8s::{Continue, ListOptions, RequestInfo, Resource, ResourceVersion, Verb};

/// Page size of the list that a deletecollection makes (kubernetes/apiserver `pkg/registry/generic/registry/store.go`
/// `deleteCollectionPageSize`).
const DELETE_PAGE: u64 = 10_000;

/// Page size of the initial list of a watch that etcd answers, from 1.29 on.
const WATCH_PAGE: u64 = 10_000;

/// One call to etcd. All reads are linearizable, in every version.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct EtcdRead {
    /// Method of etcd's API.
    pub operation: EtcdOperation,
    /// Whether it reads objects or only a revision.
    pub purpose: Purpose,
    /// The key, or the first key of a range.
    pub key: String,
    /// The exclusive end of the range; `None` for a single key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_end: Option<String>,
    /// Maximum number of keys in one answer; `None` for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The revision to read at, or to start from; `None` is the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<RevisionAt>,
    /// Whether the call is repeated, each time from the key after the last returned key. The repetition ends when the range is
    /// exhausted, or when as many matching objects are found as the client requested.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub repeated: bool,
}

/// A call of etcd's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum EtcdOperation {
    /// `etcdserverpb.KV/Range`.
    Range,
    /// The streaming range of etcd 3.7. With an older etcd, the API server sends a paged Range instead.
    RangeStream,
    /// `etcdserverpb.Watch/Watch`.
    Watch,
}

/// Why a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum Purpose {
    /// For objects.
    Data,
    /// A read of a key that does not exist, only for the revision in the answer's header.
    CurrentRevision,
}

/// The revision that a call reads at, or watches from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum RevisionAt {
    /// Reads at this revision.
    At(u64),
    /// Reads at the revision that the previous call returned.
    Stated,
    /// Watches from this revision on.
    From(u64),
    /// Watches from the revision that follows the revision of the previous call.
    AfterStated,
}

/// The calls that the API server makes when it answers by a rule.
pub(super) fn etcd_reads(reads: ReadsOf, info: &RequestInfo, options: &ListOptions, facts: &Facts<'_>) -> Vec<EtcdRead> {
    let Some(resource) = &info.resource else { return Vec::new() };
    match (reads, info.verb) {
        (ReadsOf::Nothing | ReadsOf::Undecided, _) => Vec::new(),
        (ReadsOf::CurrentRevision, _) => vec![current_revision(resource, facts)],
        (ReadsOf::CurrentRevisionThenObjects, _) => {
            vec![
                current_revision(resource, facts),
                EtcdRead { revision: Some(RevisionAt::Stated), ..list(resource, info, options, facts) },
            ]
        }
        (ReadsOf::Objects, Verb::Get) => vec![object(resource, info, facts)],
        (ReadsOf::ObjectsThenWatch, _) | (ReadsOf::Objects, Verb::Watch) => watch(resource, info, options, facts),
        (ReadsOf::Objects, _) => vec![list(resource, info, options, facts)],
    }
}

/// Reads one key that does not exist: the resource's prefix without its slash (§1.7). 1.37 sets no limit, with the same effect.
fn current_revision(resource: &Resource, facts: &Facts<'_>) -> EtcdRead {
    let limit = (facts.release < Release::new(37, 0)).then_some(1);
    EtcdRead { limit, ..EtcdRead::of(Purpose::CurrentRevision, resource_prefix(resource)) }
}

/// Reads one object by name. 1.32 and later set a limit of one key.
fn object(resource: &Resource, info: &RequestInfo, facts: &Facts<'_>) -> EtcdRead {
    let limit = (facts.release >= Release::new(32, 0)).then_some(1);
    EtcdRead { limit, ..EtcdRead::of(Purpose::Data, format!("{}{}", scope_prefix(resource, info, None), info.name)) }
}

fn list(resource: &Resource, info: &RequestInfo, options: &ListOptions, facts: &Facts<'_>) -> EtcdRead {
    let read = collection(resource, info, options, facts);
    let revision = list_revision(options, facts).map(RevisionAt::At);
    if facts.keys == Keys::One {
        return EtcdRead { revision, ..read };
    }
    // A deletecollection without a limit uses its page size.
    let page = if options.limit > 0 { options.limit } else { DELETE_PAGE };
    let limit = facts.limit.then_some(page);
    let streams = facts.release >= Release::new(37, 0) && !facts.limit && options.continue_token == Continue::Unset;
    let operation = if streams { EtcdOperation::RangeStream } else { EtcdOperation::Range };
    let key = match &options.continue_token {
        Continue::Token(token) => format!("{}{}\0", read.key, token.start_key),
        Continue::Unset | Continue::Invalid => read.key,
    };
    EtcdRead { operation, key, limit, revision, repeated: facts.limit && facts.selective, ..read }
}

/// If the request names no revision, an initial list comes first. Then the API server opens a watch in etcd for this client alone.
fn watch(resource: &Resource, info: &RequestInfo, options: &ListOptions, facts: &Facts<'_>) -> Vec<EtcdRead> {
    let initial = collection(resource, info, options, facts);
    let watch = EtcdRead { operation: EtcdOperation::Watch, ..initial.clone() };
    if let ResourceVersion::At(revision) = options.resource_version {
        return vec![EtcdRead { revision: Some(RevisionAt::From(revision.saturating_add(1))), ..watch }];
    }
    let is_range = facts.keys == Keys::Many;
    let streams = is_range && facts.release >= Release::new(37, 0);
    let pages = is_range && !streams && facts.release >= Release::new(29, 0);
    let initial = EtcdRead {
        operation: if streams { EtcdOperation::RangeStream } else { EtcdOperation::Range },
        limit: pages.then_some(WATCH_PAGE),
        repeated: pages,
        ..initial
    };
    vec![initial, EtcdRead { revision: Some(RevisionAt::AfterStated), ..watch }]
}

/// The key of one object by name, or the range of a prefix.
fn collection(resource: &Resource, info: &RequestInfo, options: &ListOptions, facts: &Facts<'_>) -> EtcdRead {
    let prefix = scope_prefix(resource, info, selected_namespace(options, facts.release));
    match facts.keys {
        Keys::One => {
            let name = options.exact_field("metadata.name").unwrap_or_else(|| info.name.clone());
            EtcdRead::of(Purpose::Data, format!("{prefix}{name}"))
        }
        Keys::Many => EtcdRead { range_end: Some(end_of_prefix(&prefix)), ..EtcdRead::of(Purpose::Data, prefix) },
    }
}

/// The revision at which etcd reads a list; `None` for the current one. A list with the match `Exact` or a continue token is read
/// at the revision that the request names. Without a match, the same is true for a prefix with a limit ("legacy exact"), and in
/// 1.16 for any prefix. Any other list reads the current state.
fn list_revision(options: &ListOptions, facts: &Facts<'_>) -> Option<u64> {
    let revision = named_revision(options)?;
    let is_range = facts.keys == Keys::Many;
    let is_exact = match facts.matching {
        Match::Exact => true,
        Match::Unset => is_range && (facts.limit || facts.release < Release::new(17, 0)),
        Match::NotOlderThan | Match::Invalid => false,
    };
    (is_exact || options.continue_token != Continue::Unset).then_some(revision)
}

/// The key prefix of the objects that a list returns, with a slash at its end, without a namespace that only a field selector demands.
/// `None` if the request has no resource.
pub(crate) fn listed_prefix(info: &RequestInfo) -> Option<String> {
    info.resource.as_ref().map(|resource| scope_prefix(resource, info, None))
}

/// The key by which a watch cache names the objects of a list or watch, without a slash at its end: `/pods`, `/pods/default`, or that of one
/// object (kubernetes/apiserver `pkg/registry/generic/registry/store.go`, `WatchPredicate`, v0.16 to v0.36). `None` if the request has no
/// resource.
pub(crate) fn cached_key(info: &RequestInfo) -> Option<String> {
    let resource = info.resource.as_ref()?;
    let key = scope_prefix(resource, info, None);
    let key = below_root(&key);
    let is_of_one = !info.name.is_empty() && (scope_of(resource) == Scope::Cluster || !info.namespace.is_empty());
    Some(if is_of_one { format!("{key}{}", info.name) } else { key.trim_end_matches('/').to_owned() })
}

/// The key prefix of the requested scope: `/registry/pods/` or `/registry/pods/default/`. `selected` is the namespace that a field
/// selector demands. It applies if the path has no namespace and the resource is not cluster-scoped.
fn scope_prefix(resource: &Resource, info: &RequestInfo, selected: Option<String>) -> String {
    let prefix = resource_prefix(resource);
    let has_namespaces = scope_of(resource) != Scope::Cluster;
    let namespace = if info.namespace.is_empty() { selected.unwrap_or_default() } else { info.namespace.clone() };
    if has_namespaces && !namespace.is_empty() { format!("{prefix}/{namespace}/") } else { format!("{prefix}/") }
}

impl EtcdRead {
    fn of(purpose: Purpose, key: String) -> Self {
        Self { operation: EtcdOperation::Range, purpose, key, range_end: None, limit: None, revision: None, repeated: false }
    }
}

impl fmt::Display for EtcdRead {
    /// `Range /registry/pods/ … /registry/pods0  limit 500 at the current revision`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.operation, self.key.replace('\0', "\\0"))?;
        if let Some(end) = &self.range_end {
            write!(formatter, " … {end}")?;
        }
        if let Some(limit) = self.limit {
            write!(formatter, "  limit {limit}")?;
        }
        if self.purpose == Purpose::CurrentRevision {
            return formatter.write_str(", only to get the current revision");
        }
        match self.revision {
            Some(RevisionAt::At(revision)) => write!(formatter, " at revision {revision}")?,
            Some(RevisionAt::Stated) => formatter.write_str(" at the revision just returned")?,
            Some(RevisionAt::From(revision)) => write!(formatter, " from revision {revision}")?,
            Some(RevisionAt::AfterStated) => formatter.write_str(" from the next revision")?,
            None => formatter.write_str(" at the current revision")?,
        }
        if self.repeated {
            formatter.write_str(", repeated until enough objects match or everything is read")?;
        }
        Ok(())
    }
}

impl fmt::Display for EtcdOperation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Range => "Range",
            Self::RangeStream => "RangeStream",
            Self::Watch => "Watch",
        })
    }
}
