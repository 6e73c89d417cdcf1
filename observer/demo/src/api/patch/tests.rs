//! Tests of objects after patches in each format.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Error, apply};

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

#[test]
fn list_is_merged_by_its_set_element_order_key() {
    let pod = json!({"spec": {"containers": [{"name": "a", "image": "a:1", "tty": true}, {"name": "server"}, {"name": "b", "image": "b:1"}]}});
    let patch = json!({"spec": {
        "$setElementOrder/containers": [{"name": "b"}, {"name": "new"}, {"name": "a"}],
        "containers": [{"name": "new", "image": "new:1"}, {"name": "a", "image": "a:2"}],
    }});
    check(&pod, &patch, |pod| {
        pod["spec"]["containers"] = json!([
            {"name": "b", "image": "b:1"}, {"name": "new", "image": "new:1"}, {"name": "a", "image": "a:2", "tty": true}, {"name": "server"},
        ]);
    });
}

#[test]
fn set_element_order_alone_only_sorts() {
    let pod = json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}]}, "metadata": {"finalizers": ["x", "y"]}});
    let patch = json!({
        "spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}], "$setElementOrder/volumes": []},
        "metadata": {"$setElementOrder/finalizers": ["y", "x"]},
    });
    check(&pod, &patch, |pod| {
        pod["spec"]["containers"] = json!([{"name": "b"}, {"name": "a"}]);
        pod["metadata"]["finalizers"] = json!(["y", "x"]);
    });
}

#[test]
fn list_without_set_element_order_is_replaced() {
    let pod = json!({"spec": {"tolerations": [{"key": "one"}], "containers": [{"name": "a"}]}});
    check(&pod, &json!({"spec": {"tolerations": [{"key": "two"}]}}), |pod| pod["spec"]["tolerations"] = json!([{"key": "two"}]));
}

#[test]
fn elements_are_deleted_and_replaced_by_directive() {
    let pod = json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}, {"name": "a"}], "nodeSelector": {"x": "1", "y": "2"}}});
    let order = json!([{"name": "b"}]);
    check(
        &pod,
        &json!({"spec": {"$setElementOrder/containers": order, "containers": [{"$patch": "delete", "name": "a"}]}}),
        |pod| {
            pod["spec"]["containers"] = json!([{"name": "b"}]);
        },
    );
    let only = json!([{"$patch": "replace"}, {"name": "b", "image": "b:1"}]);
    check(&pod, &json!({"spec": {"$setElementOrder/containers": order, "containers": only}}), |pod| {
        pod["spec"]["containers"] = json!([{"name": "b", "image": "b:1"}]);
    });
    check(&pod, &json!({"spec": {"nodeSelector": {"$patch": "replace", "z": "3"}}}), |pod| {
        pod["spec"]["nodeSelector"] = json!({"z": "3"});
    });
    check(&pod, &json!({"spec": {"nodeSelector": {"$patch": "delete"}}}), |pod| pod["spec"]["nodeSelector"] = json!({}));
}

#[test]
fn keys_missing_from_retain_keys_are_removed() {
    let deployment = json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
    let patch = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
    check(&deployment, &patch, |deployment| deployment["spec"]["strategy"] = json!({"type": "Recreate"}));
}

#[test]
fn scalars_are_merged_and_deleted_by_directive() {
    let pod = json!({"metadata": {"finalizers": ["a", "b"]}});
    let patch = json!({"metadata": {"$setElementOrder/finalizers": ["b", "c"], "finalizers": ["c"]}});
    check(&pod, &patch, |pod| pod["metadata"]["finalizers"] = json!(["b", "c", "a"]));
    let patch = json!({"metadata": {
        "$deleteFromPrimitiveList/finalizers": ["a"], "$setElementOrder/finalizers": ["c", "b"], "finalizers": ["c"],
    }});
    check(&pod, &patch, |pod| pod["metadata"]["finalizers"] = json!(["c", "b"]));
}

#[test]
fn client_go_event_recorder_patch_is_applied() {
    let event = json!({"count": 1, "lastTimestamp": "2026-01-01T00:00:00Z", "message": "m", "type": "Normal"});
    let patch = json!({"count": 2, "lastTimestamp": "2026-01-01T00:00:05Z"});
    check(&event, &patch, |event| {
        event["count"] = json!(2);
        event["lastTimestamp"] = json!("2026-01-01T00:00:05Z");
    });
}

