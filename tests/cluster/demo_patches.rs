//! Patches: the demo and the real server give the same object.

use observer_demo::api::patch::{self, server_side};
use observer_tests::{Cluster, Response};
use serde_json::{Map, Value, json};

const COLLECTION: &str = "/api/v1/namespaces/default/podtemplates";
const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

#[test]
fn demo_patch_results_match_the_real_server() {
    let cases = [
        (STRATEGIC, json!({})),
        (
            STRATEGIC,
            json!({"template": {"spec": {
                "$setElementOrder/containers": [{"name": "c"}, {"name": "new"}, {"name": "a"}],
                "containers": [{"name": "new", "image": "new:1"}, {"$patch": "delete", "name": "b"}],
            }}}),
        ),
        (
            STRATEGIC,
            json!({"template": {"spec": {
                "$setElementOrder/containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
                "containers": [{"name": "a", "$setElementOrder/env": [{"name": "C"}, {"name": "A"}],
                                "env": [{"name": "C", "value": "3"}, {"name": "B", "$patch": "delete"}]}],
            }}}),
        ),
        (STRATEGIC, json!({"template": {"spec": {"nodeSelector": {"$patch": "replace", "z": "1"}}}})),
        (STRATEGIC, json!({"template": {"spec": {"nodeSelector": {"$patch": "delete"}}}})),
        (STRATEGIC, json!({"metadata": {"labels": {"a": null, "b": "2"}, "annotations": null}})),
        (
            STRATEGIC,
            json!({"metadata": {"$setElementOrder/finalizers": ["x.y/c", "x.y/b"], "finalizers": ["x.y/c"], "$deleteFromPrimitiveList/finalizers": ["x.y/a"]}}),
        ),
        (
            MERGE,
            json!({"metadata": {"labels": {"a": null, "b": "2"}}, "template": {"spec": {"containers": [{"name": "z", "image": "z:1"}]}}}),
        ),
        (
            JSON,
            json!([
                {"op": "test", "path": "/metadata/labels/none", "value": null},
                {"op": "test", "path": "/metadata/labels/a", "value": "1"},
                {"op": "add", "path": "/metadata/labels/x~1y", "value": "2"},
                {"op": "remove", "path": "/template/spec/containers/0"},
                {"op": "copy", "from": "/template/spec/containers/0", "path": "/template/spec/containers/-"},
                {"op": "replace", "path": "/template/spec/containers/2/name", "value": "d"},
                {"op": "move", "from": "/metadata/labels/a", "path": "/metadata/labels/b"},
            ]),
        ),
    ];
    for (number, (content_type, patch)) in cases.into_iter().enumerate() {
        let object = created(number);
        let real = sent(&object, content_type, &patch).success().unwrap_or_else(|error| panic!("{patch}: {error}")).json().unwrap();
        let demo = demo(&object, content_type, &patch).unwrap();
        assert_eq!(without_server_fields(demo), without_server_fields(real), "{patch}");
    }
}

