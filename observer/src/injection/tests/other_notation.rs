//! Manifests that are written in another notation after the injection, as `kubectl get -o json` does.

use serde_json::{Value, json};

use super::check::{deployment, inject, inject_with, injected, options, uninject};
use crate::injection::document::Document;
use crate::injection::{Options, Outcome};

/// Values that are replaced, in several notations, and empty ones that are filled.
const SPECS: [&str; 5] = [
    "containers:\n- name: app\n  image: a\n  env:\n  - name: HTTPS_PROXY\n    value: http://proxy\n  - name: NO_PROXY\n    value: localhost,.svc\nvolumes:\n",
    "containers:\n- name: app\n  image: a\n  env:\n  - {name: HTTPS_PROXY, value: p}\n  - {name: no_proxy, value: 'it''s,{b}'}\n  - {name: NO_PROXY, value: \"\\ta\\x41\"}\nvolumes: []\ninitContainers:\n",
    "containers:\n- name: app\n  image: a\n  volumeMounts:\n  - name: own\n    mountPath: /var/run/secrets/kubernetes.io/serviceaccount\nvolumes:\n- name: own\n  projected: {sources: [{serviceAccountToken: {path: token}}]}\n",
    "containers:\n- name: app\n  image: a\n  env: ~\n  volumeMounts: [\n    ]\ninitContainers: null\n",
    "containers: [{name: app, image: a, env: , volumeMounts: []}]\nvolumes: [ ]\n",
];

pub(super) fn value(text: &str) -> Value {
    Document::read(text).unwrap().unwrap().value
}

/// As the API server returns it: without empty members.
pub(super) fn without_empty(value: Value) -> Value {
    let is_empty = |value: &Value| value.is_null() || *value == json!([]) || *value == json!({});
    match value {
        Value::Object(map) => {
            let members = map.into_iter().map(|(key, value)| (key, without_empty(value)));
            Value::Object(members.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(items) => items.into_iter().map(without_empty).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

#[test]
fn injected_yaml_is_uninjected_and_injected_as_json() {
    for spec in SPECS {
        let before = deployment(spec);
        let stored = value(&injected(&before));
        for text in [stored.to_string(), format!("{stored:#}\n")] {
            let back = uninject(&text);
            assert_eq!(back.objects[0].outcome, Outcome::Uninjected, "{spec}");
            let restored: Value = serde_json::from_str(&back.text).unwrap_or_else(|error| panic!("{error}: {}", back.text));
            assert_eq!(without_empty(restored), without_empty(value(&before)));
            let again = inject(&text);
            assert!(matches!(again.objects[0].outcome, Outcome::UpToDate { .. }), "{:?}", again.objects);
            assert_eq!(again.text, text);
            let newer = inject_with(&text, &Options { image: "localhost/watchtap:2".to_owned(), ..options() });
            assert!(matches!(newer.objects[0].outcome, Outcome::Updated { .. }), "{:?}", newer.objects);
            let newer_value: Value = serde_json::from_str(&newer.text).unwrap_or_else(|error| panic!("{error}: {}", newer.text));
            assert!(newer_value.to_string().contains("localhost/watchtap:2"));
            assert_eq!(uninject(&newer.text).text, back.text);
        }
    }
}

#[test]
fn injected_json_is_uninjected_and_injected_as_yaml() {
    for spec in SPECS {
        let before = value(&deployment(spec));
        for text in [before.to_string(), format!("{before:#}\n")] {
            let stored = value(&injected(&text));
            // JSON in block style: the value of each key of the outer levels begins on a line of its own.
            let yaml = super::uninjected::block_yaml(&stored, 0);
            let back = uninject(&yaml);
            assert_eq!(back.objects[0].outcome, Outcome::Uninjected, "{yaml}");
            assert_eq!(without_empty(value(&back.text)), without_empty(before.clone()), "{}", back.text);
            let again = inject(&yaml);
            assert!(matches!(again.objects[0].outcome, Outcome::UpToDate { .. }), "{:?}", again.objects);
        }
    }
}

/// Braces that are YAML and no JSON, where a comma ends a plain scalar.
#[test]
fn injected_yaml_is_uninjected_in_braces() {
    for spec in SPECS {
        let before = deployment(spec);
        let text = value(&injected(&before)).to_string().replacen("\"kind\":", "kind: ", 1);
        let back = uninject(&text);
        assert_eq!(back.objects[0].outcome, Outcome::Uninjected, "{text}");
        assert!(back.text.contains("kind: \"Deployment\""));
        assert_eq!(without_empty(value(&back.text)), without_empty(value(&before)));
    }
}

#[test]
fn lists_of_several_objects_keep_their_notation() {
    let items: Vec<Value> = SPECS.iter().map(|spec| value(&injected(&deployment(spec)))).collect();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    for edited in [uninject(&list), inject_with(&list, &Options { image: "localhost/watchtap:2".to_owned(), ..options() })] {
        assert!(edited.objects.iter().all(|object| !matches!(object.outcome, Outcome::Refused(_))), "{:?}", edited.objects);
        assert!(serde_json::from_str::<Value>(&edited.text).is_ok(), "{}", edited.text);
    }
}