#[test]
fn invalid_strategic_patches_get_the_api_server_statuses() {
    let pod = json!({"metadata": {"finalizers": ["a"]}, "spec": {"containers": [{"name": "a"}]}});
    for (patch, expected) in [
        (json!({"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"image": "a"}]}}), 500),
        (json!({"spec": {"$patch": "what"}}), 500),
        (json!({"spec": {"$patch": 5}}), 500),
        (json!({"spec": {"$retainKeys": "name"}}), 400),
        (json!({"spec": {"$retainKeys": ["a"], "b": 1}}), 400),
        (json!({"spec": {"$setElementOrder/containers": 5}}), 500),
        (json!([]), 400),
    ] {
        assert_eq!(status(STRATEGIC, &pod, &patch), expected, "{patch}");
    }
}

#[test]
fn long_lists_are_merged_in_one_pass() {
    let containers = |image: &str| (0..20_000).map(|n| json!({"name": format!("c{n}"), "image": image})).collect::<Vec<_>>();
    let mut reversed = containers("new");
    reversed.reverse();
    let order: Vec<Value> = reversed.iter().map(|container| json!({"name": container["name"]})).collect();
    let patch = json!({"spec": {"$setElementOrder/containers": order, "containers": reversed}});
    let merged = patched(STRATEGIC, &json!({"spec": {"containers": containers("old")}}), &patch).unwrap();
    assert_eq!(merged["spec"]["containers"], patch["spec"]["containers"]);
}

#[test]
fn null_deletes_fields_and_is_dropped_from_new_ones() {
    let pod = json!({"metadata": {"labels": {"a": "1", "b": "2"}}});
    let patch = json!({"metadata": {"labels": {"a": null, "zzz": null}, "annotations": {"x": "1", "y": null}}, "nothing": null});
    check(&pod, &patch, |pod| {
        pod["metadata"] = json!({"labels": {"b": "2"}, "annotations": {"x": "1"}});
    });
}

#[test]
fn directives_are_stripped_from_new_fields() {
    let patch = json!({"spec": {
        "$setElementOrder/containers": [{"name": "a"}],
        "containers": [{"name": "a"}, {"$patch": "delete", "name": "b"}],
        "securityContext": {"$patch": "delete"},
        "strategy": {"$retainKeys": ["type"], "type": "x"},
    }});
    check(&json!({}), &patch, |pod| *pod = json!({"spec": {"containers": [{"name": "a"}], "strategy": {"type": "x"}}}));
}

#[test]
fn merge_patch_replaces_lists_and_deletes_nulls() {
    let pod = json!({"spec": {"containers": [{"name": "a"}], "nodeName": "n"}});
    let merged = patched(MERGE, &pod, &json!({"spec": {"containers": [{"name": "b"}], "nodeName": null}})).unwrap();
    assert_eq!(merged, json!({"spec": {"containers": [{"name": "b"}]}}));
    assert_eq!(status(MERGE, &pod, &json!([1])), 400);
}

#[test]
fn json_patch_does_its_operations_in_order() {
    let object = json!({"data": {"a": "1"}, "list": [1]});
    let patch = json!([
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "add", "path": "/list/-", "value": 2},
        {"op": "copy", "from": "/data/a", "path": "/data/b"},
        {"op": "move", "from": "/data/a", "path": "/data/c~1d"},
        {"op": "replace", "path": "/list/0", "value": 0},
    ]);
    let patched = patched(JSON, &object, &patch).unwrap();
    assert_eq!(patched, json!({"data": {"b": "1", "c/d": "1"}, "list": [0, 2]}));
}

#[test]
fn a_missing_field_passes_a_test_for_null() {
    let object = json!({"metadata": {}});
    let patch = json!([
        {"op": "test", "path": "/metadata/finalizers", "value": null},
        {"op": "add", "path": "/metadata/finalizers", "value": ["a"]},
    ]);
    assert_eq!(patched(JSON, &object, &patch).unwrap(), json!({"metadata": {"finalizers": ["a"]}}));
    let deeper = json!([{"op": "test", "path": "/spec/size", "value": null}]);
    assert_eq!(status(JSON, &object, &deeper), 422);
}

#[test]
fn inapplicable_json_patches_are_refused() {
    let object = json!({"data": {"a": "1"}});
    for (patch, expected) in [
        (json!([{"op": "remove", "path": "/zzz"}]), 422),
        (json!([{"op": "test", "path": "/data/a", "value": "2"}]), 422),
        (json!([{"op": "copy", "from": "/zzz", "path": "/data/b"}]), 422),
        (json!([{"op": "move", "from": "/data", "path": "/data/b"}]), 422),
        (json!([{"op": "what", "path": "/data"}]), 422),
        (json!([{"op": "replace", "path": "", "value": 5}]), 422),
        (json!([5]), 400),
        (json!({}), 400),
    ] {
        assert_eq!(status(JSON, &object, &patch), expected, "{patch}");
    }
}

#[test]
fn too_many_json_patch_operations_get_413() {
    let patch = json!(vec![json!({"op": "test", "path": "/a", "value": 1}); 10_001]);
    let error = patched(JSON, &json!({"a": 1}), &patch).unwrap_err();
    assert_eq!((error.status, error.reason), (413, "RequestEntityTooLarge"));
    assert!(error.message.ends_with("The allowed maximum operations in a JSON patch is 10000, got 10001"), "{}", error.message);
}

#[test]
fn json_patch_growth_and_nesting_are_bounded() {
    let doubling = json!(vec![json!({"op": "copy", "from": "", "path": "/a"}); 200]);
    assert_eq!(status(JSON, &json!({"a": 1, "b": "text"}), &doubling), 413);
    let growing = json!(vec![json!({"op": "copy", "from": "/list", "path": "/list/-"}); 60]);
    assert_eq!(status(JSON, &json!({"list": [1]}), &growing), 413);
    let mut path = String::new();
    let nesting: Vec<Value> = (0..200)
        .map(|_| {
            path.push_str("/a");
            json!({"op": "add", "path": path, "value": {}})
        })
        .collect();
    assert_eq!(status(JSON, &json!({}), &json!(nesting)), 413);
}

#[test]
fn ten_thousand_operations_on_a_long_list_get_413() {
    let object = json!({"list": vec![0; 300_000]});
    let shifting = json!(vec![json!({"op": "remove", "path": "/list/0"}); 10_000]);
    assert_eq!(status(JSON, &object, &shifting), 413);
    let moving = json!(vec![json!({"op": "move", "from": "/list", "path": "/list"}); 10_000]);
    assert_eq!(status(JSON, &object, &moving), 413);
}

#[test]
fn deeply_nested_patches_are_refused() {
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let operations = format!("[{{\"op\":\"add\",\"path\":\"/a\",\"value\":{deep}}}]");
    for (content_type, patch) in [(MERGE, &deep), (STRATEGIC, &deep), (JSON, &operations)] {
        let error = apply(content_type, &json!({}), patch.as_bytes()).unwrap_err();
        assert_eq!(error.status, 400, "{content_type}");
    }
}

#[test]
fn unknown_patch_content_types_get_415() {
    for content_type in ["application/json", "text/plain", ""] {
        let error = patched(content_type, &json!({}), &json!({})).unwrap_err();
        assert_eq!((error.status, error.message.as_str()), (415, "415: Unsupported Media Type"));
    }
    assert!(patched("application/merge-patch+json; charset=utf-8", &json!({}), &json!({})).is_ok());
}

proptest! {
    #[test]
    fn empty_patches_change_nothing(object in objects()) {
        for content_type in [MERGE, STRATEGIC] {
            prop_assert_eq!(&patched(content_type, &object, &json!({})).unwrap(), &object);
        }
        prop_assert_eq!(&patched(JSON, &object, &json!([])).unwrap(), &object);
    }

    #[test]
    fn arbitrary_patches_yield_an_object_or_an_error(object in objects(), patch in objects(), bytes in any::<Vec<u8>>()) {
        for content_type in [JSON, MERGE, STRATEGIC] {
            for patch in [patch.to_string().as_bytes(), &bytes] {
                if let Ok(patched) = apply(content_type, &object, patch) {
                    prop_assert!(patched.is_object());
                }
            }
        }
    }
}

/// Objects with names that have a meaning in a strategic merge patch.
fn objects() -> impl Strategy<Value = Value> {
    let scalars = prop_oneof![Just(json!(1)), Just(json!("a")), Just(json!("delete")), Just(json!("replace")), Just(Value::Null)];
    let values = scalars.prop_recursive(5, 60, 4, |inner| {
        let names = prop::sample::select(vec![
            "name",
            "uid",
            "containers",
            "ports",
            "containerPort",
            "metadata",
            "finalizers",
            "ownerReferences",
            "spec",
            "$patch",
            "$retainKeys",
            "$setElementOrder/containers",
            "$deleteFromPrimitiveList/finalizers",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names, inner, 0..4).prop_map(|fields| json!(fields)),
        ]
    });
    prop::collection::btree_map(prop::sample::select(vec!["metadata", "spec", "status"]), values, 0..3)
        .prop_map(|fields| json!(fields))
}

#[track_caller]
fn check(pod: &Value, patch: &Value, change: impl FnOnce(&mut Value)) {
    let mut expected = pod.clone();
    change(&mut expected);
    assert_eq!(patched(STRATEGIC, pod, patch).unwrap(), expected);
}

#[track_caller]
fn status(content_type: &str, object: &Value, patch: &Value) -> u16 {
    patched(content_type, object, patch).unwrap_err().status
}

#[track_caller]
fn patched(content_type: &str, object: &Value, patch: &Value) -> Result<Value, Error> {
    apply(content_type, object, patch.to_string().as_bytes())
}
