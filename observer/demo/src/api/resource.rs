//! The built-in resources of the demo: discovery, storage and requests all use this table.
//!
//! Names, short names, categories and verbs are those of kube-apiserver 1.34; a test in `tests/cluster` compares them. The table
//! has only the resources that `kubectl get all`, controllers and the demo's own clients need.

use super::scale;

/// One resource, as discovery describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: &'static str,
    /// The version within the group.
    pub version: &'static str,
    /// The name in request paths: plural, lower case.
    pub name: &'static str,
    /// The name that kubectl accepts and prints for one object.
    pub singular: &'static str,
    /// The kind of the objects.
    pub kind: &'static str,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// Names that kubectl accepts instead of the name, such as `po`.
    pub short_names: &'static [&'static str],
    /// Names that select several resources, such as `all`.
    pub categories: &'static [&'static str],
    /// The verbs in discovery, sorted.
    pub verbs: &'static [&'static str],
    /// The endpoints below an object's path.
    pub subresources: &'static [Subresource],
    /// Whether `metadata.generation` counts changes of the specification.
    pub has_generation: bool,
}

/// An endpoint below an object's path, such as `status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subresource {
    /// The last segment of the path.
    pub name: &'static str,
    /// The kind of its objects; `None` for the resource's own.
    pub of: Option<&'static Resource>,
    /// The verbs in discovery, sorted.
    pub verbs: &'static [&'static str],
}

impl Resource {
    /// The `apiVersion` of its objects: `v1`, `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// The path that lists the objects of all namespaces: `/api/v1/pods`, `/apis/apps/v1/deployments`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("/{}/{}", self.root(), self.name)
    }

    /// The path of its group and version, without a slash at the beginning: `api/v1`, `apis/apps/v1`.
    #[must_use]
    pub fn root(&self) -> String {
        format!("{}/{}", if self.group.is_empty() { "api" } else { "apis" }, self.api_version())
    }

    /// The `kind` of a list of its objects.
    #[must_use]
    pub fn list_kind(&self) -> String {
        format!("{}List", self.kind)
    }

    /// Whether a client defined it. Custom resources are never in a group of the table.
    #[must_use]
    pub fn is_custom(&self) -> bool {
        RESOURCES.iter().all(|built_in| built_in.group != self.group)
    }

    /// Whether this is the resource of custom resource definitions.
    #[must_use]
    pub fn is_definition(&self) -> bool {
        self.group == DEFINITIONS.group && self.name == DEFINITIONS.name
    }

    /// The name of the resource in messages of the API server: `pods`, `deployments.apps`.
    #[must_use]
    pub fn qualified_name(&self) -> String {
        if self.group.is_empty() { self.name.to_owned() } else { format!("{}.{}", self.name, self.group) }
    }
}

/// All resources of the table. Those of one group and version are adjacent and sorted by name, as in discovery.
#[must_use]
pub fn resources() -> &'static [Resource] {
    RESOURCES
}

/// The resource of the table in a request path, by its plural name. The core group is the empty string.
#[must_use]
pub fn find(group: &str, version: &str, name: &str) -> Option<&'static Resource> {
    RESOURCES.iter().find(|resource| resource.group == group && resource.version == version && resource.name == name)
}

/// The subresource with this name.
#[must_use]
pub fn subresource(resource: &Resource, name: &str) -> Option<&'static Subresource> {
    resource.subresources.iter().find(|subresource| subresource.name == name)
}

const ALL_VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// Namespaces are deleted one by one, never as a collection.
const NAMESPACE_VERBS: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
const CHANGE_VERBS: &[&str] = &["get", "patch", "update"];

/// The endpoint that changes the status only.
pub(crate) const STATUS: Subresource = Subresource { name: "status", of: None, verbs: CHANGE_VERBS };
const SCALE: Subresource = Subresource { name: "scale", of: Some(&scale::SCALE), verbs: CHANGE_VERBS };

