//! The calls to etcd that the API server makes for one write (§4.1 and §4.5 of docs/semantics.md; kubernetes/apiserver
//! `pkg/storage/etcd3/store.go`, `lease_manager.go`, and `pkg/registry/generic/registry/store.go` and `dryrun.go`, v0.16 to v0.36).

use std::fmt;

use serde::Serialize;

use super::keys::{Scope, is_virtual, resource_prefix, scope_of};
use super::profile::ServerProfile;
use crate::k8s::{RequestInfo, Resource, Verb};

/// Placeholder for a name that only the request's body has.
const NAME_OF_BODY: &str = "{name}";
/// Placeholder for a namespace that the request's path does not have.
const EACH_NAMESPACE: &str = "{namespace}";
/// Placeholder for each name of a collection.
const EACH_NAME: &str = "{each name}";

/// Subresources that write no stored object: they connect to a node or a pod, or return a token.
const NOT_STORED: [&str; 6] = ["attach", "exec", "log", "portforward", "proxy", "token"];

const COMPARE_READ: &str = "mod_revision = the value read";
const PUT: &str = "Put";
const DELETE: &str = "DeleteRange of the key, or Put if finalizers or a grace period delay the deletion";
const ONCE_MORE: &str = "Range of the key, then retry";

/// One call that a write makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "operation")]
pub enum EtcdWrite {
    /// One key is read.
    Range {
        /// Key that is read.
        key: String,
        /// Why it is read, in words.
        purpose: &'static str,
    },
    /// A lease is granted, or a lease granted less than a minute ago is used again.
    LeaseGrant {
        /// Time to live of the objects under it.
        ttl: &'static str,
    },
    /// The write itself, which succeeds only if no other write came first.
    Txn {
        /// Key that is written.
        key: String,
        /// Condition on the key.
        compare: &'static str,
        /// Operation if the condition holds.
        then: &'static str,
        /// Operation if it does not hold; empty for none.
        #[serde(rename = "else", skip_serializing_if = "str::is_empty")]
        otherwise: &'static str,
    },
}

/// The calls of a create, update, patch or delete. For a deletecollection: the calls for each object, after its list. Empty for
/// reads, and for resources that are not stored. `query` is the query of the request: if it has `dryRun`, nothing is written.
pub fn etcd_writes(info: &RequestInfo, query: &str, profile: &ServerProfile) -> Vec<EtcdWrite> {
    let Some(resource) = &info.resource else { return Vec::new() };
    let is_stored = !is_virtual(resource) && !profile.is_aggregated(resource) && !NOT_STORED.contains(&info.subresource.as_str());
    if !is_stored {
        return Vec::new();
    }
    let key = key(resource, info);
    let is_dry = crate::k8s::query::first(query, "dryRun").is_some_and(|value| !value.is_empty());
    match info.verb {
        Verb::Create | Verb::Update | Verb::Patch | Verb::Delete | Verb::DeleteCollection if is_dry => {
            vec![EtcdWrite::Range { key, purpose: "nothing is written: dryRun only checks whether the object exists" }]
        }
        Verb::Create if info.subresource == "eviction" => evicted(info, key),
        // A subresource such as a binding changes the object that it belongs to.
        Verb::Create if !info.subresource.is_empty() => changed(resource, key, profile, PUT),
        Verb::Create => created(resource, key),
        Verb::Update | Verb::Patch => changed(resource, key, profile, PUT),
        Verb::Delete | Verb::DeleteCollection => changed(resource, key, profile, DELETE),
        Verb::Get | Verb::List | Verb::Watch | Verb::Proxy | Verb::Other => Vec::new(),
    }
}

fn created(resource: &Resource, key: String) -> Vec<EtcdWrite> {
    let put = EtcdWrite::Txn { key, compare: "mod_revision = 0", then: PUT, otherwise: "" };
    lease(resource).into_iter().chain([put]).collect()
}

/// An `Event` object lives as long as its lease, and every write of the object gives it a new lease (kubernetes
/// `pkg/registry/core/event/storage/storage.go` `TTLFunc`).
fn lease(resource: &Resource) -> Option<EtcdWrite> {
    is_event(resource).then_some(EtcdWrite::LeaseGrant { ttl: "--event-ttl, 1 h" })
}

/// If a `PodDisruptionBudget` covers the pod, the status of the budget is updated first: it allows one disruption less (kubernetes
/// `pkg/registry/core/pod/storage/eviction.go`, v1.34).
fn evicted(info: &RequestInfo, pod: String) -> Vec<EtcdWrite> {
    let budget = format!("/registry/poddisruptionbudgets/{}/{{its budget}}", info.namespace);
    vec![
        EtcdWrite::Txn { key: budget, compare: COMPARE_READ, then: "Put of its status", otherwise: ONCE_MORE },
        EtcdWrite::Txn { key: pod, compare: COMPARE_READ, then: DELETE, otherwise: ONCE_MORE },
    ]
}

