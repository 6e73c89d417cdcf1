//! Discovery of the demo server, compared with the real one.

use observer_demo::api::{Answer, discovery, resources};
use observer_tests::Cluster;
use serde_json::{Map, Value};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

#[test]
fn demo_resource_lists_match_the_real_server() {
    let mut compared = 0;
    for path in ["/api/v1", "/apis/apiextensions.k8s.io/v1", "/apis/apps/v1", "/apis/batch/v1", "/apis/coordination.k8s.io/v1"] {
        let (mut real, mut demo) = (real(path, "application/json"), demo(path, "application/json"));
        let (real_entries, demo_entries) = (by_name(&mut real, "resources", "name"), by_name(&mut demo, "resources", "name"));
        assert_eq!(demo, real, "{path}");
        for (name, entry) in demo_entries {
            let mut expected = real_entries[&name].clone();
            expected.as_object_mut().unwrap().remove("storageVersionHash");
            assert_eq!(entry, expected, "{path} {name}");
            compared += 1;
        }
    }
    let entries = resources().iter().map(|resource| 1 + resource.subresources.len()).sum::<usize>();
    assert_eq!(compared, entries);
}

#[test]
fn demo_group_lists_match_the_real_server() {
    let (mut real_groups, mut demo_groups) = (real("/apis", "application/json"), demo("/apis", "application/json"));
    let (real_entries, demo_entries) = (by_name(&mut real_groups, "groups", "name"), by_name(&mut demo_groups, "groups", "name"));
    assert_eq!(demo_groups, real_groups);
    for (name, entry) in &demo_entries {
        assert_eq!(&demo(&format!("/apis/{name}"), ""), &real(&format!("/apis/{name}"), "application/json"));
        // The real server also serves older versions.
        assert_eq!(entry["preferredVersion"], real_entries[name]["preferredVersion"]);
    }
    let (mut real, mut demo) = (real("/api", "application/json"), demo("/api", ""));
    for versions in [&mut real, &mut demo] {
        versions["serverAddressByClientCIDRs"].take();
    }
    assert_eq!(demo, real);
}

#[test]
fn demo_aggregated_discovery_matches_the_real_server() {
    let mut compared = 0;
    for path in ["/api", "/apis"] {
        let (mut real, mut demo) = (real(path, AGGREGATED), demo(path, AGGREGATED));
        let (real_groups, demo_groups) = (groups(&mut real), groups(&mut demo));
        assert_eq!(demo, real, "{path}");
        for (name, mut group) in demo_groups {
            let (mut real, mut demo) = (real_groups[&name]["versions"][0].clone(), group["versions"][0].take());
            let (real_entries, demo_entries) =
                (by_name(&mut real, "resources", "resource"), by_name(&mut demo, "resources", "resource"));
            assert_eq!(demo, real, "{name}");
            for (name, entry) in demo_entries {
                assert_eq!(entry, with_subresources_of(&real_entries[&name], &entry), "{name}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, resources().len());
}

#[test]
fn demo_discovery_refusals_match_the_real_server() {
    let cluster = Cluster::shared().unwrap();
    for accept in ["application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "text/plain"] {
        let real = cluster.raw("GET", "/apis", &[("Accept", accept)], b"").unwrap();
        assert_eq!(answered("/apis", accept).unwrap().status, real.status, "{accept}");
    }
}

#[track_caller]
fn real(path: &str, accept: &str) -> Value {
    let response = Cluster::shared().unwrap().raw("GET", path, &[("Accept", accept)], b"").unwrap().success().unwrap();
    if path == "/api" || path == "/apis" {
        assert_eq!(response.headers["content-type"], answered(path, accept).unwrap().content_type);
    }
    response.json().unwrap()
}

fn answered(path: &str, accept: &str) -> Option<Answer> {
    discovery::answer(path, accept, &resources().iter().collect::<Vec<_>>())
}

#[track_caller]
fn demo(path: &str, accept: &str) -> Value {
    serde_json::from_slice(&answered(path, accept).unwrap().body).unwrap()
}

/// Removes the entries from a document, keyed by name.
fn by_name(document: &mut Value, list: &str, name: &str) -> Map<String, Value> {
    let entries = document[list].take();
    entries.as_array().unwrap().iter().map(|entry| (entry[name].as_str().unwrap().to_owned(), entry.clone())).collect()
}

fn groups(document: &mut Value) -> Map<String, Value> {
    let items = document["items"].take();
    items
        .as_array()
        .unwrap()
        .iter()
        .map(|group| (group["metadata"]["name"].as_str().unwrap_or_default().to_owned(), group.clone()))
        .collect()
}

/// The real entry, with only the subresources that the demo serves.
fn with_subresources_of(real: &Value, demo: &Value) -> Value {
    let mut real = real.clone();
    let served: Vec<&Value> = demo["subresources"].as_array().into_iter().flatten().map(|entry| &entry["subresource"]).collect();
    if let Some(subresources) = real.get_mut("subresources").and_then(Value::as_array_mut) {
        subresources.retain(|entry| served.contains(&&entry["subresource"]));
        if subresources.is_empty() {
            real.as_object_mut().unwrap().remove("subresources");
        }
    }
    real
}
