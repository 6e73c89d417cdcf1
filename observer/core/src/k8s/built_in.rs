//! The scope of the resources that kube-apiserver itself serves: namespaced or cluster-scoped.
//!
//! Upstream: kubernetes `api/discovery/*.json` of 1.27 to 1.37, and the `NamespaceScoped` of `pkg/registry/*/*/strategy.go` of 1.16
//! to 1.26. A resource that is missing here belongs to a custom or aggregated API, or is newer than this table; its scope must be
//! observed.

use super::request_info::{RequestInfo, Resource};

/// Groups, each with its namespaced and its cluster-scoped resources.
const BUILT_IN: &[(&str, &[&str], &[&str])] = &[
    (
        "",
        &[
            "bindings",
            "configmaps",
            "endpoints",
            "events",
            "limitranges",
            "persistentvolumeclaims",
            "pods",
            "podtemplates",
            "replicationcontrollers",
            "resourcequotas",
            "secrets",
            "serviceaccounts",
            "services",
        ],
        &["componentstatuses", "namespaces", "nodes", "persistentvolumes"],
    ),
    (
        "admissionregistration.k8s.io",
        &[],
        &[
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
            "validatingwebhookconfigurations",
        ],
    ),
    ("apiextensions.k8s.io", &[], &["customresourcedefinitions"]),
    ("apiregistration.k8s.io", &[], &["apiservices"]),
    ("apps", &["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"], &[]),
    ("auditregistration.k8s.io", &[], &["auditsinks"]),
    ("authentication.k8s.io", &[], &["selfsubjectreviews", "tokenreviews"]),
    (
        "authorization.k8s.io",
        &["localsubjectaccessreviews"],
        &["selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"],
    ),
    ("autoscaling", &["horizontalpodautoscalers"], &[]),
    ("batch", &["cronjobs", "jobs"], &[]),
    ("certificates.k8s.io", &["podcertificaterequests"], &["certificatesigningrequests", "clustertrustbundles"]),
    ("coordination.k8s.io", &["leasecandidates", "leases"], &[]),
    ("discovery.k8s.io", &["endpointslices"], &[]),
    ("events.k8s.io", &["events"], &[]),
    ("extensions", &["daemonsets", "deployments", "ingresses", "networkpolicies", "replicasets"], &["podsecuritypolicies"]),
    ("flowcontrol.apiserver.k8s.io", &[], &["flowschemas", "prioritylevelconfigurations"]),
    ("internal.apiserver.k8s.io", &[], &["storageversions"]),
    ("networking.k8s.io", &["ingresses", "networkpolicies"], &["clustercidrs", "ingressclasses", "ipaddresses", "servicecidrs"]),
    ("node.k8s.io", &[], &["runtimeclasses"]),
    ("policy", &["poddisruptionbudgets"], &["podsecuritypolicies"]),
    ("rbac.authorization.k8s.io", &["rolebindings", "roles"], &["clusterrolebindings", "clusterroles"]),
    (
        "resource.k8s.io",
        &[
            "podschedulingcontexts",
            "resourceclaimparameters",
            "resourceclaims",
            "resourceclaimtemplates",
            "resourceclassparameters",
        ],
        &["deviceclasses", "devicetaintrules", "resourceclasses", "resourceslices"],
    ),
    ("scheduling.k8s.io", &["podgroups", "workloads"], &["priorityclasses"]),
    ("settings.k8s.io", &["podpresets"], &[]),
    (
        "storage.k8s.io",
        &["csistoragecapacities"],
        &["csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"],
    ),
    ("storagemigration.k8s.io", &[], &["storageversionmigrations"]),
];

/// Whether a built-in resource is namespaced; `None` for any other resource.
pub fn is_namespaced(resource: &Resource) -> Option<bool> {
    let (_, namespaced, in_cluster) = BUILT_IN.iter().find(|(group, ..)| *group == resource.group)?;
    let is_in = |names: &[&str]| names.contains(&resource.resource.as_str());
    is_in(namespaced).then_some(true).or_else(|| is_in(in_cluster).then_some(false))
}

