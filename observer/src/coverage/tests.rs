//! Pods in every state, as an API server returns them, and the sidecar that each has.

use serde_json::{Value, json};

use super::admission::{Admission, policies, webhooks};
use super::scope::Scope;
use super::sidecar::{Sidecar, Standing};
use super::summary::Coverage;

const BEFORE: &str = "2026-11-26T09:00:00Z";
const CREATED: &str = "2026-11-26T10:00:00Z";
const AFTER: &str = "2026-11-26T10:00:01Z";

#[test]
fn container_decides_over_annotations() {
    let running = json!({ "running": { "startedAt": CREATED } });
    let crashed = json!({ "terminated": { "exitCode": 1, "reason": "Error" } });
    let backing_off = json!({ "waiting": { "reason": "CrashLoopBackOff" } });
    for (state, last, started, word, why) in [
        (&running, &json!({}), true, "running", None),
        (&running, &crashed, true, "running", None),
        (&running, &json!({}), false, "starting", Some("its startup probe has not succeeded")),
        (&json!({}), &json!({}), false, "starting", Some("its startup probe has not succeeded")),
        (&json!({ "waiting": { "reason": "PodInitializing" } }), &json!({}), false, "starting", Some("PodInitializing")),
        (&json!({ "waiting": { "reason": "ImagePullBackOff" } }), &json!({}), false, "failing", Some("its image cannot be pulled")),
        (&backing_off, &crashed, false, "failing", Some("it exited with 1 (Error), 7 restarts")),
        (&running, &crashed, false, "failing", Some("it exited with 1 (Error), 7 restarts")),
        (&crashed, &json!({}), false, "failing", Some("it exited with 1 (Error)")),
    ] {
        let mut pod = with_sidecar();
        pod["status"]["initContainerStatuses"] = json!([
            { "name": "other", "state": { "terminated": { "exitCode": 9 } } },
            { "name": "watchtap", "started": started, "restartCount": 7, "state": state, "lastState": last },
        ]);
        let sidecar = sidecar(&pod, &no_rules());
        assert_eq!(sidecar.word(), word, "{state}");
        let starts = |expected: &str| sidecar.why().is_some_and(|why| why.starts_with(expected));
        assert!(why.map_or(sidecar.why().is_none(), starts), "{state}: {sidecar:?}");
    }
}

#[test]
fn other_containers_with_the_name_are_no_sidecar() {
    let sidecar_of = |change: fn(&mut Value)| {
        let mut pod = with_sidecar();
        pod["metadata"]["annotations"] = json!({ "watchtap.dev/not-injected": "the name is taken; rename it" });
        change(&mut pod["spec"]);
        sidecar(&pod, &no_rules()).word()
    };
    assert_eq!(sidecar_of(|_spec| {}), "starting");
    assert_eq!(sidecar_of(|spec| spec["initContainers"][1]["restartPolicy"] = json!(null)), "refused");
    assert_eq!(sidecar_of(|spec| spec["initContainers"][1]["volumeMounts"][0]["name"] = "mine".into()), "refused");
    assert_eq!(sidecar_of(|spec| spec["containers"] = spec["initContainers"].take()), "refused");
}

#[test]
fn pod_that_has_not_started_has_a_starting_sidecar() {
    let pod = with_sidecar();
    assert_eq!(sidecar(&pod, &no_rules()), Sidecar::Starting("its pod has not started".to_owned()));
}

#[test]
fn pod_that_is_over_ran_with_its_sidecar() {
    for phase in ["Succeeded", "Failed"] {
        let mut pod = with_sidecar();
        pod["status"]["phase"] = phase.into();
        assert_eq!(sidecar(&pod, &no_rules()), Sidecar::Over);
    }
}

#[test]
fn annotations_distinguish_refused_pods_from_unseen_ones() {
    let reason = "the pod uses the network of its node; observe it on its node";
    let mut pod = pod("a");
    pod["metadata"]["annotations"] = json!({ "watchtap.dev/not-injected": reason });
    assert_eq!(sidecar(&pod, &no_rules()), Sidecar::Refused(reason.to_owned()));
    pod["metadata"]["annotations"] = json!({ "watchtap.dev/admitted": "0.1.0" });
    assert_eq!(sidecar(&pod, &no_rules()), Sidecar::Removed);
    pod["metadata"]["annotations"] = json!(null);
    assert!(matches!(sidecar(&pod, &no_rules()), Sidecar::Unseen { .. }));
}

