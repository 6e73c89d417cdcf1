//! Create, replace, patch and delete on the demo server.

use observer_tests::Response;
use serde_json::{Value, json};

use super::place::{CONFIGMAPS, DemoFixture, names, revision};

#[test]
fn created_object_gets_a_generated_name_and_uid() {
    let place = DemoFixture::start();
    let created = place.client.post(CONFIGMAPS, &json!({"metadata": {"generateName": "made-"}})).unwrap();
    let object = created.json().unwrap();
    let name = object["metadata"]["name"].as_str().unwrap();
    assert_eq!((created.status, name.len()), (201, "made-".len() + 5));
    assert_eq!(object["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert_eq!((&object["kind"], &object["apiVersion"]), (&"ConfigMap".into(), &"v1".into()));
    assert_eq!(place.get(&format!("{CONFIGMAPS}/{name}")).json().unwrap(), object);
    assert_eq!(refused(&place.client.post(CONFIGMAPS, &object_named(name)).unwrap()), (409, "AlreadyExists".to_owned()));
}

#[test]
fn invalid_creates_are_refused_with_their_reasons() {
    let place = DemoFixture::start();
    let post = |path: &str, object: &Value| refused(&place.client.post(path, object).unwrap());
    assert_eq!(post("/api/v1/namespaces/none/configmaps", &object_named("x")), (404, "NotFound".to_owned()));
    assert_eq!(post(CONFIGMAPS, &json!({"metadata": {}})), (422, "Invalid".to_owned()));
    assert_eq!(post(CONFIGMAPS, &object_named("Not A Name")), (422, "Invalid".to_owned()));
    assert_eq!(post(CONFIGMAPS, &json!({"kind": "Pod", "metadata": {"name": "x"}})), (400, "BadRequest".to_owned()));
    assert_eq!(post(CONFIGMAPS, &json!({"metadata": {"name": "x", "namespace": "kube-system"}})), (400, "BadRequest".to_owned()));
    let raw = |kind: &str, body: &[u8]| refused(&place.client.raw("POST", CONFIGMAPS, &[("Content-Type", kind)], body).unwrap());
    assert_eq!(raw("application/json", b"{"), (400, "BadRequest".to_owned()));
    assert_eq!(raw("application/yaml", b"metadata: {name: x}"), (415, "UnsupportedMediaType".to_owned()));
    let protobuf = "application/vnd.kubernetes.protobuf";
    assert_eq!(raw(protobuf, b"{}"), (400, "BadRequest".to_owned()));
    assert_eq!(raw(protobuf, b"k8s\0\x12\x02\x2a\0"), (415, "UnsupportedMediaType".to_owned()), "a config map has no field 5");
    let large = json!({"metadata": {"name": "x"}, "data": {"key": "x".repeat(3 << 20)}});
    assert_eq!(post(CONFIGMAPS, &large), (413, "RequestEntityTooLarge".to_owned()));
}

#[test]
fn stale_put_gets_a_conflict() {
    let place = DemoFixture::start();
    let seen = place.create("shared");
    let newer = place.touch("shared", "other");
    assert!(revision(&newer) > revision(&seen));
    let put = |object: &Value| {
        let headers = [("Content-Type", "application/json")];
        place.client.raw("PUT", &format!("{CONFIGMAPS}/shared"), &headers, object.to_string().as_bytes()).unwrap()
    };
    assert_eq!(refused(&put(&seen)), (409, "Conflict".to_owned()));
    let mut mine = newer.clone();
    mine["data"]["key"] = "mine".into();
    assert_eq!(put(&mine).json().unwrap()["data"]["key"], "mine");
    mine["metadata"]["resourceVersion"] = "".into();
    let same = put(&mine).json().unwrap();
    let again = put(&mine).json().unwrap();
    assert_eq!(revision(&again), revision(&same), "nothing changed, so nothing was written");
}

#[test]
fn finalized_object_is_removed_after_its_last_finalizer() {
    let place = DemoFixture::start();
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}});
    place.client.post(CONFIGMAPS, &held).unwrap().success().unwrap();
    let path = format!("{CONFIGMAPS}/held");
    let marked = place.client.raw("DELETE", &path, &[], b"").unwrap().success().unwrap().json().unwrap();
    assert!(marked["metadata"]["deletionTimestamp"].is_string(), "{marked}");
    let headers = [("Content-Type", "application/merge-patch+json")];
    place.client.raw("PATCH", &path, &headers, br#"{"metadata":{"finalizers":null}}"#).unwrap().success().unwrap();
    assert_eq!(place.get(&path).status, 404);
}

#[test]
fn delete_collection_honours_its_selector() {
    let place = DemoFixture::start();
    for name in ["a", "b", "c"] {
        place.create(name);
    }
    let deleted = place.client.raw("DELETE", &format!("{CONFIGMAPS}?labelSelector=name+in+(a,c)"), &[], b"").unwrap();
    assert_eq!(names(&deleted), ["a", "c"]);
    assert_eq!(names(&place.get(CONFIGMAPS)), ["b"]);
    let one = place.client.raw("DELETE", &format!("{CONFIGMAPS}/b"), &[], b"").unwrap().json().unwrap();
    assert_eq!((&one["status"], &one["details"]["kind"]), (&"Success".into(), &"configmaps".into()));
}

