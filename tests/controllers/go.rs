//! The controllers of `tests/cluster/go/controllers`.

use std::process::Command;

use observer_tests::go_controllers;
use serde_json::{Value, json};

use super::stage::{Stage, WIDGETS, widget};

const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/default/deployments/web";

#[test]
fn client_go_elects_informs_and_writes_in_protobuf() {
    let stage = Stage::start();
    let controller = stage.run(Command::new(go_controllers().unwrap()).arg("client-go"));
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}});
    let spec = json!({"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    stage.create("/apis/apps/v1/namespaces/default/deployments", &json!({"metadata": {"name": "web"}, "spec": spec}));
    let served = stage.until(DEPLOYMENT, |web| web.is_some_and(|web| web["status"]["replicas"] == 3)).unwrap();
    assert_eq!(served["metadata"]["finalizers"], json!(["example.com/controllers"]));
    assert_eq!(served["spec"]["template"]["spec"]["containers"][0]["image"], "web:1");
    let lease = stage.until("/apis/coordination.k8s.io/v1/namespaces/default/leases/client-go", |lease| lease.is_some()).unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "the-leader");
    stage.change(DEPLOYMENT, &json!({"spec": {"replicas": 5}}));
    stage.until(DEPLOYMENT, |web| web.is_some_and(|web| web["status"]["replicas"] == 5));
    // The second event of the same reason is a patch of the first.
    stage.until("/api/v1/namespaces/default/events", |events| {
        let events = events.and_then(|events| events["items"].as_array());
        events.into_iter().flatten().any(|event| event["reason"] == "Served" && event["count"] == 2)
    });
    stage.delete(DEPLOYMENT);
    stage.until(DEPLOYMENT, |web| web.is_none());
    controller.stop();
}

#[test]
fn controller_runtime_reconciles_a_custom_resource() {
    let stage = Stage::with_widgets();
    let controller = stage.run(Command::new(go_controllers().unwrap()).arg("controller-runtime"));
    stage.create(WIDGETS, &widget("one", 2));
    let path = format!("{WIDGETS}/one");
    let served = stage.until(&path, |one| one.is_some_and(|one| one["status"]["size"] == 2)).unwrap();
    assert_eq!((&served["metadata"]["generation"], &served["spec"]), (&json!(1), &json!({"size": 2})));
    let size_is = |size: &'static str| move |child: Option<&Value>| child.is_some_and(|child| child["data"]["size"] == size);
    let child = stage.until("/api/v1/namespaces/default/configmaps/one", size_is("2")).unwrap();
    assert_eq!(child["metadata"]["ownerReferences"][0]["uid"], served["metadata"]["uid"]);
    stage.change(&path, &json!({"spec": {"size": 7}}));
    stage.until("/api/v1/namespaces/default/configmaps/one", size_is("7"));
    stage.delete(&path);
    stage.until(&path, |one| one.is_none());
    controller.stop();
}