/// The API server takes the current object from the watch cache, if there is one. After a conflict, it reads the object from etcd
/// and retries.
fn changed(resource: &Resource, key: String, profile: &ServerProfile, then: &'static str) -> Vec<EtcdWrite> {
    let read = EtcdWrite::Range { key: key.clone(), purpose: "the current object: the resource has no watch cache" };
    let txn = EtcdWrite::Txn { key, compare: COMPARE_READ, then, otherwise: ONCE_MORE };
    let read = (!profile.is_cached(resource)).then_some(read);
    let lease = (then == PUT).then(|| lease(resource)).flatten();
    read.into_iter().chain(lease).chain([txn]).collect()
}

fn is_event(resource: &Resource) -> bool {
    resource.resource == "events" && matches!(resource.group.as_str(), "" | "events.k8s.io")
}

fn key(resource: &Resource, info: &RequestInfo) -> String {
    let prefix = resource_prefix(resource);
    let name = match (info.verb, info.name.as_str()) {
        (Verb::DeleteCollection, _) => EACH_NAME,
        (_, "") => NAME_OF_BODY,
        (_, name) => name,
    };
    match (scope_of(resource), info.namespace.as_str()) {
        (Scope::Cluster, _) | (Scope::Unknown, "") => format!("{prefix}/{name}"),
        (Scope::Namespaced, "") => format!("{prefix}/{EACH_NAMESPACE}/{name}"),
        (_, namespace) => format!("{prefix}/{namespace}/{name}"),
    }
}

impl fmt::Display for EtcdWrite {
    /// `Txn /registry/pods/default/web-0  if mod_revision = 0 then Put`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { key, purpose } => write!(formatter, "Range {key}  ({purpose})"),
            Self::LeaseGrant { ttl } => write!(formatter, "LeaseGrant of {ttl}, or a lease granted within the last minute"),
            Self::Txn { key, compare, then, otherwise: "" } => write!(formatter, "Txn {key}  if {compare} then {then}"),
            Self::Txn { key, compare, then, otherwise } => {
                write!(formatter, "Txn {key}  if {compare} then {then} else {otherwise}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k8s::ListOptions;

    #[test]
    fn write_is_a_transaction_that_compares() {
        for (request, expected) in [
            ("POST /api/v1/namespaces/default/pods", "Txn /registry/pods/default/{name}  if mod_revision = 0 then Put"),
            (
                "PUT /apis/apps/v1/namespaces/default/deployments/web/status",
                "Txn /registry/deployments/default/web  if mod_revision = the value read then Put else Range of the key, then \
                 retry",
            ),
            (
                "PATCH /api/v1/nodes/one",
                "Txn /registry/minions/one  if mod_revision = the value read then Put else Range of the key, then retry",
            ),
            (
                "POST /api/v1/namespaces/default/events",
                "LeaseGrant of --event-ttl, 1 h, or a lease granted within the last minute; Txn /registry/events/default/{name}  if mod_revision = 0 then Put",
            ),
            (
                "PATCH /api/v1/namespaces/default/events/e",
                "Range /registry/events/default/e  (the current object: the resource has no watch cache); LeaseGrant of \
                 --event-ttl, 1 h, or a lease granted within the last minute; Txn /registry/events/default/e  if mod_revision = the \
                 value read then Put else Range of the key, then retry",
            ),
            (
                "POST /api/v1/namespaces/default/pods/web-0/eviction",
                "Txn /registry/poddisruptionbudgets/default/{its budget}  if mod_revision = the value read then Put of its \
                 status else Range of the key, then retry; Txn /registry/pods/default/web-0  if mod_revision = the value \
                 read then DeleteRange of the key, or Put if finalizers or a grace period delay the deletion else Range of \
                 the key, then retry",
            ),
            (
                "DELETE /api/v1/namespaces/default/configmaps",
                "Txn /registry/configmaps/default/{each name}  if mod_revision = the value read then DeleteRange of the key, or \
                 Put if finalizers or a grace period delay the deletion else Range of the key, then retry",
            ),
            (
                "DELETE /api/v1/namespaces/default/pods/web-0?dryRun=All",
                "Range /registry/pods/default/web-0  (nothing is written: dryRun only checks whether the object exists)",
            ),
        ] {
            assert_eq!(written(request), expected, "{request}");
        }
    }

    #[test]
    fn reads_and_unstored_resources_write_nothing() {
        for request in [
            "GET /api/v1/pods",
            "POST /apis/authorization.k8s.io/v1/subjectaccessreviews",
            "POST /api/v1/namespaces/default/pods/web-0/exec",
            "POST /api/v1/namespaces/default/serviceaccounts/default/token",
            "PUT /apis/metrics.k8s.io/v1beta1/nodes/one",
            "POST /logs",
        ] {
            assert_eq!(written(request), "", "{request}");
        }
    }

    fn written(request: &str) -> String {
        let (method, url) = request.split_once(' ').unwrap();
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let info = RequestInfo::parse(method, path, &ListOptions::parse(query), "");
        let writes = etcd_writes(&info, query, &ServerProfile::default());
        writes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }
}