#[test]
fn deleting_a_namespace_deletes_its_objects() {
    let place = DemoFixture::start();
    place.client.post("/api/v1/namespaces", &object_named("short")).unwrap().success().unwrap();
    place.client.post("/api/v1/namespaces/short/configmaps", &object_named("x")).unwrap().success().unwrap();
    place.client.raw("DELETE", "/api/v1/namespaces/short", &[], b"").unwrap().success().unwrap();
    assert_eq!(place.get("/api/v1/namespaces/short").status, 404);
    assert!(names(&place.get("/api/v1/configmaps")).is_empty());
}

#[test]
fn dry_run_writes_nothing() {
    let place = DemoFixture::start();
    let answer = place.client.post(&format!("{CONFIGMAPS}?dryRun=All"), &object_named("tried")).unwrap();
    assert_eq!((answer.status, place.get(&format!("{CONFIGMAPS}/tried")).status), (201, 404));
}

#[test]
fn protobuf_object_is_created_like_one_in_json() {
    let place = DemoFixture::start();
    let body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x12\x0f\x0a\x05\x0a\x03pbf\x12\x06\x0a\x01a\x12\x01b";
    let headers = [
        ("Content-Type", "application/vnd.kubernetes.protobuf"),
        ("Accept", "application/vnd.kubernetes.protobuf,application/json"),
    ];
    let created = place.client.raw("POST", &format!("{CONFIGMAPS}?fieldValidation=Strict"), &headers, body).unwrap();
    assert_eq!((created.status, &created.json().unwrap()["data"]), (201, &json!({"a": "b"})));
    let wrong = place.client.raw("POST", "/api/v1/namespaces/default/secrets", &headers, body).unwrap();
    assert_eq!(refused(&wrong), (400, "BadRequest".to_owned()), "a config map is no secret");
    let options = b"k8s\0\x12\x05\x12\x03\x0a\x01x";
    let kept = place.client.raw("DELETE", &format!("{CONFIGMAPS}/pbf"), &headers, options).unwrap();
    assert_eq!(refused(&kept), (409, "Conflict".to_owned()), "the uid of its preconditions is another");
}

#[test]
fn deployment_scale_subresource_is_read_and_written() {
    const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";
    let place = DemoFixture::start();
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {"app": "x"}}, "template": {}});
    place.client.post(DEPLOYMENTS, &json!({"metadata": {"name": "x"}, "spec": spec})).unwrap().success().unwrap();
    let path = format!("{DEPLOYMENTS}/x/scale");
    let mut scale = place.get(&path).success().unwrap().json().unwrap();
    assert_eq!(
        (&scale["kind"], &scale["spec"], &scale["status"]["selector"]),
        (&json!("Scale"), &json!({"replicas": 2}), &json!("app=x"))
    );
    let send = |method: &str, content_type: &str, body: &Value| {
        place.client.raw(method, &path, &[("Content-Type", content_type)], body.to_string().as_bytes()).unwrap()
    };
    let patched = send("PATCH", "application/merge-patch+json", &json!({"spec": {"replicas": 5}})).json().unwrap();
    assert_eq!((&patched["kind"], &patched["spec"]), (&json!("Scale"), &json!({"replicas": 5})));
    assert_eq!(refused(&send("PUT", "application/json", &scale)), (409, "Conflict".to_owned()), "it has changed since it was read");
    scale["metadata"]["resourceVersion"] = patched["metadata"]["resourceVersion"].clone();
    scale["spec"] = json!({"replicas": -1});
    assert_eq!(refused(&send("PUT", "application/json", &scale)), (422, "Invalid".to_owned()));
    scale["spec"] = json!({});
    send("PUT", "application/json", &scale).success().unwrap();
    let deployment = place.get(&format!("{DEPLOYMENTS}/x")).json().unwrap();
    assert_eq!((&deployment["spec"]["replicas"], &deployment["metadata"]["generation"]), (&json!(0), &json!(3)));
    assert_eq!(refused(&send("POST", "application/json", &scale)), (405, "MethodNotAllowed".to_owned()));
    assert_eq!(place.get(&format!("{DEPLOYMENTS}/none/scale")).status, 404);
}

#[test]
fn unserved_subresource_gets_404_with_a_message() {
    let place = DemoFixture::start();
    for (path, message) in [
        ("/api/v1/namespaces/default/pods/x/log", "no container runs in the demo: its API server does not serve pods/log"),
        ("/apis/apps/v1/namespaces/default/daemonsets/x/scale", "the demo's API server does not serve daemonsets.apps/scale"),
    ] {
        let answer = place.get(path);
        assert_eq!((answer.status, &answer.json().unwrap()["message"]), (404, &json!(message)));
    }
}

fn object_named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

fn refused(response: &Response) -> (u16, String) {
    (response.status, response.json().unwrap()["reason"].as_str().unwrap_or_default().to_owned())
}
