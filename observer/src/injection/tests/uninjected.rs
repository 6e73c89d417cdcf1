//! Uninjecting manifests that changed since they were injected.

use serde_json::{Value, json};

use super::check::{deployment, inject, inject_with, injected, options, uninject};
use crate::injection::{Edited, Edits, Manifest, Options, Outcome, Referenced};

const APP: &str = "containers:\n- name: app\n  image: example.com/app:1\n";

#[test]
fn other_edits_since_then_survive() {
    let after = injected(&deployment(APP));
    let edited = after.replace("example.com/app:1", "example.com/app:2").replace("      labels", "      # new\n      labels");
    let edited = edited.replace("        env:\n", "        env:\n        - {name: MINE, value: a}\n        # mine\n");
    let back = uninject(&edited).text;
    let expected =
        deployment("containers:\n- name: app\n  image: example.com/app:2\n  env:\n  - {name: MINE, value: a}\n  # mine\n");
    assert_eq!(back, expected.replace("      labels", "      # new\n      labels"));
}

#[test]
fn items_added_to_created_collections_stay() {
    let after = injected(&deployment(APP));
    let edited = after.replace("        watchtap.dev/injected", "        mine: \"1\"\n        watchtap.dev/injected");
    let edited = edited.replace("      initContainers:\n", "      initContainers:\n      - name: before\n");
    let edited = format!("{edited}      - name: mine\n        emptyDir: {{}}\n");
    let back = uninject(&edited).text;
    let expected = deployment(&format!("{APP}initContainers:\n- name: before\nvolumes:\n- name: mine\n  emptyDir: {{}}\n"));
    assert_eq!(
        back,
        expected.replace("      labels: {app: web}\n", "      labels: {app: web}\n      annotations:\n        mine: \"1\"\n")
    );
}

#[test]
fn container_that_was_removed_since_is_no_obstacle() {
    let before = |spec: &str| deployment(&format!("{APP}{spec}volumes: []\n"));
    let after = injected(&before("- name: gone\n  image: a\n"));
    let (first, rest) = after.split_once("      - name: gone\n").unwrap();
    let edited = format!("{first}{}", &rest[rest.find("      volumes:\n").unwrap()..]);
    assert_eq!(uninject(&edited).text, before(""));
    assert!(!inject(&edited).text.contains("gone"));
    let renamed = after.replace("- name: gone\n", "- name: renamed\n");
    assert!(matches!(uninject(&renamed).objects[0].outcome, Outcome::Refused(_)));
}

#[test]
fn edits_of_injected_parts_are_refused() {
    let after = injected(&deployment(APP));
    for (from, to, place) in [
        ("localhost/watchtap:1", "localhost/watchtap:2", "/spec/initContainers/watchtap/image"),
        ("memory: 128Mi", "memory: 256Mi", "/spec/initContainers/watchtap/resources"),
        ("        startupProbe", "        env: []\n        startupProbe", "/spec/initContainers/watchtap/env"),
        ("sizeLimit: 1Mi", "sizeLimit: 2Mi", "/spec/volumes/watchtap-own"),
        ("value: \"127.0.0.1\"", "value: \"::1\"", "/spec/containers/app/env/KUBERNETES_SERVICE_HOST"),
        ("        - {name: KUBERNETES_SERVICE_PORT, value: \"16443\"}\n", "", "/spec/containers/app/env/KUBERNETES_SERVICE_PORT"),
        ("- name: app\n", "- name: renamed\n", "/spec/containers/app/env/KUBERNETES_SERVICE_HOST"),
    ] {
        let edited = after.replacen(from, to, 1);
        assert_ne!(edited, after);
        for result in [uninject(&edited), inject(&edited)] {
            assert_eq!(result.text, edited);
            let Outcome::Refused(refusal) = &result.objects[0].outcome else { panic!("{:?}", result.objects) };
            assert!(refusal.reason.starts_with(&format!("{place} was changed or removed")), "{}", refusal.reason);
            assert!(refusal.remedy.ends_with("exempt pods with watchtap from that webhook"), "{}", refusal.remedy);
        }
    }
    let commented = after.replace("        startupProbe:", "        # mine\n        startupProbe:");
    let Outcome::Refused(refusal) = &uninject(&commented).objects[0].outcome else { panic!() };
    assert!(refusal.reason.contains("there is a comment within the lines that inject added"), "{}", refusal.reason);
}

