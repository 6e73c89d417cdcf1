//! Pods at admission: what is patched, refused or left alone.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::check::options;
use super::other_notation::value;
use super::properties::shape;
use crate::injection::admit::Untouched;
use crate::injection::decision::{Referenced, Subject, decide};
use crate::injection::object::objects;
use crate::injection::options::Seen;
use crate::injection::{Admission, Options};
use crate::pod_layout::SERVICE_ACCOUNT;

#[test]
fn labelled_pod_gets_the_sidecar_and_nothing_else_changes() {
    let pod = pod(&json!({"containers": [
        {"name": "app", "image": "a", "env": [{"name": "A", "value": "b"}]},
        {"name": "other", "image": "b"},
    ]}));
    let Admission::Injected { patch, led, warnings } = admit(&pod, "shop", &options()) else { panic!("no sidecar") };
    let led: Vec<(&str, u16)> = led.iter().map(|led| (led.container.as_str(), led.port)).collect();
    assert_eq!((led, warnings), (vec![("app", 16443), ("other", 16444)], Vec::new()));
    let after = patched(&pod, &patch);
    assert_eq!(after["spec"]["initContainers"][0]["name"], "watchtap");
    assert_eq!(after["metadata"]["annotations"], json!({"watchtap.dev/admitted": env!("CARGO_PKG_VERSION")}));
    assert_eq!(after["spec"]["containers"][0]["env"][3], json!({"name": "A", "value": "b"}));
    let paths: Vec<&str> = patch.iter().map(|operation| operation["path"].as_str().unwrap()).collect();
    assert_eq!(
        paths,
        [
            "/spec/containers/0/volumeMounts/0/mountPath",
            "/spec/containers/1/volumeMounts/0/mountPath",
            "/spec/initContainers",
            "/spec/containers/0/env/0",
            "/spec/containers/0/env/1",
            "/spec/containers/0/env/2",
            "/spec/containers/0/volumeMounts/-",
            "/spec/containers/1/env",
            "/spec/containers/1/volumeMounts/-",
            "/spec/volumes/-",
            "/spec/volumes/-",
            "/spec/volumes/-",
            "/metadata/annotations",
        ]
    );
    assert!(!after.to_string().contains("watchtap.dev/injected") && !after.to_string().contains("kube-api-access-watchtap"));
}

#[test]
fn admission_of_an_admitted_pod_changes_nothing() {
    let pod = pod(&json!({"containers": [{"name": "app", "image": "a"}]}));
    let Admission::Injected { patch, .. } = admit(&pod, "shop", &options()) else { panic!("no sidecar") };
    let again = admit(&patched(&pod, &patch), "shop", &options());
    assert_eq!(again, Admission::Unchanged(Untouched::HasSidecar));
}

#[test]
fn pods_that_request_nothing_or_have_a_sidecar_are_unchanged() {
    let plain = pod(&json!({"containers": [{"name": "app", "image": "a"}]}));
    let with = |pointer: &str, value: Value| {
        let mut pod = plain.clone();
        *pod.pointer_mut(pointer).unwrap() = value;
        pod
    };
    let sidecar = json!({"name": "watchtap", "restartPolicy": "Always", "volumeMounts": [{"name": "watchtap-own"}]});
    for (pod, why) in [
        (with("/metadata/labels", json!({})), Untouched::NotRequested),
        (with("/metadata/labels", json!({"watchtap.dev/inject": "disabled"})), Untouched::NotRequested),
        (with("/metadata/labels", json!({"watchtap.dev/inject": true})), Untouched::NotRequested),
        (with("/spec", json!({"initContainers": [sidecar]})), Untouched::HasSidecar),
        (with("/spec", json!({})), Untouched::Malformed),
        (with("/spec", json!(7)), Untouched::Malformed),
        (json!(null), Untouched::NotRequested),
        (json!([[], {}]), Untouched::NotRequested),
        (
            json!({"metadata": {"labels": plain["metadata"]["labels"], "annotations": "none"}, "spec": plain["spec"]}),
            Untouched::Malformed,
        ),
    ] {
        assert_eq!(admit(&pod, "shop", &options()), Admission::Unchanged(why), "{pod}");
    }
}

/// A pod with such a container has no sidecar, so its owner gets a reason.
#[test]
fn container_with_the_name_of_the_sidecar_is_refused() {
    let app = json!({"name": "app", "image": "a"});
    let named = |more: Value| {
        let mut container = json!({"name": "watchtap", "image": "a"});
        container.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        container
    };
    let own = json!([{"name": "watchtap-own", "mountPath": "/var/run/secrets/watchtap/own"}]);
    let sidecar = named(json!({"restartPolicy": "Always", "volumeMounts": own}));
    for spec in [
        json!({"containers": [app, named(json!({}))]}),
        json!({"containers": [app, sidecar]}),
        json!({"containers": [app], "initContainers": [named(json!({}))]}),
        json!({"containers": [app], "initContainers": [named(json!({"restartPolicy": "Always"}))]}),
        json!({"containers": [app], "initContainers": [named(json!({"volumeMounts": own}))]}),
    ] {
        let mut pod = pod(&spec);
        // The record of a sidecar that is gone changes nothing.
        pod["metadata"]["annotations"] = json!({"watchtap.dev/injected": "{}"});
        let Admission::Refused { refusal, .. } = admit(&pod, "shop", &options()) else { panic!("{pod}") };
        assert!(
            refusal.starts_with("a container has the name watchtap, and `watchtap inject` did not add it; rename"),
            "{refusal}"
        );
    }
}

