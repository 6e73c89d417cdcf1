//! The resources from which `verify` chooses: many clusters have objects of them, and few clients read them.

use observer_core::k8s::Resource;

/// Group, version and plural name of each; those that clients read least come first.
const CANDIDATES: &[(&str, &str, &str)] = &[
    ("rbac.authorization.k8s.io", "v1", "roles"),
    ("", "v1", "podtemplates"),
    ("scheduling.k8s.io", "v1", "priorityclasses"),
    ("rbac.authorization.k8s.io", "v1", "rolebindings"),
    ("", "v1", "limitranges"),
    ("", "v1", "resourcequotas"),
    ("apps", "v1", "controllerrevisions"),
    ("policy", "v1", "poddisruptionbudgets"),
    ("storage.k8s.io", "v1", "storageclasses"),
    ("storage.k8s.io", "v1", "csidrivers"),
    ("batch", "v1", "cronjobs"),
    ("apps", "v1", "daemonsets"),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings"),
    ("apiregistration.k8s.io", "v1", "apiservices"),
    ("", "v1", "serviceaccounts"),
    ("", "v1", "configmaps"),
    ("", "v1", "namespaces"),
];

/// All candidates, in order of preference.
pub(super) fn candidates() -> Vec<Resource> {
    let resource = |(group, version, resource): &(&str, &str, &str)| Resource {
        group: (*group).to_owned(),
        version: (*version).to_owned(),
        resource: (*resource).to_owned(),
    };
    CANDIDATES.iter().map(resource).collect()
}
