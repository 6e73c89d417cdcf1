//! Rows as `kubectl get` shows them, for each resource, and the other contents of a Table.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{IncludeObject, age, columns, of_list, of_object, of_watched, requested};
use crate::api::{find, resources};

#[test]
fn each_row_has_a_cell_for_each_column() {
    for resource in resources() {
        let table = of_object(resource, &json!({}), IncludeObject::None, now());
        let columns = table["columnDefinitions"].as_array().unwrap().len();
        assert_eq!(table["rows"][0]["cells"].as_array().unwrap().len(), columns, "{}", resource.name);
        assert_ne!(columns::of(resource).len(), 2, "{} has no columns of its own", resource.name);
    }
}

#[test]
fn a_running_pod_is_ready_and_tells_its_restarts() {
    let pod = json!({
        "metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"containers": [{"name": "a"}, {"name": "b"}], "nodeName": "n"},
        "status": {
            "phase": "Running",
            "podIPs": [{"ip": "10.0.0.1"}],
            "containerStatuses": [
                {"name": "a", "ready": true, "state": {"running": {}}, "restartCount": 2,
                 "lastState": {"terminated": {"finishedAt": "2026-01-01T00:59:00Z"}}},
                {"name": "b", "ready": false, "state": {"running": {}}, "restartCount": 0},
            ],
        },
    });
    cells("pods", &pod, &json!(["p", "1/2", "Running", "2 (60s ago)", "60m", "10.0.0.1", "n", "<none>", "<none>"]));
}

#[test]
fn the_status_of_a_pod_is_what_its_containers_say() {
    let waiting = |reason: &str| json!({"name": "a", "state": {"waiting": {"reason": reason}}});
    let ended = |code: i32| json!({"name": "a", "state": {"terminated": {"exitCode": code}}});
    let init = json!([{"name": "a"}, {"name": "b"}]);
    for (pod, status) in [
        (json!({"status": {"phase": "Pending"}}), "Pending"),
        (json!({"status": {"phase": "Failed", "reason": "Evicted"}}), "Evicted"),
        (json!({"status": {"phase": "Pending", "containerStatuses": [waiting("ImagePullBackOff")]}}), "ImagePullBackOff"),
        (json!({"status": {"phase": "Running", "containerStatuses": [ended(3)]}}), "ExitCode:3"),
        (json!({"spec": {"initContainers": init}, "status": {"initContainerStatuses": [ended(0), waiting("")]}}), "Init:1/2"),
        (json!({"spec": {"initContainers": init}, "status": {"initContainerStatuses": [ended(1)]}}), "Init:ExitCode:1"),
        (json!({"status": {"initContainerStatuses": [waiting("CrashLoopBackOff")]}}), "Init:CrashLoopBackOff"),
        (json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Running"}}), "Terminating"),
        (json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Succeeded"}}), "Succeeded"),
        (
            json!({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}}),
            "SchedulingGated",
        ),
    ] {
        let table = of_object(find("", "v1", "pods").unwrap(), &pod, IncludeObject::None, now());
        assert_eq!(table["rows"][0]["cells"][2], status, "{pod}");
    }
}

#[test]
fn an_ended_pod_has_a_row_condition() {
    let table = of_object(find("", "v1", "pods").unwrap(), &json!({"status": {"phase": "Failed"}}), IncludeObject::None, now());
    assert_eq!(table["rows"][0]["conditions"][0]["type"], "Completed");
    assert_eq!(table["rows"][0]["conditions"][0]["reason"], "Failed");
}

#[test]
fn workloads_show_counts_images_and_selectors() {
    let template = json!({"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:2"}]}});
    let selector = json!({"matchLabels": {"app": "x"}});
    let metadata = json!({"name": "w", "creationTimestamp": "2026-01-01T00:00:00Z"});
    let object = json!({"metadata": metadata, "spec": {"replicas": 3, "selector": selector, "template": template},
        "status": {"replicas": 2, "readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1}});
    cells("deployments", &object, &json!(["w", "1/3", 2, 1, "60m", "a,b", "a:1,b:2", "app=x"]));
    cells("replicasets", &object, &json!(["w", 3, 2, 1, "60m", "a,b", "a:1,b:2", "app=x"]));
    cells("statefulsets", &object, &json!(["w", "1/3", "60m", "a,b", "a:1,b:2"]));
    let set = json!({"metadata": metadata, "spec": {"template": template}, "status": {"numberReady": 1}});
    cells("daemonsets", &set, &json!(["w", 0, 0, 1, 0, 0, "<none>", "60m", "a,b", "a:1,b:2", "<none>"]));
    let job = json!({"metadata": metadata, "spec": {"parallelism": 2}, "status": {"startTime": "2026-01-01T00:59:50Z"}});
    cells("jobs", &job, &json!(["w", "Running", "0/1 of 2", "10s", "60m", "", "", "<none>"]));
}

#[test]
fn services_show_addresses_and_ports() {
    let service = json!({
        "metadata": {"name": "s"},
        "spec": {"type": "NodePort", "clusterIPs": ["10.0.0.9"], "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}],
                 "selector": {"b": "2", "a": "1"}},
    });
    cells("services", &service, &json!(["s", "NodePort", "10.0.0.9", "<none>", "80:30080/TCP,53/UDP", "<unknown>", "a=1,b=2"]));
    let pending = json!({"metadata": {"name": "s"}, "spec": {"type": "LoadBalancer"}});
    cells("services", &pending, &json!(["s", "LoadBalancer", "<none>", "<pending>", "<none>", "<unknown>", "<none>"]));
}

#[test]
fn nodes_and_events_are_told_in_their_own_words() {
    let node = json!({
        "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": ""}},
        "spec": {"unschedulable": true},
        "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.34.0"},
                   "addresses": [{"type": "InternalIP", "address": "10.1.0.1"}]},
    });
    let expected =
        ["n", "Ready,SchedulingDisabled", "control-plane,worker", "<unknown>", "v1.34.0", "10.1.0.1", "<none>", "<unknown>"];
    let row = of_object(find("", "v1", "nodes").unwrap(), &node, IncludeObject::None, now());
    assert_eq!(row["rows"][0]["cells"].as_array().unwrap()[..8], expected.map(Value::from));
    let event = json!({"metadata": {"name": "e"}, "type": "Normal", "reason": "Killing", "message": " stopping\n",
        "involvedObject": {"kind": "Pod", "name": "p"}, "eventTime": "2026-01-01T00:59:30.000000Z", "reportingComponent": "kubelet", "reportingInstance": "n"});
    let expected = json!(["30s", "Normal", "Killing", "pod/p", "", "kubelet, n", "stopping", "30s", 1, "e"]);
    cells("events", &event, &expected);
}