/// A namespaced resource of the core group, without short names, categories and subresources.
pub(crate) const CORE: Resource = Resource {
    group: "",
    version: "v1",
    name: "",
    singular: "",
    kind: "",
    namespaced: true,
    short_names: &[],
    categories: &[],
    verbs: ALL_VERBS,
    subresources: &[],
    has_generation: false,
};
const APPS: Resource = Resource { group: "apps", categories: &["all"], subresources: &[STATUS], has_generation: true, ..CORE };
const DEFINITIONS: Resource = Resource {
    group: "apiextensions.k8s.io",
    name: "customresourcedefinitions",
    singular: "customresourcedefinition",
    kind: "CustomResourceDefinition",
    namespaced: false,
    short_names: &["crd", "crds"],
    categories: &["api-extensions"],
    subresources: &[STATUS],
    has_generation: true,
    ..CORE
};

static RESOURCES: &[Resource] = &[
    Resource { name: "configmaps", singular: "configmap", kind: "ConfigMap", short_names: &["cm"], ..CORE },
    Resource { name: "events", singular: "event", kind: "Event", short_names: &["ev"], ..CORE },
    Resource {
        name: "namespaces",
        singular: "namespace",
        kind: "Namespace",
        namespaced: false,
        short_names: &["ns"],
        verbs: NAMESPACE_VERBS,
        subresources: &[STATUS],
        ..CORE
    },
    Resource {
        name: "nodes",
        singular: "node",
        kind: "Node",
        namespaced: false,
        short_names: &["no"],
        subresources: &[STATUS],
        ..CORE
    },
    Resource {
        name: "pods",
        singular: "pod",
        kind: "Pod",
        short_names: &["po"],
        categories: &["all"],
        subresources: &[STATUS],
        ..CORE
    },
    Resource { name: "podtemplates", singular: "podtemplate", kind: "PodTemplate", ..CORE },
    Resource { name: "secrets", singular: "secret", kind: "Secret", ..CORE },
    Resource { name: "serviceaccounts", singular: "serviceaccount", kind: "ServiceAccount", short_names: &["sa"], ..CORE },
    Resource {
        name: "services",
        singular: "service",
        kind: "Service",
        short_names: &["svc"],
        categories: &["all"],
        subresources: &[STATUS],
        ..CORE
    },
    DEFINITIONS,
    Resource { name: "daemonsets", singular: "daemonset", kind: "DaemonSet", short_names: &["ds"], ..APPS },
    Resource {
        name: "deployments",
        singular: "deployment",
        kind: "Deployment",
        short_names: &["deploy"],
        subresources: &[SCALE, STATUS],
        ..APPS
    },
    Resource {
        name: "replicasets",
        singular: "replicaset",
        kind: "ReplicaSet",
        short_names: &["rs"],
        subresources: &[SCALE, STATUS],
        ..APPS
    },
    Resource {
        name: "statefulsets",
        singular: "statefulset",
        kind: "StatefulSet",
        short_names: &["sts"],
        subresources: &[SCALE, STATUS],
        ..APPS
    },
    Resource {
        group: "batch",
        name: "jobs",
        singular: "job",
        kind: "Job",
        categories: &["all"],
        subresources: &[STATUS],
        has_generation: true,
        ..CORE
    },
    Resource { group: "coordination.k8s.io", name: "leases", singular: "lease", kind: "Lease", ..CORE },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_found_by_group_version_and_plural() {
        let deployments = find("apps", "v1", "deployments").unwrap();
        assert_eq!(deployments.kind, "Deployment");
        assert_eq!(deployments.api_version(), "apps/v1");
        assert_eq!(deployments.list_kind(), "DeploymentList");
        assert_eq!(deployments.qualified_name(), "deployments.apps");
        assert_eq!(find("", "v1", "pods").unwrap().api_version(), "v1");
        for (group, version, name) in [("", "v1", "deployments"), ("apps", "v1beta1", "deployments"), ("", "v1", "pod")] {
            assert_eq!(find(group, version, name), None);
        }
    }

    #[test]
    fn resources_are_sorted_by_group_version_and_name() {
        let keys: Vec<_> = resources().iter().map(|resource| (resource.group, resource.version, resource.name)).collect();
        assert!(keys.is_sorted(), "{keys:?}");
    }
}
