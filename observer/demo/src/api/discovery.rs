//! Discovery: the groups, versions and resources that exist, in one document (since Kubernetes 1.26) or in one document each.
//!
//! The documents are those of kube-apiserver 1.34 (`pkg/endpoints/discovery` of k8s.io/apiserver). They omit parts that no client
//! uses: the hash of the storage version, and the server's address for each client network.
//!
//! As in 1.34, the beta of the single document, `v2beta1`, is not served (KEP-3352). A client that asks only for it gets 406.
//! Clients of 1.26 to 1.29 also accept plain JSON, and get one document each.

use serde_json::{Map, Value, json};

use super::accept::{self, Clause};
use super::answer::{Answer, JSON};
use super::resource::{Resource, Subresource};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Answers `/api`, `/apis`, `/api/v1`, `/apis/G` and `/apis/G/V`; `None` for other paths, and for groups and versions that are not
/// served.
///
/// `path` has no query; `accept` is the value of the request's `Accept` field, empty if there is none. In `resources`, those of one
/// group are adjacent, and versions come in the order of preference.
#[must_use]
pub fn answer(path: &str, accept: &str, resources: &[&'static Resource]) -> Option<Answer> {
    let segments: Vec<&str> = path.strip_prefix('/')?.trim_end_matches('/').splitn(4, '/').collect();
    let (document, aggregated) = match *segments {
        ["api"] => (core_versions(), Some(aggregated(resources, Core::Yes))),
        ["apis"] => (groups(resources), Some(aggregated(resources, Core::No))),
        ["api", version] => (resource_list(resources, "", version)?, None),
        ["apis", group] => (group_document(resources, group)?, None),
        ["apis", group, version] if !group.is_empty() => (resource_list(resources, group, version)?, None),
        _ => return None,
    };
    let chosen = accept::clauses(accept).into_iter().find_map(|clause| match (as_asked(&clause)?, &aggregated) {
        (Form::Plain, _) => Some(Answer::document(JSON, &document)),
        (Form::Aggregated, Some(aggregated)) => Some(Answer::document(AGGREGATED, aggregated)),
        (Form::Aggregated, None) => None,
    });
    Some(chosen.unwrap_or_else(Answer::not_acceptable))
}

enum Form {
    Plain,
    Aggregated,
}

fn as_asked(clause: &Clause<'_>) -> Option<Form> {
    match clause.target() {
        None if clause.takes_json() => Some(Form::Plain),
        Some(("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")) if clause.takes_json() => Some(Form::Aggregated),
        None | Some(_) => None,
    }
}

fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

fn groups(resources: &[&'static Resource]) -> Value {
    let groups: Vec<Value> = by_group(resources).filter(|group| !group.name.is_empty()).map(|group| group.entry()).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

fn group_document(resources: &[&'static Resource], name: &str) -> Option<Value> {
    let found = by_group(resources).find(|group| group.name == name && !name.is_empty())?;
    let mut document = Map::from_iter([("kind".to_owned(), json!("APIGroup")), ("apiVersion".to_owned(), json!("v1"))]);
    if let Value::Object(entry) = found.entry() {
        document.extend(entry);
    }
    Some(Value::Object(document))
}

/// A group with its resources, which are adjacent for each version.
struct Group<'r> {
    name: &'static str,
    resources: &'r [&'static Resource],
}

fn by_group<'r>(resources: &'r [&'static Resource]) -> impl Iterator<Item = Group<'r>> {
    let groups = resources.chunk_by(|one, other| one.group == other.group);
    groups.filter_map(|resources| Some(Group { name: resources.first()?.group, resources }))
}

impl<'r> Group<'r> {
    /// The versions in the order of preference, each with its resources.
    fn versions(&self) -> impl Iterator<Item = (&'static str, &'r [&'static Resource])> + use<'r> {
        let versions = self.resources.chunk_by(|one, other| one.version == other.version);
        versions.filter_map(|resources| Some((resources.first()?.version, resources)))
    }

    fn entry(&self) -> Value {
        let entry = |version: &str| json!({"groupVersion": format!("{}/{version}", self.name), "version": version});
        let versions: Vec<Value> = self.versions().map(|(version, _)| entry(version)).collect();
        let preferred = versions.first().cloned();
        json!({"name": self.name, "versions": versions, "preferredVersion": preferred})
    }

    fn aggregated(&self) -> Value {
        let version = |(version, resources): (&str, &[&'static Resource])| {
            let entries: Vec<Value> = resources.iter().map(|resource| aggregated_resource(resource)).collect();
            json!({"version": version, "resources": entries, "freshness": "Current"})
        };
        let versions: Vec<Value> = self.versions().map(version).collect();
        let metadata = if self.name.is_empty() { json!({}) } else { json!({"name": self.name}) };
        json!({"metadata": metadata, "versions": versions})
    }
}

fn resource_list(resources: &[&'static Resource], group: &str, version: &str) -> Option<Value> {
    let served = resources.iter().filter(|resource| resource.group == group && resource.version == version);
    let entries: Vec<Value> = served.clone().flat_map(|resource| resource_entries(resource)).collect();
    let group_version = served.map(|resource| resource.api_version()).next()?;
    // The core group's list has no `apiVersion` of its own.
    let mut list = Map::from_iter([("kind".to_owned(), json!("APIResourceList"))]);
    if !group.is_empty() {
        list.insert("apiVersion".to_owned(), json!("v1"));
    }
    list.insert("groupVersion".to_owned(), json!(group_version));
    list.insert("resources".to_owned(), json!(entries));
    Some(Value::Object(list))
}

/// A resource and its subresources, as entries of a list.
fn resource_entries(resource: &Resource) -> Vec<Value> {
    let mut entry = json!({
        "name": resource.name,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
    });
    add_names(&mut entry, resource);
    let subresources = resource.subresources.iter().map(|subresource| {
        let mut entry = json!({
            "name": format!("{}/{}", resource.name, subresource.name),
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": subresource.of.unwrap_or(resource).kind,
            "verbs": subresource.verbs,
        });
        if let Some(of) = subresource.of {
            entry["group"] = json!(of.group);
            entry["version"] = json!(of.version);
        }
        entry
    });
    std::iter::once(entry).chain(subresources).collect()
}

/// Whether the document is that of the core group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Core {
    Yes,
    No,
}

fn aggregated(resources: &[&'static Resource], core: Core) -> Value {
    let groups = by_group(resources).filter(|group| group.name.is_empty() == (core == Core::Yes));
    let items: Vec<Value> = groups.map(|group| group.aggregated()).collect();
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}

fn aggregated_resource(resource: &Resource) -> Value {
    let mut entry = json!({
        "resource": resource.name,
        "responseKind": {"group": "", "version": "", "kind": resource.kind},
        "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    });
    add_names(&mut entry, resource);
    if !resource.subresources.is_empty() {
        let subresource = |subresource: &Subresource| {
            let response_kind = match subresource.of {
                Some(of) => json!({"group": of.group, "version": of.version, "kind": of.kind}),
                None => json!({"group": "", "version": "", "kind": resource.kind}),
            };
            json!({"subresource": subresource.name, "responseKind": response_kind, "verbs": subresource.verbs})
        };
        entry["subresources"] = resource.subresources.iter().map(subresource).collect();
    }
    entry
}

/// Adds names that are omitted if empty.
fn add_names(entry: &mut Value, resource: &Resource) {
    for (name, values) in [("shortNames", resource.short_names), ("categories", resource.categories)] {
        if !values.is_empty() {
            entry[name] = json!(values);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::resources;

    /// The field that kubectl 1.30 and later send.
    const KUBECTL: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
        application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

    #[test]
    fn kubectl_gets_one_document_for_all_groups() {
        let (content_type, groups) = got("/apis", KUBECTL);
        assert_eq!(content_type, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
        let names: Vec<_> =
            groups["items"].as_array().unwrap().iter().map(|group| group["metadata"]["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["apiextensions.k8s.io", "apps", "batch", "coordination.k8s.io"]);
        let (_, core) = got("/api", KUBECTL);
        assert_eq!(core["items"].as_array().unwrap().len(), 1);
        assert_eq!(core["items"][0]["versions"][0]["resources"].as_array().unwrap().len(), 9);
    }

    #[test]
    fn subresources_are_listed_in_both_discovery_formats() {
        let (_, list) = got("/apis/apps/v1", "");
        let names: Vec<_> = list["resources"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        assert!(names.contains(&"deployments/status") && names.contains(&"daemonsets/status"), "{names:?}");
        assert!(names.contains(&"deployments/scale") && !names.contains(&"daemonsets/scale"), "{names:?}");
        let (_, groups) = got("/apis", KUBECTL);
        let deployments = &groups["items"][1]["versions"][0]["resources"][1];
        assert_eq!(deployments["resource"], "deployments");
        let scale = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
        assert_eq!(deployments["subresources"][0]["responseKind"], scale);
        assert_eq!(deployments["subresources"][1]["responseKind"]["kind"], "Deployment");
    }

    #[test]
    fn older_clients_get_unaggregated_discovery() {
        let (content_type, versions) = got("/api", "application/json, */*");
        assert_eq!((content_type, &versions["kind"]), (JSON, &json!("APIVersions")));
        let beta = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
        assert_eq!(got("/apis", beta).1["kind"], "APIGroupList");
        assert_eq!(got("/apis/apps", "").1["preferredVersion"]["groupVersion"], "apps/v1");
        assert_eq!(got("/api/v1", "").1["groupVersion"], "v1");
        assert_eq!(got("/apis/batch/v1/", "").1["kind"], "APIResourceList");
    }

    #[test]
    fn unsupported_media_types_get_406() {
        for accept in ["application/yaml", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "nonsense"]
        {
            assert_eq!(answered("/apis", accept).unwrap().status, 406, "{accept}");
        }
        let alone = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        assert_eq!(answered("/apis/apps/v1", alone).unwrap().status, 406);
    }

    #[test]
    fn unknown_discovery_paths_are_not_answered() {
        for path in ["", "/", "api", "/api/v2", "/apis//v1", "/apis/nope", "/apis/apps/v2", "/apis/apps/v1/deployments", "/version"]
        {
            assert_eq!(answered(path, ""), None, "{path}");
        }
    }

    fn answered(path: &str, accept: &str) -> Option<Answer> {
        answer(path, accept, &resources().iter().collect::<Vec<_>>())
    }

    #[track_caller]
    fn got(path: &str, accept: &str) -> (&'static str, Value) {
        let answer = answered(path, accept).unwrap();
        assert_eq!(answer.status, 200);
        (answer.content_type, serde_json::from_slice(&answer.body).unwrap())
    }
}