#[test]
fn a_list_keeps_its_metadata_and_its_objects_as_asked() {
    let list = json!({"metadata": {"resourceVersion": "5", "continue": "token", "selfLink": "x"}, "items": [{"metadata": {"name": "a"}, "data": {"k": "v"}}]});
    let configmaps = find("", "v1", "configmaps").unwrap();
    let table = of_list(configmaps, &list, IncludeObject::Metadata, now());
    assert_eq!(table["metadata"], json!({"resourceVersion": "5", "continue": "token"}));
    assert_eq!(table["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    assert_eq!(table["rows"][0]["object"].get("data"), None);
    let whole = of_list(configmaps, &list, IncludeObject::Object, now());
    assert_eq!(whole["rows"][0]["object"]["kind"], "ConfigMap");
    assert_eq!(whole["rows"][0]["object"]["data"]["k"], "v");
    assert_eq!(of_list(configmaps, &list, IncludeObject::None, now())["rows"][0]["object"], Value::Null);
    assert_eq!(of_watched(configmaps, &list["items"][0], IncludeObject::None, now())["columnDefinitions"], Value::Null);
}

#[test]
fn include_object_is_read_as_the_api_server_reads_it() {
    assert_eq!(IncludeObject::parse(""), Ok(IncludeObject::Metadata));
    assert_eq!(IncludeObject::parse("Object"), Ok(IncludeObject::Object));
    assert!(IncludeObject::parse("what").unwrap_err().contains("must be 'Metadata', 'Object', 'None', or empty"));
}

#[test]
fn a_table_is_made_when_the_first_clause_that_can_be_served_asks_for_one() {
    let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
    assert!(requested(kubectl));
    assert!(requested(
        "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1;g=meta.k8s.io"
    ));
    for accept in [
        "",
        "*/*",
        "application/json",
        "application/json,application/json;as=Table;v=v1;g=meta.k8s.io",
        "application/json;as=Table",
    ] {
        assert!(!requested(accept), "{accept}");
    }
}

fn now() -> SystemTime {
    age::parsed("2026-01-01T01:00:00Z").unwrap()
}

#[track_caller]
fn cells(name: &str, object: &Value, expected: &Value) {
    let resource = resources().iter().find(|resource| resource.name == name).unwrap();
    assert_eq!(&of_object(resource, object, IncludeObject::None, now())["rows"][0]["cells"], expected);
}
