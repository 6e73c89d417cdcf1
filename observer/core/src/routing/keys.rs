//! Keys of objects in etcd (§4.4 of docs/semantics.md).
//!
//! Upstream: kubernetes `pkg/kubeapiserver/default_storage_factory_builder.go` (special prefixes, cohabitation),
//! kubernetes/apiextensions-apiserver `pkg/apiserver/customresource_handler.go`, kubernetes/kube-aggregator
//! `pkg/apiserver/apiserver.go`.

use crate::k8s::{self, Resource};

/// The default of `--etcd-prefix`.
const ROOT: &str = "/registry";

/// Groups of kube-apiserver itself whose keys do not contain the group. Other groups, except those below, hold custom resources.
const BUILT_IN_GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apps",
    "auditregistration.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "extensions",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "settings.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
];

/// Groups of kube-apiserver itself whose keys contain the group.
const BUILT_IN_GROUPS_IN_KEYS: &[&str] = &["apiextensions.k8s.io", "apiregistration.k8s.io"];

/// Built-in resources whose keys do not contain the plural name of the resource. The second text is the name that the keys contain.
const SPECIAL_PREFIXES: &[(&str, &str)] = &[
    ("replicationcontrollers", "controllers"),
    ("services", "services/specs"),
    ("endpoints", "services/endpoints"),
    ("nodes", "minions"),
    ("ingresses", "ingress"),
    ("podsecuritypolicies", "podsecuritypolicy"),
];

/// Resources that are computed and not stored.
const VIRTUAL: &[&str] = &[
    "bindings",
    "componentstatuses",
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
    "selfsubjectreviews",
    "selfsubjectrulesreviews",
    "subjectaccessreviews",
    "tokenreviews",
];

/// Whether a resource has namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    Namespaced,
    Cluster,
    /// A custom resource, or a resource newer than the tables. Its scope cannot be derived from its name.
    Unknown,
}

pub(super) fn scope_of(resource: &Resource) -> Scope {
    match k8s::is_namespaced(resource) {
        Some(true) => Scope::Namespaced,
        Some(false) => Scope::Cluster,
        None => Scope::Unknown,
    }
}

/// Whether `resource` is not stored, so that neither cache nor etcd answers.
pub(super) fn is_virtual(resource: &Resource) -> bool {
    is_built_in(resource) && VIRTUAL.contains(&resource.resource.as_str())
}

/// Whether `resource` is certainly stored in the etcd that most resources share, so its revisions are those of that etcd. Events
/// and leases often have an etcd of their own (`--etcd-servers-overrides`). `false` for custom and aggregated resources: their etcd
/// is unknown.
pub fn is_in_main_etcd(resource: &Resource) -> bool {
    is_built_in(resource) && !["events", "leases"].contains(&resource.resource.as_str())
}

/// The key prefix of all objects of `resource`, without a slash at its end: `/registry/pods`, with the default of `--etcd-prefix`.
pub fn resource_prefix(resource: &Resource) -> String {
    let Resource { group, resource: plural, .. } = resource;
    if !BUILT_IN_GROUPS.contains(&group.as_str()) {
        return format!("{ROOT}/{group}/{plural}");
    }
    let special = SPECIAL_PREFIXES.iter().find(|(special, _)| special == plural).map(|(_, prefix)| *prefix);
    format!("{ROOT}/{}", special.unwrap_or(plural))
}

/// A key without `--etcd-prefix`, as a watch cache names it.
pub(super) fn below_root(key: &str) -> &str {
    key.strip_prefix(ROOT).unwrap_or(key)
}

/// The key by which a watch cache names all objects of a resource of kube-apiserver, by its plural name.
pub(crate) fn cached_key_of(plural: &str) -> String {
    let resource = Resource { group: String::new(), version: String::new(), resource: plural.to_owned() };
    below_root(&resource_prefix(&resource)).to_owned()
}

/// The exclusive end of the range of all keys under `prefix`, which ends in a slash. The slash becomes `0`, the next byte.
pub(super) fn end_of_prefix(prefix: &str) -> String {
    format!("{}0", prefix.strip_suffix('/').unwrap_or(prefix))
}

fn is_built_in(resource: &Resource) -> bool {
    let group = resource.group.as_str();
    BUILT_IN_GROUPS.contains(&group) || BUILT_IN_GROUPS_IN_KEYS.contains(&group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_those_of_the_key_layout() {
        for (group, plural, expected) in [
            ("", "pods", "/registry/pods"),
            ("", "replicationcontrollers", "/registry/controllers"),
            ("", "services", "/registry/services/specs"),
            ("", "endpoints", "/registry/services/endpoints"),
            ("", "nodes", "/registry/minions"),
            ("extensions", "ingresses", "/registry/ingress"),
            ("networking.k8s.io", "ingresses", "/registry/ingress"),
            ("policy", "podsecuritypolicies", "/registry/podsecuritypolicy"),
            ("events.k8s.io", "events", "/registry/events"),
            ("apps", "deployments", "/registry/deployments"),
            ("rbac.authorization.k8s.io", "clusterroles", "/registry/clusterroles"),
            ("apiextensions.k8s.io", "customresourcedefinitions", "/registry/apiextensions.k8s.io/customresourcedefinitions"),
            ("apiregistration.k8s.io", "apiservices", "/registry/apiregistration.k8s.io/apiservices"),
            ("example.com", "widgets", "/registry/example.com/widgets"),
            ("example.com", "services", "/registry/example.com/services"),
        ] {
            let resource = Resource { group: group.to_owned(), version: "v1".to_owned(), resource: plural.to_owned() };
            assert_eq!(resource_prefix(&resource), expected);
        }
    }

    #[test]
    fn tables_are_sorted() {
        assert!(BUILT_IN_GROUPS.is_sorted() && VIRTUAL.is_sorted());
    }
}