#[test]
fn demo_patch_refusals_match_the_real_server() {
    let test = json!({"op": "test", "path": "/metadata/labels/a", "value": "1"});
    let cases = [
        (STRATEGIC, json!([])),
        (STRATEGIC, json!({"template": {"$patch": "what"}})),
        (
            STRATEGIC,
            json!({"template": {"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"image": "x"}]}}}),
        ),
        (STRATEGIC, json!({"template": {"$retainKeys": 5}})),
        (STRATEGIC, json!({"template": {"$retainKeys": ["a"], "spec": {}}})),
        (STRATEGIC, json!({"metadata": {"$setElementOrder/finalizers": 5}})),
        (MERGE, json!([1])),
        (JSON, json!({})),
        (JSON, json!([1])),
        (JSON, json!([{"op": "remove", "path": "/zzz"}])),
        (JSON, json!([{"op": "what", "path": "/zzz"}])),
        (JSON, json!([{"op": "test", "path": "/metadata/labels/a", "value": "2"}])),
        (JSON, json!(vec![test; 10_001])),
        ("text/plain", json!({})),
    ];
    let object = created(1000);
    for (content_type, patch) in cases {
        let real = sent(&object, content_type, &patch);
        let status = real.json().unwrap();
        let demo = demo(&object, content_type, &patch).expect_err("the real server refuses it");
        let shown = patch.to_string().chars().take(200).collect::<String>();
        assert_eq!(u64::from(demo.status), status["code"].as_u64().unwrap(), "{shown}: {status}");
        assert_eq!(demo.reason, status["reason"].as_str().unwrap_or_default(), "{shown}");
        if matches!(demo.status, 413 | 415 | 422) {
            assert_eq!(demo.message, status["message"].as_str().unwrap(), "{shown}");
        }
    }
}

#[test]
fn demo_server_side_apply_matches_the_real_server() {
    let cluster = Cluster::shared().unwrap();
    let (mut real, mut demo) = (Value::Null, Map::new());
    for (manager, object) in [
        ("one", json!({"metadata": {"labels": {"a": "1", "b": "2"}}, "data": {"one": "1", "both": "1"}})),
        ("two", json!({"data": {"two": "2", "both": "1"}})),
        ("one", json!({"metadata": {"labels": {"b": "3"}}})),
        ("two", json!({"metadata": {"annotations": {"x": "y"}}})),
    ] {
        let mut object = object.clone();
        object["apiVersion"] = json!("v1");
        object["kind"] = json!("ConfigMap");
        object["metadata"]["name"] = json!("applied");
        let path = format!("/api/v1/namespaces/default/configmaps/applied?fieldManager={manager}");
        let headers = [("Content-Type", server_side::MEDIA_TYPE)];
        let body = object.to_string();
        real = cluster.raw("PATCH", &path, &headers, body.as_bytes()).unwrap().success().unwrap().json().unwrap();
        let applied = server_side::parse(manager, body.as_bytes()).unwrap();
        demo = server_side::apply(&demo, &applied, server_side::Manager { name: manager, subresource: "", now: "now" });
        let demo = Value::Object(demo.clone());
        assert_eq!(own_fields(&demo), own_fields(&real), "{manager}: {object}");
    }
    assert_eq!((real["data"].get("two"), demo.get("data")), (None, None), "a field of no manager is gone");
}

/// The managers with their fields, and the values of those fields.
fn own_fields(object: &Value) -> Vec<Value> {
    let entries = object["metadata"]["managedFields"].as_array().unwrap();
    let mut fields: Vec<Value> =
        entries.iter().map(|entry| json!([entry["manager"], entry["operation"], entry["fieldsV1"]])).collect();
    fields.sort_by_key(Value::to_string);
    for field in ["labels", "annotations"] {
        fields.push(object["metadata"][field].clone());
    }
    fields.push(object["data"].clone());
    fields
}

/// A pod template that has only fields known to the real server. Each test uses another `number`.
fn created(number: usize) -> Value {
    let name = format!("patched-{number}");
    let owner = |uid: &str| json!({"uid": uid, "name": "o", "kind": "Pod", "apiVersion": "v1"});
    let object = json!({
        "metadata": {
            "name": name,
            "labels": {"a": "1"},
            "annotations": {"n": "1"},
            "finalizers": ["x.y/a", "x.y/b"],
            "ownerReferences": [owner("1"), owner("2")],
        },
        "template": {"spec": {
            "containers": [
                {"name": "a", "image": "a:1", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}], "ports": [{"containerPort": 80}]},
                {"name": "b", "image": "b:1"},
                {"name": "c", "image": "c:1"},
            ],
            "volumes": [{"name": "v", "hostPath": {"path": "/"}}],
            "tolerations": [{"key": "one", "operator": "Exists"}],
            "nodeSelector": {"x": "1", "y": "2"},
        }},
    });
    let created = request("POST", COLLECTION, "application/json", &object);
    assert_eq!(created.status, 201, "{}", created.text());
    created.json().unwrap()
}

fn sent(object: &Value, content_type: &str, patch: &Value) -> Response {
    let name = object["metadata"]["name"].as_str().unwrap();
    request("PATCH", &format!("{COLLECTION}/{name}"), content_type, patch)
}

fn request(method: &str, path: &str, content_type: &str, body: &Value) -> Response {
    Cluster::shared().unwrap().raw(method, path, &[("Content-Type", content_type)], body.to_string().as_bytes()).unwrap()
}

fn demo(object: &Value, content_type: &str, body: &Value) -> Result<Value, patch::Error> {
    patch::apply(content_type, object, body.to_string().as_bytes())
}

/// Removes fields that the server sets itself on each change, and empty lists and objects, which it treats like missing ones.
fn without_server_fields(mut object: Value) -> Value {
    for field in ["managedFields", "resourceVersion", "generation"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    strip(&mut object);
    object
}

fn strip(value: &mut Value) {
    const FILLED_IN: [&str; 6] =
        ["imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy", "protocol", "creationTimestamp", "type"];
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(strip);
            fields.retain(|name, value| {
                !FILLED_IN.contains(&name.as_str()) && !value.is_null() && *value != json!({}) && *value != json!([])
            });
        }
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