#[test]
fn reason_of_an_unseen_pod_is_as_narrow_as_the_rules_allow() {
    let selector = json!({ "matchExpressions": [
        { "key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "shop"] },
    ] });
    for (admission, expected) in [
        (no_rules(), "the cluster has neither the webhook nor the policy"),
        (webhook(AFTER, "QQ==", &json!(null)), "the pod is older than the webhook w"),
        (
            webhook(BEFORE, "QQ==", &json!(null)),
            "the webhook w did not answer when the pod was created, or the pod was labelled later",
        ),
        (policy(), "the policy p has no binding, or it failed for the pod, or the pod was labelled later"),
        (webhook(BEFORE, "", &json!(null)), "the webhook w has no caBundle yet, so calls to it fail"),
        (webhook(BEFORE, "QQ==", &selector), "the webhook w leaves out namespace shop"),
        (Admission::Unknown("denied".to_owned()), "no webhook has changed the pod: it is older than the webhook or its label"),
    ] {
        let sidecar = sidecar(&pod("a"), &admission);
        assert!(sidecar.why().is_some_and(|why| why.starts_with(expected)), "{expected}: {sidecar:?}");
        assert!(sidecar.remedy().is_some(), "{sidecar:?}");
    }
}

/// A restart alone changes nothing if the namespace is left out.
#[test]
fn namespaces_that_labels_select_are_to_be_compared_first() {
    let selector = json!({ "matchLabels": { "team": "a" } });
    let compare = "compare the labels of namespace shop with those that the webhook w selects (team); if they match, ";
    for (created, bundle, why) in [
        (BEFORE, "QQ==", "the webhook w selects namespaces by labels, and may leave out namespace shop"),
        (BEFORE, "", "the webhook w has no caBundle yet, so calls to it fail"),
        (AFTER, "QQ==", "the pod is older than the webhook w"),
    ] {
        let sidecar = sidecar(&pod("a"), &webhook(created, bundle, &selector));
        assert_eq!(sidecar.why(), Some(why));
        assert!(sidecar.remedy().is_some_and(|remedy| remedy.starts_with(compare)), "{sidecar:?}");
    }
}

#[test]
fn rule_that_certainly_selects_the_pod_is_blamed() {
    let labelled = json!({ "matchLabels": { "team": "a" } });
    let of = |admission| match admission {
        Admission::Known(rules) => rules,
        Admission::Unknown(why) => panic!("{why}"),
    };
    let rules = [webhook(AFTER, "QQ==", &json!(null)), webhook(BEFORE, "QQ==", &labelled), policy()].map(of).concat();
    let sidecar = sidecar(&pod("a"), &Admission::Known(rules));
    assert!(sidecar.why().is_some_and(|why| why.starts_with("the policy p")), "{sidecar:?}");
}

#[test]
fn deleted_pods_and_those_that_finished_without_a_sidecar_count_neither_way() {
    let [mut leaving, mut completed, mut evicted, mut over] = [pod("a"), pod("b"), pod("c"), with_sidecar()];
    leaving["metadata"]["deletionTimestamp"] = CREATED.into();
    leaving["status"]["phase"] = "Succeeded".into();
    completed["status"]["phase"] = "Succeeded".into();
    evicted["status"]["phase"] = "Failed".into();
    over["status"]["phase"] = "Succeeded".into();
    let coverage = coverage(&[leaving, completed, evicted, over, pod("e")], no_rules());
    let standings = [Standing::With, Standing::Without, Standing::Finished, Standing::Leaving];
    assert_eq!(standings.map(|standing| coverage.number_of(standing)), [1, 1, 2, 1]);
    let row = &coverage.workloads[2];
    assert_eq!((row.with, row.without, row.finished, row.leaving), (0, 0, 1, 0), "{row:?}");
}

#[test]
fn pods_without_a_sidecar_are_first_and_workloads_are_summed_up() {
    let owned = |name: &str, hash: &str, mut pod: Value| {
        pod["metadata"]["name"] = name.into();
        pod["metadata"]["labels"] = json!({ "pod-template-hash": hash });
        let owner = json!({ "kind": "ReplicaSet", "name": format!("web-{hash}"), "controller": true });
        pod["metadata"]["ownerReferences"] = json!([owner]);
        pod
    };
    let mut over = with_sidecar();
    over["status"]["phase"] = "Succeeded".into();
    let pods = [owned("web-1-a", "1", over), owned("web-2-b", "2", pod("x")), owned("web-2-a", "2", pod("x"))];
    let coverage = coverage(&pods, no_rules());
    let names: Vec<&str> = coverage.pods.iter().map(|pod| pod.name.as_str()).collect();
    assert_eq!(names, ["web-2-a", "web-2-b", "web-1-a"]);
    let rows: Vec<_> = coverage.workloads.iter().map(|row| (row.workload.to_string(), row.with, row.without)).collect();
    assert_eq!(rows, [("Deployment web".to_owned(), 1, 2)]);
}

/// Pods of every kind, with names from strangers.
pub(crate) fn hostile(text: &str) -> Coverage {
    let mut refused = pod(text);
    refused["metadata"]["namespace"] = text.into();
    refused["metadata"]["annotations"] = json!({ "watchtap.dev/not-injected": text, "watchtap.dev/admitted": text });
    let mut owned = pod(text);
    owned["metadata"]["ownerReferences"] = json!([{ "kind": text, "name": text, "controller": true }]);
    let mut starting = with_sidecar();
    starting["status"]["initContainerStatuses"] = json!([{ "name": "watchtap", "state": { "waiting": { "reason": text } } }]);
    let mut crashed = with_sidecar();
    let end = json!({ "terminated": { "exitCode": 1, "reason": text } });
    crashed["status"]["initContainerStatuses"] = json!([{ "name": "watchtap", "state": end }]);
    let rule = json!({ "kind": "List", "items": [{
        "metadata": { "name": text },
        "webhooks": [{ "objectSelector": { "matchLabels": { "watchtap.dev/inject": "enabled" } } }],
    }] });
    let rules = Admission::Known(webhooks(serde_json::from_value(rule).unwrap()));
    coverage(&[refused, owned, starting, crashed], rules)
}

/// A few pods of one workload, for tests of the output.
pub(crate) fn few() -> Coverage {
    let mut running = with_sidecar();
    running["metadata"]["name"] = "web-1".into();
    running["metadata"]["annotations"] = json!({ "watchtap.dev/admitted": "0.0.9" });
    running["status"]["initContainerStatuses"] = json!([{ "name": "watchtap", "started": true, "state": { "running": {} } }]);
    let mut refused = pod("web-2");
    refused["metadata"]["annotations"] =
        json!({ "watchtap.dev/not-injected": "the pod runs on Windows; watchtap runs on Linux only" });
    let mut leaving = pod("web-0");
    leaving["metadata"]["deletionTimestamp"] = CREATED.into();
    let [mut completed, mut refused_earlier] = [pod("web-4"), refused.clone()];
    refused_earlier["metadata"]["name"] = "web-5".into();
    for finished in [&mut completed, &mut refused_earlier] {
        finished["status"]["phase"] = "Succeeded".into();
    }
    let mut pods = [running, refused, pod("web-3"), leaving, completed, refused_earlier];
    for pod in &mut pods {
        pod["metadata"]["ownerReferences"] = json!([{ "kind": "StatefulSet", "name": "web", "controller": true }]);
    }
    coverage(&pods, webhook(AFTER, "QQ==", &json!(null)))
}

/// No pods, and nothing known about webhooks.
pub(crate) fn none(admission: Admission) -> Coverage {
    coverage(&[], admission)
}

pub(crate) fn no_rules() -> Admission {
    Admission::Known(Vec::new())
}

fn webhook(created: &str, bundle: &str, namespaces: &Value) -> Admission {
    let webhook = json!({
        "objectSelector": { "matchLabels": { "watchtap.dev/inject": "enabled" } },
        "namespaceSelector": namespaces,
        "clientConfig": { "caBundle": bundle },
    });
    let item = json!({ "metadata": { "name": "w", "creationTimestamp": created }, "webhooks": [webhook] });
    Admission::Known(webhooks(serde_json::from_value(json!({ "kind": "List", "items": [item] })).unwrap()))
}

fn policy() -> Admission {
    let constraints = json!({ "objectSelector": { "matchLabels": { "watchtap.dev/inject": "enabled" } } });
    let item = json!({ "metadata": { "name": "p", "creationTimestamp": BEFORE }, "spec": { "matchConstraints": constraints } });
    Admission::Known(policies(serde_json::from_value(json!({ "kind": "List", "items": [item] })).unwrap()))
}

fn pod(name: &str) -> Value {
    json!({
        "metadata": { "name": name, "namespace": "shop", "creationTimestamp": CREATED, "labels": { "watchtap.dev/inject": "enabled" } },
        "spec": { "containers": [{ "name": "app" }] },
        "status": { "phase": "Running" },
    })
}

fn with_sidecar() -> Value {
    let mut pod = pod("a");
    let mounts = json!([{ "name": "watchtap-own", "mountPath": "/var/run/secrets/watchtap/own" }]);
    pod["spec"]["initContainers"] =
        json!([{ "name": "other" }, { "name": "watchtap", "restartPolicy": "Always", "volumeMounts": mounts }]);
    pod
}

#[track_caller]
fn sidecar(pod: &Value, admission: &Admission) -> Sidecar {
    coverage(std::slice::from_ref(pod), admission.clone()).pods.remove(0).sidecar
}

fn coverage(pods: &[Value], admission: Admission) -> Coverage {
    let list = serde_json::from_value(json!({ "kind": "PodList", "items": pods })).unwrap();
    Coverage::of(Scope::Namespace("shop".to_owned()), list, admission)
}
