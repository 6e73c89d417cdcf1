//! Tests of the demo server's custom resources and server-side apply.

use observer_tests::Response;
use serde_json::{Value, json};

use super::place::{CONFIGMAPS, DemoFixture, LIMIT, names, revision, until};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";

#[test]
fn crd_is_served_until_it_is_deleted() {
    let place = DemoFixture::start();
    assert_eq!(place.get(WIDGETS).status, 404);
    let created = place.client.post(DEFINITIONS, &definition()).unwrap().success().unwrap().json().unwrap();
    assert_eq!(created["status"]["conditions"][1]["type"], "Established");
    let group = place.get("/apis/example.com").json().unwrap();
    assert_eq!(group["preferredVersion"]["version"], "v1");
    let listed = place.get("/apis/example.com/v1").json().unwrap();
    assert_eq!((&listed["resources"][0]["kind"], &listed["resources"][1]["name"]), (&json!("Widget"), &json!("widgets/status")));

    let one = post(&place, WIDGETS, &json!({"metadata": {"name": "one"}, "spec": {"size": 1}, "status": {"size": 1}}));
    assert_eq!((&one["kind"], &one["metadata"]["generation"], one.get("status")), (&json!("Widget"), &json!(1), None));
    let status = patch(&place, &format!("{WIDGETS}/one/status"), &json!({"spec": {"size": 9}, "status": {"size": 1}}));
    assert_eq!(
        (&status["spec"], &status["status"], &status["metadata"]["generation"]),
        (&json!({"size": 1}), &json!({"size": 1}), &json!(1))
    );
    let grown = patch(&place, &format!("{WIDGETS}/one"), &json!({"spec": {"size": 2}, "status": {"size": 9}}));
    assert_eq!((&grown["status"], &grown["metadata"]["generation"]), (&json!({"size": 1}), &json!(2)));
    let beta = place.get(&format!("{}/one", WIDGETS.replace("/v1/", "/v1beta1/"))).json().unwrap();
    assert_eq!((&beta["apiVersion"], &beta["spec"]), (&json!("example.com/v1beta1"), &json!({"size": 2})));
    assert_eq!(names(&place.get("/apis/example.com/v1/widgets?fieldSelector=metadata.name=one")), ["one"]);

    place.client.raw("DELETE", &format!("{DEFINITIONS}/widgets.example.com"), &[], b"").unwrap().success().unwrap();
    assert_eq!(place.get(WIDGETS).status, 404);
    post(&place, DEFINITIONS, &definition());
    assert_eq!(names(&place.get(WIDGETS)), [""; 0], "the objects went with the definition");
}

#[test]
fn custom_resource_watches_end_when_the_crd_is_deleted() {
    let place = DemoFixture::start();
    post(&place, DEFINITIONS, &definition());
    let list = place.get(WIDGETS).json().unwrap();
    let path = format!("{WIDGETS}?watch=true&resourceVersion={}", revision(&list));
    let client = place.client.clone();
    let watch = std::thread::spawn(move || client.raw("GET", &path, &[], b"").unwrap());
    let handle = place.handle();
    until(|| handle.open_watches() == 1);
    post(&place, WIDGETS, &json!({"metadata": {"name": "one"}}));
    place.client.raw("DELETE", &format!("{DEFINITIONS}/widgets.example.com"), &[], b"").unwrap().success().unwrap();
    let text = watch.join().unwrap().text();
    let types: Vec<Value> = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["type"].take()).collect();
    assert_eq!(types, ["ADDED", "DELETED"]);
}

#[test]
fn restore_brings_back_crds_and_their_objects() {
    let place = DemoFixture::start();
    post(&place, DEFINITIONS, &definition());
    post(&place, WIDGETS, &json!({"metadata": {"name": "one"}}));
    place.handle().back_up();
    place.client.raw("DELETE", &format!("{DEFINITIONS}/widgets.example.com"), &[], b"").unwrap().success().unwrap();
    place.handle().restore(LIMIT / 1000).blocking_recv().unwrap();
    assert_eq!(names(&place.get(WIDGETS)), ["one"]);
}

