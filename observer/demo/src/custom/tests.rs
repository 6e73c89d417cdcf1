//! Tests of valid and invalid definitions, and of the resources that they define.

use serde_json::{Map, Value, json};

use super::{check, resources, set_status};

#[test]
fn served_versions_become_resources_preferred_version_first() {
    let mut definition = definition();
    definition["spec"]["versions"] = json!([
        {"name": "v1alpha1", "served": false, "storage": false},
        {"name": "v1beta2", "served": true, "storage": false},
        {"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}},
        {"name": "v1beta10", "served": true, "storage": false},
    ]);
    check(fields(&definition)).unwrap();
    let found = resources(&definition);
    let versions: Vec<_> = found.iter().map(|resource| (resource.version, resource.subresources.len())).collect();
    assert_eq!(versions, [("v1", 1), ("v1beta10", 0), ("v1beta2", 0)]);
    let first = found[0];
    assert_eq!(
        (first.singular, first.short_names, first.path()),
        ("widget", ["wd"].as_slice(), "/apis/example.com/v1/widgets".to_owned())
    );
    assert!(resources(&definition).iter().zip(found).all(|(one, other)| std::ptr::eq(*one, other)), "an equal one is kept once");
}

#[test]
fn a_definition_is_established_at_once() {
    let mut definition = fields(&definition()).clone();
    set_status(&mut definition, "2026-01-01T00:00:00Z");
    let status = &definition["status"];
    assert_eq!(status["acceptedNames"]["kind"], "Widget");
    assert_eq!(status["storedVersions"], json!(["v1"]));
    assert_eq!((&status["conditions"][1]["type"], &status["conditions"][1]["status"]), (&json!("Established"), &json!("True")));
}

#[test]
fn definitions_that_cannot_be_served_are_refused() {
    for (pointer, value, field) in [
        ("/metadata/name", json!("other"), "metadata.name"),
        ("/spec/group", json!("apps"), "metadata.name"),
        ("/spec/names/kind", json!("Wid\"get"), "spec.names.kind"),
        ("/spec/scope", json!("Everywhere"), "spec.scope"),
        ("/spec/versions", json!([]), "spec.versions"),
        ("/spec/versions/0/name", json!("v1/x"), "spec"),
        ("/spec/versions/0/served", json!("yes"), "spec"),
    ] {
        let mut definition = definition();
        *definition.pointer_mut(pointer).unwrap() = value;
        assert_eq!(check(fields(&definition)).unwrap_err().0, field, "{pointer}");
    }
    let mut taken = definition();
    taken["metadata"]["name"] = json!("widgets.coordination.k8s.io");
    taken["spec"]["group"] = json!("coordination.k8s.io");
    assert_eq!(check(fields(&taken)).unwrap_err().0, "spec");
}

fn fields(definition: &Value) -> &Map<String, Value> {
    definition.as_object().unwrap()
}

fn definition() -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [{"name": "v1", "served": true, "storage": true}],
        },
    })
}