#[test]
fn edits_of_injected_parts_are_lost_on_request() {
    let before = deployment(&format!("{APP}  env: [{{name: HTTPS_PROXY, value: p}}, {{name: NO_PROXY, value: a}}]\n"));
    let after = injected(&before);
    for (from, to) in [
        ("localhost/watchtap:1", "localhost/watchtap:2"),
        ("        startupProbe:", "        # mine\n        startupProbe:"),
        ("sizeLimit: 1Mi", "sizeLimit: 2Mi"),
        ("value: \"127.0.0.1\"", "value: \"::1\""),
        ("{name: KUBERNETES_SERVICE_PORT, value: \"16443\"}, ", ""),
        ("value: \"a,127.0.0.1\"", "value: b"),
        ("      - {name: watchtap-own, emptyDir: {medium: Memory, sizeLimit: 1Mi}}\n", ""),
    ] {
        let edited = after.replacen(from, to, 1);
        assert_ne!(edited, after, "{from}");
        assert_eq!(discard(&edited).text, before, "{from}");
        // A comment alone is no reason to change the text.
        let expected = if to.contains('#') { &edited } else { &after };
        assert_eq!(&inject_with(&edited, &Options { edits: Edits::Discard, ..options() }).text, expected, "{from}");
    }
    // A client in it would still be led to the sidecar.
    let renamed = discard(&after.replace("- name: app\n", "- name: renamed\n"));
    let Outcome::Refused(refusal) = &renamed.objects[0].outcome else { panic!("{:?}", renamed.objects) };
    assert!(refusal.reason.starts_with("a container that was renamed since"), "{}", refusal.reason);
}

fn discard(text: &str) -> Edited {
    Manifest::read(text, &mut Referenced::default()).unwrap().uninject(Edits::Discard)
}

#[test]
fn object_as_the_api_server_returns_it_is_uninjected() {
    let pod = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"},
        "spec": {"template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "a"}]}}}
    });
    let after = injected(&pod.to_string());
    let mut stored: Value = serde_json::from_str(&after).unwrap();
    let spec = stored.pointer_mut("/spec/template/spec").unwrap();
    for container in ["/containers/0", "/initContainers/0"] {
        let container = spec.pointer_mut(container).unwrap();
        container["imagePullPolicy"] = json!("IfNotPresent");
        container["terminationMessagePath"] = json!("/dev/termination-log");
        container["terminationMessagePolicy"] = json!("File");
    }
    let sidecar = spec.pointer_mut("/initContainers/0").unwrap();
    sidecar["ports"][0]["protocol"] = json!("TCP");
    sidecar["startupProbe"]["httpGet"]["scheme"] = json!("HTTP");
    sidecar["startupProbe"]["successThreshold"] = json!(1);
    sidecar["startupProbe"]["timeoutSeconds"] = json!(1);
    for volume in [2, 3] {
        spec["volumes"][volume]["projected"]["defaultMode"] = json!(420);
    }
    spec["volumes"][3]["projected"]["sources"][2]["downwardAPI"]["items"][0]["fieldRef"]["apiVersion"] = json!("v1");
    spec["restartPolicy"] = json!("Always");
    // As kubectl prints it: keys sorted, and `env` behind a dash.
    let sorted = sorted(&stored);
    for text in [serde_json::to_string_pretty(&sorted).unwrap(), block_yaml(&sorted, 0)] {
        let back = uninject(&text);
        assert_eq!(back.objects[0].outcome, Outcome::Uninjected, "{text}");
        assert!(!back.text.contains("watchtap") && !back.text.contains("KUBERNETES"), "{}", back.text);
        assert!(back.text.contains("restartPolicy"));
        let again = inject(&text);
        assert!(matches!(again.objects[0].outcome, Outcome::UpToDate { .. }), "{:?}", again.objects);
        assert_eq!(again.text, text, "nothing is to do");
        let other = inject_with(&text, &Options { image: "localhost/watchtap:2".to_owned(), ..options() });
        assert!(matches!(other.objects[0].outcome, Outcome::Updated { .. }));
    }
}

