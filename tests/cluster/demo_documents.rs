//! The visible API of the demo server compared with the real one: discovery, Tables, merge keys, unknown fields.

use std::time::SystemTime;

use observer_demo::api::table::IncludeObject;
use observer_demo::api::{Resource, discovery, openapi, resources, table};
use observer_tests::Cluster;
use serde_json::{Map, Value, json};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

#[test]
fn demo_lists_its_resources_as_the_real_server_does() {
    let mut compared = 0;
    for path in ["/api/v1", "/apis/apps/v1", "/apis/batch/v1", "/apis/coordination.k8s.io/v1"] {
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
fn demo_names_its_groups_as_the_real_server_does() {
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
fn demo_has_the_same_one_document_discovery() {
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
fn demo_refuses_what_the_real_server_refuses_in_discovery() {
    let cluster = Cluster::shared().unwrap();
    for accept in ["application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", "text/plain"] {
        let real = cluster.raw("GET", "/apis", &[("Accept", accept)], b"").unwrap();
        assert_eq!(discovery::answer("/apis", accept).unwrap().status, real.status, "{accept}");
    }
}

#[test]
fn demo_tables_have_the_columns_of_the_real_ones() {
    for resource in resources() {
        let real = real(&collection(resource), TABLE);
        let demo = table::of_list(resource, &json!({}), IncludeObject::Metadata, SystemTime::now());
        assert_eq!(columns(&demo), columns(&real), "{}", resource.name);
    }
}

#[test]
fn demo_rows_have_the_cells_of_the_real_ones() {
    let cluster = Cluster::shared().unwrap();
    for (path, object) in objects() {
        let created = cluster.raw("POST", path, &[("Content-Type", "application/json")], object.to_string().as_bytes()).unwrap();
        assert!(matches!(created.status, 201 | 409), "{path}: {}", created.text());
    }
    let mut rows = 0;
    for resource in resources() {
        let path = collection(resource);
        let before = SystemTime::now();
        let list = real(&path, "application/json");
        let real = real(&path, TABLE);
        let cells = |table: &Value| -> Map<String, Value> {
            let rows = table["rows"].as_array().unwrap().iter();
            rows.map(|row| (row["object"]["metadata"]["uid"].as_str().unwrap().to_owned(), row["cells"].clone())).collect()
        };
        // Ages advance between the requests.
        let [early, late] =
            [before, SystemTime::now()].map(|now| cells(&table::of_list(resource, &list, IncludeObject::Metadata, now)));
        for (uid, real) in cells(&real) {
            let Some((early, late)) = early.get(&uid).zip(late.get(&uid)) else { continue };
            assert!(real == *early || real == *late, "{}: {real} is not {early}", resource.name);
            rows += 1;
        }
    }
    assert!(rows > objects().len(), "only {rows} rows were compared");
}

#[test]
fn demo_merges_lists_by_the_keys_of_the_real_schemas() {
    let mut merged = 0;
    for path in
        ["/openapi/v3/api/v1", "/openapi/v3/apis/apps/v1", "/openapi/v3/apis/batch/v1", "/openapi/v3/apis/coordination.k8s.io/v1"]
    {
        let real = real(path, "application/json");
        let demo: Value = serde_json::from_slice(&openapi::answer(path, "application/json").unwrap().body).unwrap();
        for (name, schema) in demo["components"]["schemas"].as_object().unwrap() {
            let Some(real) = real["components"]["schemas"].get(name) else { continue };
            for (field, property) in schema["properties"].as_object().into_iter().flatten() {
                for extension in ["x-kubernetes-patch-merge-key", "x-kubernetes-patch-strategy"] {
                    // A field that the real server does not have yet is not compared.
                    let Some(real) = real["properties"].get(field) else { continue };
                    assert_eq!(property.get(extension), real.get(extension), "{name} {field}");
                    merged += usize::from(real.get(extension).is_some());
                }
            }
        }
    }
    assert!(merged > 50, "only {merged} were compared");
}

#[test]
fn demo_tells_unknown_fields_in_the_words_of_the_real_server() {
    let object = json!({"metadata": {"name": "unknown", "lables": {}}, "data": {"a": "1"}, "dat": 1});
    let configmaps = resources().iter().find(|resource| resource.name == "configmaps").unwrap();
    let path = "/api/v1/namespaces/default/configmaps?fieldValidation=Strict";
    let headers = [("Content-Type", "application/json")];
    let refused = Cluster::shared().unwrap().raw("POST", path, &headers, object.to_string().as_bytes()).unwrap();
    assert_eq!(refused.status, 400);
    let message = refused.json().unwrap()["message"].as_str().unwrap().to_owned();
    let (_, mut real) =
        message.split_once("strict decoding error: ").map(|(before, told)| (before, told.split(", ").collect::<Vec<_>>())).unwrap();
    let mut demo = openapi::unknown_fields(configmaps, &object);
    real.sort_unstable();
    demo.sort_unstable();
    assert_eq!(demo, real);
}

/// Objects that fill most columns; they never run.
fn objects() -> Vec<(&'static str, Value)> {
    let containers = json!([{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:1"}]);
    let labels = json!({"demo": "rows", "app": "x"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers, "nodeSelector": {"disk": "ssd"}}});
    let workload = |name: &str, spec: Value| {
        let mut object = json!({"metadata": {"name": name}, "spec": {"selector": {"matchLabels": labels}, "template": template}});
        object["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
        object
    };
    let mut job_template = template.clone();
    job_template["spec"]["restartPolicy"] = json!("Never");
    let ports = json!([{"name": "a", "port": 80, "targetPort": 8080}, {"name": "b", "port": 53, "protocol": "UDP"}]);
    vec![
        (
            "/api/v1/namespaces/default/pods",
            json!({"metadata": {"name": "row"}, "spec": {"containers": containers, "readinessGates": [{"conditionType": "x.y/z"}]}}),
        ),
        ("/api/v1/namespaces/default/podtemplates", json!({"metadata": {"name": "row"}, "template": template})),
        ("/api/v1/namespaces/default/secrets", json!({"metadata": {"name": "row"}, "stringData": {"a": "1"}})),
        ("/api/v1/namespaces/default/serviceaccounts", json!({"metadata": {"name": "row"}, "secrets": [{"name": "row"}]})),
        (
            "/api/v1/namespaces/default/services",
            json!({"metadata": {"name": "row"}, "spec": {"type": "NodePort", "ports": ports, "selector": labels}}),
        ),
        (
            "/api/v1/namespaces/default/services",
            json!({"metadata": {"name": "named"}, "spec": {"type": "ExternalName", "externalName": "a.example"}}),
        ),
        (
            "/api/v1/namespaces/default/configmaps",
            json!({"metadata": {"name": "row"}, "data": {"a": "1"}, "binaryData": {"b": "eA=="}}),
        ),
        (
            "/api/v1/nodes",
            json!({"metadata": {"name": "row", "labels": {"node-role.kubernetes.io/worker": ""}}, "spec": {"unschedulable": true}}),
        ),
        (
            "/api/v1/namespaces/default/events",
            json!({
                "metadata": {"name": "row"}, "type": "Normal", "reason": "Shown", "message": " shown \n", "count": 2,
                "involvedObject": {"kind": "Pod", "name": "row", "namespace": "default"}, "source": {"component": "test", "host": "here"},
            }),
        ),
        ("/apis/apps/v1/namespaces/default/deployments", workload("row", json!({"replicas": 2}))),
        (
            "/apis/apps/v1/namespaces/default/replicasets",
            workload(
                "row",
                json!({"selector": {"matchExpressions": [
                    {"key": "app", "operator": "In", "values": ["x", "w"]}, {"key": "demo", "operator": "Exists"}, {"key": "z", "operator": "DoesNotExist"},
                ]}}),
            ),
        ),
        ("/apis/apps/v1/namespaces/default/statefulsets", workload("row", json!({"serviceName": "row"}))),
        ("/apis/apps/v1/namespaces/default/daemonsets", workload("row", json!({}))),
        (
            "/apis/batch/v1/namespaces/default/jobs",
            json!({"metadata": {"name": "row"}, "spec": {"completions": 3, "template": job_template}}),
        ),
        (
            "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            json!({"metadata": {"name": "row"}, "spec": {"holderIdentity": "me"}}),
        ),
    ]
}

fn collection(resource: &Resource) -> String {
    let root = if resource.group.is_empty() { "/api" } else { "/apis" };
    format!("{root}/{}/{}", resource.api_version(), resource.name)
}

#[track_caller]
fn real(path: &str, accept: &str) -> Value {
    let response = Cluster::shared().unwrap().raw("GET", path, &[("Accept", accept)], b"").unwrap().success().unwrap();
    if path == "/api" || path == "/apis" {
        assert_eq!(response.headers["content-type"], discovery::answer(path, accept).unwrap().content_type);
    }
    response.json().unwrap()
}

#[track_caller]
fn demo(path: &str, accept: &str) -> Value {
    serde_json::from_slice(&discovery::answer(path, accept).unwrap().body).unwrap()
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

/// Without the descriptions, which the demo omits.
fn columns(table: &Value) -> Vec<[Value; 4]> {
    let definitions = table["columnDefinitions"].as_array().unwrap().iter();
    definitions.map(|column| ["name", "type", "format", "priority"].map(|field| column[field].clone())).collect()
}