/// Whether a path has names of objects or namespaces where its resource or subresource belongs, as after a typing mistake. The API server
/// has no such path. In groups that are not built in, only an empty segment shows it.
pub(crate) fn is_misplaced(info: &RequestInfo, resource: &Resource) -> bool {
    let is_known = |name: &str| is_namespaced(&Resource { resource: name.to_owned(), ..resource.clone() }).is_some();
    match is_namespaced(resource) {
        // `/api/v1/pods/NAMESPACE/NAME`
        Some(true) => info.namespace.is_empty() && !info.subresource.is_empty(),
        Some(false) => false,
        // `/api/v1/NAMESPACE/pods/NAME`
        None => resource.resource.is_empty() || is_known(&info.name) || is_known(&info.subresource),
    }
}

/// Resources that no release serves as version `v1`, or only the newest. Those of the group `extensions` are also of this kind.
const WITHOUT_V1: &[&str] = &[
    "auditsinks",
    "clustercidrs",
    "clustertrustbundles",
    "devicetaintrules",
    "leasecandidates",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "podcertificaterequests",
    "podgroups",
    "podpresets",
    "podschedulingcontexts",
    "podsecuritypolicies",
    "resourceclaimparameters",
    "resourceclasses",
    "resourceclassparameters",
    "storageversionmigrations",
    "storageversions",
    "workloads",
];

/// Every built-in resource with version `v1`. Those of the core group come first, then by group.
pub fn stable_resources() -> impl Iterator<Item = Resource> {
    BUILT_IN.iter().filter(|(group, ..)| *group != "extensions").flat_map(|(group, namespaced, in_cluster)| {
        let names = namespaced.iter().chain(*in_cluster).filter(|name| !WITHOUT_V1.contains(name));
        names.map(|name| Resource { group: (*group).to_owned(), version: "v1".to_owned(), resource: (*name).to_owned() })
    })
}

/// The built-in resource with version `v1` that a user names `pods`, `deployments` or `deployments.apps`. A name without a group
/// is that of the first group that has it, and the core group is first. `None` for every other name.
pub fn stable_resource(name: &str) -> Option<Resource> {
    stable_resources().find(|resource| resource.resource == name || resource.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_found_as_users_name_them() {
        for (name, expected) in [
            ("pods", Some(("v1", "pods"))),
            ("nodes", Some(("v1", "nodes"))),
            ("deployments", Some(("apps/v1", "deployments"))),
            ("deployments.apps", Some(("apps/v1", "deployments"))),
            ("ingresses", Some(("networking.k8s.io/v1", "ingresses"))),
            ("events", Some(("v1", "events"))),
            ("events.events.k8s.io", Some(("events.k8s.io/v1", "events"))),
            ("deployments.extensions", None),
            ("podsecuritypolicies", None),
            ("widgets.example.com", None),
            ("pod", None),
            ("", None),
        ] {
            let found = stable_resource(name).map(|resource| (resource.api_version(), resource.resource));
            let expected = expected.map(|(version, plural)| (version.to_owned(), plural.to_owned()));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn every_resource_without_v1_is_a_built_in_one() {
        assert!(WITHOUT_V1.is_sorted());
        for name in WITHOUT_V1 {
            assert!(
                BUILT_IN.iter().any(|(_, namespaced, in_cluster)| namespaced.contains(name) || in_cluster.contains(name)),
                "{name}"
            );
        }
    }

    #[test]
    fn scope_depends_on_group_and_name_together() {
        for (group, name, expected) in [
            ("", "pods", Some(true)),
            ("", "nodes", Some(false)),
            ("metrics.k8s.io", "nodes", None),
            ("", "widgets", None),
            ("", "componentstatuses", Some(false)),
            ("authorization.k8s.io", "localsubjectaccessreviews", Some(true)),
            ("authorization.k8s.io", "subjectaccessreviews", Some(false)),
            ("batch", "jobs", Some(true)),
            ("extensions", "ingresses", Some(true)),
            ("networking.k8s.io", "ingressclasses", Some(false)),
            ("example.com", "widgets", None),
        ] {
            let resource = Resource { group: group.to_owned(), version: "v1".to_owned(), resource: name.to_owned() };
            assert_eq!(is_namespaced(&resource), expected, "{name}.{group}");
        }
    }

    #[test]
    fn table_is_sorted_and_names_each_resource_once() {
        assert!(BUILT_IN.is_sorted_by(|(one, ..), (next, ..)| one < next));
        for (group, namespaced, in_cluster) in BUILT_IN {
            assert!(namespaced.is_sorted_by(|one, next| one < next) && in_cluster.is_sorted_by(|one, next| one < next), "{group}");
            assert!(namespaced.iter().all(|name| !in_cluster.contains(name)), "{group}");
        }
    }
}