#[test]
fn refused_pod_only_gets_the_reason() {
    let app = json!([{"name": "app", "image": "a"}]);
    for (namespace, spec, reason) in [
        ("shop", json!({"hostNetwork": true, "containers": app}), "hostNetwork: true: the sidecar's ports would be open"),
        ("kube-system", json!({"containers": app}), "namespace kube-system: the cluster must be able to start"),
        ("shop", json!({"containers": app, "os": {"name": "windows"}}), "the pod runs on Windows; watchtap runs on Linux only"),
    ] {
        let pod = pod(&spec);
        let Admission::Refused { patch, refusal } = admit(&pod, namespace, &options()) else { panic!("{pod}") };
        assert!(refusal.starts_with(reason), "{refusal}");
        let mut expected = pod.clone();
        expected["metadata"]["annotations"] = json!({"watchtap.dev/not-injected": refusal});
        assert_eq!(patched(&pod, &patch), expected);
        assert_eq!(patch.len(), 1);
    }
}

#[test]
fn pod_without_a_token_is_refused() {
    let mut pod = pod(&json!({"containers": [{"name": "app", "image": "a"}]}));
    pod["spec"]["containers"][0]["volumeMounts"] = json!([]);
    // A manifest with this setting would get a token; admission has mounted none.
    pod["spec"]["automountServiceAccountToken"] = json!(true);
    let given = Options { service_account_token: true, assume_token: true, ..options() };
    let Admission::Refused { refusal, .. } = admit(&pod, "shop", &given) else { panic!("a sidecar without use") };
    assert!(refusal.starts_with("no container mounts a token at /var/run/secrets/kubernetes.io/serviceaccount"), "{refusal}");
}

/// Names of files and paths of mounts are free text.
#[test]
fn refusal_is_one_line_of_printable_characters() {
    let path = format!("{SERVICE_ACCOUNT}/../\u{1b}[31m\n{}", "ä".repeat(3000));
    let mut pod = pod(&json!({"containers": [{"name": "app", "image": "a"}]}));
    pod["spec"]["volumes"] =
        json!([{"name": "kube-api-access-7xk2p", "projected": {"sources": [{"secret": {"items": [{"key": "a", "path": path}]}}]}}]);
    let Admission::Refused { refusal, .. } = admit(&pod, "shop", &options()) else { panic!("{pod}") };
    assert_eq!(refusal.len(), 1024);
    assert!(refusal.starts_with("the volume at /var/run/secrets") && refusal.bytes().all(|byte| matches!(byte, b' '..=b'~')));
}

#[test]
fn flags_in_a_remedy_are_those_of_inject() {
    let pod = pod(&json!({"containers": [{"name": "cni", "image": "a"}]}));
    let Admission::Refused { refusal, .. } = admit(&pod, "shop", &options()) else { panic!("{pod}") };
    assert!(refusal.ends_with("with --container (a flag of `watchtap inject`, which changes the manifest instead)"), "{refusal}");
}

#[test]
fn warnings_are_about_the_pod_and_not_about_its_owner() {
    let mut pod = pod(&json!({"containers": [{"name": "app", "image": "a", "args": ["--kubeconfig=/k"]}]}));
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web"}]);
    pod["metadata"]["uid"] = json!("1");
    let Admission::Injected { warnings, .. } = admit(&pod, "shop", &options()) else { panic!("{pod}") };
    assert!(warnings.len() == 1 && warnings[0].starts_with("container app has --kubeconfig"), "{warnings:?}");
}

