//! The webhook makes the same pods as `inject`, of every manifest of the corpus, and Pod Security *restricted* admits them.

use observer_tests::{Cluster, Options, WebhookProcess};
use serde_json::{Value, json};

use super::admission::{NAMESPACE, Workload, prepare, workloads};
use super::oracle::array;
use crate::webhook::registration::{await_sidecars, configuration, register};

#[test]
fn labelled_pods_become_those_that_inject_makes() {
    let workloads = workloads();
    let cluster = Cluster::start(&Options { service_account_admission: true, ..Options::default() }).unwrap();
    let client = cluster.client();
    prepare(&client, &workloads);
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    client.post("/api/v1/namespaces/default/serviceaccounts", &account).unwrap();
    let webhook = WebhookProcess::start().unwrap();
    register(&client, &configuration("watchtap", &webhook.url(), webhook.authority()));
    await_sidecars(&client);
    let create = |pod: &Value| {
        let path = format!("/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All&fieldValidation=Strict");
        let answer = client.post(&path, pod).unwrap();
        if answer.status == 201 { Ok(answer.json().unwrap()) } else { Err(answer.text()) }
    };
    let (mut compared, mut complaints) = (0, Vec::new());
    for workload in &workloads {
        let mut labelled = Workload::pod(&workload.before);
        labelled["metadata"]["labels"]["watchtap.dev/inject"] = "enabled".into();
        // Objects with every field have values that no server takes.
        let Ok(injected) = create(&Workload::pod(&workload.after)) else { continue };
        match create(&labelled) {
            Ok(admitted) => {
                compared += 1;
                if admitted["metadata"]["annotations"]["watchtap.dev/admitted"].is_null() {
                    complaints.push(format!("{}: no sidecar: {}", workload.name, admitted["metadata"]));
                } else if comparable(&admitted) != comparable(&injected) {
                    complaints.push(format!("{}:\n{}\n{}", workload.name, comparable(&admitted), comparable(&injected)));
                }
            }
            Err(refused) => complaints.push(format!("{}: refused: {refused}", workload.name)),
        }
    }
    println!("{compared} pods compared");
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
    assert!(compared > 50, "{compared}");
}

/// The spec of a pod, with one name for the volume that has the token, and without the order of volumes and mounts.
fn comparable(pod: &Value) -> Value {
    let mut spec = pod["spec"].clone();
    let neutral = |name: &mut Value| {
        if name.as_str().is_some_and(|name| name.starts_with("kube-api-access-")) {
            *name = "kube-api-access".into();
        }
    };
    for group in ["initContainers", "containers"] {
        for container in spec.get_mut(group).and_then(Value::as_array_mut).into_iter().flatten() {
            let mut mounts = array(&container["volumeMounts"]).to_vec();
            for mount in &mut mounts {
                neutral(&mut mount["name"]);
            }
            mounts.sort_by_key(|mount| mount["mountPath"].to_string());
            container["volumeMounts"] = mounts.into();
        }
    }
    let mut volumes = array(&spec["volumes"]).to_vec();
    for volume in &mut volumes {
        neutral(&mut volume["name"]);
    }
    volumes.sort_by_key(|volume| volume["name"].to_string());
    spec["volumes"] = volumes.into();
    spec
}