#[test]
fn invalid_crds_are_refused() {
    let place = DemoFixture::start();
    let mut wrong = definition();
    wrong["metadata"]["name"] = json!("other");
    assert_eq!(place.client.post(DEFINITIONS, &wrong).unwrap().status, 422);
    post(&place, DEFINITIONS, &definition());
    let headers = [("Content-Type", "application/merge-patch+json")];
    let versions = json!({"spec": {"versions": []}}).to_string();
    let refused = place.client.raw("PATCH", &format!("{DEFINITIONS}/widgets.example.com"), &headers, versions.as_bytes()).unwrap();
    assert_eq!(refused.status, 422);
}

#[test]
fn apply_creates_then_merges_then_removes_fields() {
    let place = DemoFixture::start();
    let (status, created) = apply(&place, "one", &json!({"labels": {"a": "1"}}), &json!({"a": "1", "b": "1"}));
    assert_eq!((status, &created["data"]), (201, &json!({"a": "1", "b": "1"})));
    let (status, merged) = apply(&place, "two", &json!({}), &json!({"c": "2"}));
    assert_eq!((status, &merged["data"]), (200, &json!({"a": "1", "b": "1", "c": "2"})));
    let (_, same) = apply(&place, "two", &json!({}), &json!({"c": "2"}));
    assert_eq!(revision(&same), revision(&merged), "nothing changed, so nothing was written");
    let touched = place.touch("applied", "value");
    assert_eq!(touched["metadata"]["managedFields"], merged["metadata"]["managedFields"], "an update leaves them as they are");
    let (_, rest) = apply(&place, "one", &json!({}), &json!({"b": "3"}));
    assert_eq!((&rest["data"], rest["metadata"].get("labels")), (&json!({"b": "3", "c": "2", "key": "value"}), None));
}

#[test]
fn invalid_apply_is_refused() {
    let place = DemoFixture::start();
    let send = |query: &str, body: &str| sent(&place, "x", query, body).status;
    assert_eq!(send("", r#"{"metadata": {"name": "x"}}"#), 422, "without a manager");
    assert_eq!(send("?fieldManager=m", "metadata: {name: x}"), 400, "YAML");
    assert_eq!(send("?fieldManager=m", r#"{"metadata": {"name": "y"}}"#), 400, "another name than in the path");
    assert_eq!(send("?fieldManager=m", r#"{"kind": "Pod", "metadata": {"name": "x"}}"#), 400, "another kind");
    assert_eq!(send("?fieldManager=m", r#"{"metadata": {"name": "x"}}"#), 201);
    assert_eq!(send("?fieldManager=m", r#"{"metadata": {"name": "x", "resourceVersion": "1"}}"#), 409, "an older version");
}

#[track_caller]
fn post(place: &DemoFixture, collection: &str, object: &Value) -> Value {
    place.client.post(collection, object).unwrap().success().unwrap().json().unwrap()
}

#[track_caller]
fn patch(place: &DemoFixture, path: &str, change: &Value) -> Value {
    let headers = [("Content-Type", "application/merge-patch+json")];
    place.client.raw("PATCH", path, &headers, change.to_string().as_bytes()).unwrap().success().unwrap().json().unwrap()
}

/// Applies a config map with this metadata and data. Returns the status and the object.
#[track_caller]
fn apply(place: &DemoFixture, manager: &str, metadata: &Value, data: &Value) -> (u16, Value) {
    let mut object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
    object["metadata"]["name"] = json!("applied");
    let response = sent(place, "applied", &format!("?fieldManager={manager}&force=true"), &object.to_string());
    let response = response.success().unwrap();
    (response.status, response.json().unwrap())
}

#[track_caller]
fn sent(place: &DemoFixture, name: &str, query: &str, body: &str) -> Response {
    let headers = [("Content-Type", "application/apply-patch+yaml")];
    place.client.raw("PATCH", &format!("{CONFIGMAPS}/{name}{query}"), &headers, body.as_bytes()).unwrap()
}

/// Widgets in two versions, with a status.
fn definition() -> Value {
    let version =
        |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "subresources": {"status": {}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [version("v1beta1", false), version("v1", true)],
        },
    })
}