#[test]
fn annotation_of_another_result_is_removed() {
    let mut copied = pod(&json!({"containers": [{"name": "app", "image": "a"}]}));
    copied["metadata"]["annotations"] = json!({"watchtap.dev/not-injected": "old", "a/b": "c"});
    let Admission::Injected { patch, .. } = admit(&copied, "shop", &options()) else { panic!("{copied}") };
    let annotations = json!({"a/b": "c", "watchtap.dev/admitted": env!("CARGO_PKG_VERSION")});
    assert_eq!(patched(&copied, &patch)["metadata"]["annotations"], annotations);
    copied["spec"]["hostNetwork"] = json!(true);
    copied["metadata"]["annotations"] = json!({"watchtap.dev/not-injected": "old", "watchtap.dev/admitted": "0"});
    let Admission::Refused { patch, refusal } = admit(&copied, "shop", &options()) else { panic!("{copied}") };
    assert_eq!(patched(&copied, &patch)["metadata"]["annotations"], json!({"watchtap.dev/not-injected": refusal}));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// The patch, applied by another implementation, does what the changes do.
    #[test]
    fn patch_is_equal_to_the_changes(mut shape in shape(), seen in proptest::sample::select(vec![Seen::InManifest, Seen::AtAdmission])) {
        shape.end = "\n";
        let document = value(&shape.text());
        for object in objects(&document).objects {
            let mut pod = object.pod(&document).unwrap().clone();
            if seen == Seen::AtAdmission {
                mount_tokens(&mut pod);
            }
            let options = Options { seen, ..options() };
            let none = Referenced::default();
            let subject = Subject { object: &pod, namespace: None, pod: &pod, had_token: false, referenced: &none };
            let Ok(Some(decision)) = decide(&subject, &options) else { panic!("{pod}") };
            let (mut changed, mut walked) = (pod.clone(), pod.clone());
            decision.changes.apply(&mut changed).unwrap();
            let patch = decision.changes.json_patch(&mut walked).unwrap();
            prop_assert_eq!(&patched(&pod, &patch), &changed);
            prop_assert_eq!(&walked, &changed);
            prop_assert!(patch.iter().all(|operation| operation["op"] == "add" || operation["op"] == "replace"));
        }
    }

    /// Odd values anywhere in a pod lead to a result, and its patch can be applied.
    #[test]
    fn any_pod_is_answered(edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)) {
        let mut pod = pod(&json!({
            "initContainers": [{"name": "first", "image": "a", "env": []}],
            "containers": [{"name": "app", "image": "a", "env": [{"name": "HTTPS_PROXY", "value": "p"}, {"name": "NO_PROXY", "value": "a"}]}],
        }));
        for (place, with) in edits {
            let pointers = pointers(&pod);
            *pod.pointer_mut(place.get::<String>(&pointers)).unwrap() = with.get(&odd_values()).clone();
        }
        match admit(&pod, "shop", &options()) {
            Admission::Injected { patch, .. } | Admission::Refused { patch, .. } => drop(patched(&pod, &patch)),
            Admission::Unchanged(_) => {}
        }
    }
}

/// The result for a pod, which is changed as its patch changes it.
#[track_caller]
fn admit(pod: &Value, namespace: &str, options: &Options) -> Admission {
    let mut changed = pod.clone();
    let admission = crate::injection::admit(&mut changed, namespace, options);
    if let Admission::Injected { patch, .. } | Admission::Refused { patch, .. } = &admission {
        assert_eq!(patched(pod, patch), changed);
    }
    admission
}

fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(7),
        json!("x"),
        json!([]),
        json!({}),
        json!([null]),
        json!([{"name": "a"}]),
        json!({"name": "app"}),
        json!([{"name": "a~/b", "mountPath": SERVICE_ACCOUNT, "image": "a"}]),
        json!(true),
    ]
}

/// The places of all values within a value.
fn pointers(value: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (key.replace('~', "~0").replace('/', "~1"), value)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(place, value)| (place.to_string(), value)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    let below = children.into_iter().flat_map(|(key, child)| pointers(child).into_iter().map(move |rest| format!("/{key}{rest}")));
    std::iter::once(String::new()).chain(below).collect()
}

/// A labelled pod with this spec, as ServiceAccount admission leaves it.
fn pod(spec: &Value) -> Value {
    let labels = json!({"app": "web", "watchtap.dev/inject": "enabled"});
    let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "web-", "labels": labels}, "spec": spec});
    mount_tokens(&mut pod);
    pod
}

/// Does what ServiceAccount admission does.
fn mount_tokens(pod: &mut Value) {
    let spec = pod.get_mut("spec").unwrap();
    for group in ["initContainers", "containers"] {
        for container in spec.get_mut(group).and_then(Value::as_array_mut).into_iter().flatten() {
            if container["volumeMounts"].is_null() {
                container["volumeMounts"] = json!([]);
            }
            let mounts = container["volumeMounts"].as_array_mut().unwrap();
            if !mounts.iter().any(|mount| mount["mountPath"] == SERVICE_ACCOUNT) {
                mounts.push(json!({"name": "kube-api-access-7xk2p", "mountPath": SERVICE_ACCOUNT, "readOnly": true}));
            }
        }
    }
    if spec["volumes"].is_null() {
        spec["volumes"] = json!([]);
    }
    let sources = json!([{"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}}]);
    spec["volumes"].as_array_mut().unwrap().push(json!({"name": "kube-api-access-7xk2p", "projected": {"sources": sources}}));
}

/// The pod after the patch, by another implementation.
#[track_caller]
fn patched(pod: &Value, patch: &[Value]) -> Value {
    let mut pod = pod.clone();
    let patch: json_patch::Patch = serde_json::from_value(patch.to_vec().into()).unwrap();
    json_patch::patch(&mut pod, &patch).unwrap_or_else(|error| panic!("{error}: {patch}"));
    pod
}
