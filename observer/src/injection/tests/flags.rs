//! Flags that change the sidecar.

use serde_json::{Value, json};

use super::check::{inject_with, injected_with, options, uninject};
use crate::injection::options::Amount;
use crate::injection::{Options, Outcome};

/// A pod whose only container has these resources.
fn pod(resources: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "app", "image": "a", "resources": resources}]}
    })
}

fn sidecar(pod: &Value, options: &Options) -> Value {
    let injected: Value = serde_json::from_str(&injected_with(&pod.to_string(), options)).unwrap();
    injected["spec"]["initContainers"][0].clone()
}

fn amounts(text: &str) -> Vec<Amount> {
    text.split(',').filter(|amount| !amount.is_empty()).map(|amount| amount.parse().unwrap()).collect()
}

#[test]
fn resources_follow_the_flags() {
    let burstable = json!({});
    let guaranteed = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
    for (of_app, requests, limits, expected) in [
        (&burstable, "cpu=50m", "", json!({"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}})),
        (&burstable, "memory=256Mi", "", json!({"requests": {"cpu": "10m", "memory": "256Mi"}, "limits": {"memory": "256Mi"}})),
        (
            &burstable,
            "memory=16Mi",
            "memory=64Mi",
            json!({"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}}),
        ),
        (&burstable, "", "memory=0", json!({"requests": {"cpu": "10m", "memory": "32Mi"}})),
        // The API server copies a limit without a request in a Pod, and not in a template.
        (
            &burstable,
            "",
            "ephemeral-storage=1Gi",
            json!({
                "requests": {"cpu": "10m", "memory": "32Mi", "ephemeral-storage": "1Gi"},
                "limits": {"memory": "128Mi", "ephemeral-storage": "1Gi"}
            }),
        ),
        (
            &burstable,
            "ephemeral-storage=1Mi",
            "cpu=1,memory=64Mi",
            json!({
                "requests": {"cpu": "10m", "memory": "32Mi", "ephemeral-storage": "1Mi"},
                "limits": {"cpu": "1", "memory": "64Mi"}
            }),
        ),
        (
            &guaranteed,
            "cpu=50m",
            "memory=64Mi",
            json!({"requests": {"cpu": "50m", "memory": "64Mi"}, "limits": {"cpu": "50m", "memory": "64Mi"}}),
        ),
        (&guaranteed, "", "cpu=0", json!({"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "128Mi"}})),
        (
            &guaranteed,
            "memory=16Mi",
            "",
            json!({"requests": {"cpu": "100m", "memory": "16Mi"}, "limits": {"cpu": "100m", "memory": "128Mi"}}),
        ),
    ] {
        let options = Options { requests: amounts(requests), limits: amounts(limits), ..options() };
        assert_eq!(sidecar(&pod(of_app), &options)["resources"], expected, "{requests} {limits}");
    }
    // The class of a pod with resources of its own follows from these.
    for of_app in [&burstable, &guaranteed] {
        let mut shared = pod(of_app);
        shared["spec"]["resources"] = json!({"limits": {"cpu": "1", "memory": "1Gi"}});
        let options = Options { requests: amounts("cpu=50m"), ..options() };
        assert_eq!(sidecar(&shared, &options)["resources"], json!({"requests": {"cpu": "50m"}}));
    }
}

#[test]
fn loss_of_the_class_guaranteed_is_reported() {
    let pod = pod(&json!({"limits": {"cpu": "1", "memory": "1Gi"}})).to_string();
    for (limits, expected) in [("memory=64Mi", false), ("memory=128Mi,cpu=0", true)] {
        let options = Options { requests: amounts("memory=64Mi"), limits: amounts(limits), ..options() };
        let edited = inject_with(&pod, &options);
        let Outcome::Injected { warnings, .. } = &edited.objects[0].outcome else { panic!("{:?}", edited.objects) };
        assert_eq!(warnings.iter().any(|warning| warning.contains("becomes Burstable")), expected, "{limits}: {warnings:?}");
    }
}

#[test]
fn amounts_are_checked() {
    for text in ["memory", "memory=", "memory=1 Gi", "cpu=-1", "pods=1", "=1"] {
        assert!(text.parse::<Amount>().is_err(), "{text}");
    }
    for text in ["memory=128m", "memory=1000m", "memory=0.5", "ephemeral-storage=1u"] {
        let error = text.parse::<Amount>().unwrap_err();
        assert!(error.ends_with("is in fractions of a byte: the suffix of mebibytes is Mi, such as 128Mi"), "{error}");
    }
    let above = |requests, limits| Amount::first_above_limit(&amounts(requests), &amounts(limits));
    assert_eq!(above("cpu=1,memory=65Mi", "cpu=1000m,memory=64Mi"), Some("memory"));
    assert_eq!(above("cpu=1,memory=64Mi", "cpu=0"), None);
    for (limits, expected) in
        [("memory=31Mi", false), ("memory=1", false), ("memory=32Mi", true), ("memory=0", true), ("memory=1Mi,memory=1Gi", true)]
    {
        assert_eq!(Amount::allow_a_sidecar(&amounts(limits)), expected, "{limits}");
    }
}

#[test]
fn pull_policy_and_version_are_written() {
    let pod = pod(&json!({}));
    let before = sidecar(&pod, &options());
    assert_eq!(before.get("imagePullPolicy"), None);
    for policy in ["Always", "IfNotPresent", "Never"] {
        let options = Options { image_pull_policy: Some(policy.to_owned()), ..options() };
        assert_eq!(sidecar(&pod, &options)["imagePullPolicy"], policy);
    }
    let options = Options { server_version: Some("1.34.2".to_owned()), ..options() };
    let after = sidecar(&pod, &options);
    let args = after["args"].as_array().unwrap();
    assert_eq!(args[args.len() - 2..], [json!("--server-version"), json!("1.34.2")]);
}

#[test]
fn pull_policy_that_was_changed_since_is_an_edit() {
    let text = injected_with(&pod(&json!({})).to_string(), &options());
    for (policy, is_refused) in [("IfNotPresent", false), ("Always", true), ("Never", true)] {
        let mut edited: Value = serde_json::from_str(&text).unwrap();
        edited["spec"]["initContainers"][0]["imagePullPolicy"] = json!(policy);
        let outcome = uninject(&edited.to_string()).objects.remove(0).outcome;
        assert_eq!(matches!(outcome, Outcome::Refused(_)), is_refused, "{policy}: {outcome:?}");
    }
}

#[test]
fn certificate_of_openshift_is_linked_where_it_is() {
    let has_flag =
        |pod: &Value, options: &Options| sidecar(pod, options)["args"].as_array().unwrap().contains(&json!("--service-ca"));
    let mut pod = pod(&json!({}));
    assert!(!has_flag(&pod, &options()));
    assert!(has_flag(&pod, &Options { openshift: true, ..options() }));
    pod["spec"]["containers"][0]["volumeMounts"] =
        json!([{"name": "own", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]);
    let items = json!([{"key": "service-ca.crt", "path": "service-ca.crt"}]);
    let sources = json!([{"configMap": {"name": "openshift-service-ca.crt", "items": items}}]);
    pod["spec"]["volumes"] = json!([{"name": "own", "projected": {"sources": sources}}]);
    assert!(has_flag(&pod, &options()));
}