/// Jobs get labels, and templates of old API servers `creationTimestamp: null`.
#[test]
fn template_that_got_its_metadata_from_the_api_server_is_up_to_date() {
    let template = json!({"template": {"spec": {"containers": [{"name": "app", "image": "a"}]}}});
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": template});
    let spec = json!({"jobTemplate": {"spec": template}});
    let cron_job = json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "a"}, "spec": spec});
    for (before, metadata, member, value) in [
        (job, "/spec/template/metadata", "labels", json!({"job-name": "a"})),
        (cron_job, "/spec/jobTemplate/spec/template/metadata", "creationTimestamp", Value::Null),
    ] {
        let mut stored: Value = serde_json::from_str(&injected(&before.to_string())).unwrap();
        stored.pointer_mut(metadata).unwrap()[member] = value.clone();
        let stored = stored.to_string();
        let again = inject(&stored);
        assert!(matches!(again.objects[0].outcome, Outcome::UpToDate { .. }), "{:?}", again.objects);
        assert_eq!(again.text, stored);
        let back: Value = serde_json::from_str(&uninject(&stored).text).unwrap();
        assert_eq!(back.pointer(metadata), Some(&json!({ member: value })));
    }
}

#[test]
fn another_version_or_other_options_replace_the_sidecar() {
    let before = deployment(APP);
    let first = injected(&before);
    let other = Options { image: "localhost/watchtap:2".to_owned(), openshift: true, ..options() };
    let second = inject_with(&first, &other);
    assert!(matches!(second.objects[0].outcome, Outcome::Updated { .. }));
    assert_eq!(second.text, inject_with(&before, &other).text);
    assert_eq!(uninject(&second.text).text, before);
}

#[test]
fn pod_that_is_not_selected_keeps_its_sidecar() {
    let text = format!("{}---\n{}", deployment(APP), deployment(&APP.replace("name: app", "name: other")));
    let both = injected(&text);
    let other = Options { containers: vec!["other".to_owned()], image: "localhost/watchtap:2".to_owned(), ..options() };
    let edited = inject_with(&both, &other);
    assert_eq!(edited.objects[0].outcome, Outcome::NotSelected);
    assert!(matches!(edited.objects[1].outcome, Outcome::Updated { .. }));
    let images = |tag: &str| edited.text.matches(&format!("localhost/watchtap:{tag}\n")).count();
    assert_eq!((images("1"), images("2")), (1, 1));
}

#[test]
fn manifest_without_a_sidecar_stays() {
    let text = deployment(APP);
    let edited = uninject(&text);
    assert_eq!((edited.text.as_str(), &edited.objects[0].outcome), (text.as_str(), &Outcome::NotInjected));
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut members: Vec<_> = map.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            Value::Object(members.into_iter().collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// YAML as sigs.k8s.io/yaml writes it.
pub(super) fn block_yaml(value: &Value, column: usize) -> String {
    let indent = " ".repeat(column);
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| match value {
                Value::Object(inner) if !inner.is_empty() => format!("{indent}{key}:\n{}", block_yaml(value, column + 2)),
                Value::Array(_) => format!("{indent}{key}:\n{}", block_yaml(value, column)),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                    format!("{indent}{key}: {value}\n")
                }
            })
            .collect(),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                let text = block_yaml(item, column + 2);
                if item.is_object() { format!("{indent}- {}", &text[column + 2..]) } else { format!("{indent}- {item}\n") }
            })
            .collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => format!("{indent}{value}\n"),
    }
}
