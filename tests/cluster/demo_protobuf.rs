//! Objects of the real server in protobuf, read as the demo reads them, compared with the same objects in JSON.

use observer_demo::api::protobuf::{Body, MEDIA_TYPE, to_json};
use observer_demo::api::{find, scale};
use observer_tests::Cluster;
use serde_json::{Value, json};

const DEFAULT: &str = "/api/v1/namespaces/default";
const APPS: &str = "/apis/apps/v1/namespaces/default";

#[test]
fn objects_created_in_protobuf_and_json_are_equal() {
    let cases = [
        ("", "pods", format!("{DEFAULT}/pods"), json!({"spec": pod_spec("Always")})),
        (
            "",
            "services",
            format!("{DEFAULT}/services"),
            json!({"spec": {
                "ports": [{"name": "a", "port": 80, "targetPort": "http"}, {"name": "b", "port": 81, "nodePort": 30123, "protocol": "UDP"}],
                "selector": {"app": "x"}, "type": "NodePort", "sessionAffinity": "ClientIP",
            }}),
        ),
        (
            "",
            "configmaps",
            format!("{DEFAULT}/configmaps"),
            json!({"data": {"a": ""}, "binaryData": {"b": "AP8="}, "immutable": false}),
        ),
        ("", "secrets", format!("{DEFAULT}/secrets"), json!({"data": {"a": "AP8="}, "type": "example.com/x"})),
        ("", "serviceaccounts", format!("{DEFAULT}/serviceaccounts"), json!({"automountServiceAccountToken": false})),
        ("", "namespaces", "/api/v1/namespaces".to_owned(), json!({})),
        (
            "",
            "nodes",
            "/api/v1/nodes".to_owned(),
            json!({"spec": {"unschedulable": true, "taints": [{"key": "a", "effect": "NoExecute"}]}}),
        ),
        (
            "",
            "events",
            format!("{DEFAULT}/events"),
            json!({
                "involvedObject": {"kind": "Pod", "namespace": "default", "name": "x"}, "reason": "R", "message": "m", "type": "Normal",
                "count": 2, "firstTimestamp": "2025-01-02T03:04:05Z", "eventTime": "2025-01-02T03:04:05.000006Z", "action": "A",
                "reportingComponent": "c", "reportingInstance": "i",
            }),
        ),
        ("", "podtemplates", format!("{DEFAULT}/podtemplates"), json!({"template": template("Always")})),
        (
            "apps",
            "deployments",
            format!("{APPS}/deployments"),
            workload(&json!({"replicas": 0, "minReadySeconds": 3, "paused": true})),
        ),
        ("apps", "replicasets", format!("{APPS}/replicasets"), workload(&json!({"replicas": 2}))),
        ("apps", "daemonsets", format!("{APPS}/daemonsets"), workload(&json!({"updateStrategy": {"type": "OnDelete"}}))),
        ("apps", "statefulsets", format!("{APPS}/statefulsets"), workload(&json!({"serviceName": "s", "ordinals": {"start": 0}}))),
        (
            "batch",
            "jobs",
            "/apis/batch/v1/namespaces/default/jobs".to_owned(),
            json!({"spec": {"backoffLimit": 0, "suspend": true, "template": template("Never")}}),
        ),
        (
            "coordination.k8s.io",
            "leases",
            "/apis/coordination.k8s.io/v1/namespaces/default/leases".to_owned(),
            json!({"spec": {"holderIdentity": "h", "leaseTransitions": 0, "renewTime": "2025-01-02T03:04:05.000006Z"}}),
        ),
    ];
    for (group, name, collection, mut object) in cases {
        object["metadata"] = json!({
            "name": "in-protobuf",
            "labels": {"a": "", "b": "c"},
            "finalizers": ["example.com/hold"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "o", "uid": "u", "controller": false}],
        });
        request("POST", &collection, "application/json", &object);
        let body = Body::Object(find(group, "v1", name).unwrap());
        assert_same(body, &format!("{collection}/in-protobuf"));
        if matches!(name, "deployments" | "replicasets" | "statefulsets") {
            assert_same(Body::Object(&scale::SCALE), &format!("{collection}/in-protobuf/scale"));
        }
        request(
            "PATCH",
            &format!("{collection}/in-protobuf"),
            "application/merge-patch+json",
            &json!({"metadata": {"finalizers": null}}),
        );
        Cluster::shared().unwrap().raw("DELETE", &format!("{collection}/in-protobuf"), &[], b"").unwrap().success().unwrap();
    }
}

#[track_caller]
fn assert_same(body: Body, path: &str) {
    let cluster = Cluster::shared().unwrap();
    let protobuf = cluster.raw("GET", path, &[("Accept", MEDIA_TYPE)], b"").unwrap().success().unwrap();
    let read = to_json(body, &protobuf.body).unwrap_or_else(|error| panic!("{path}: {error}"));
    let json = cluster.raw("GET", path, &[("Accept", "application/json")], b"").unwrap().success().unwrap().json().unwrap();
    // A null in JSON is an unset time.
    assert_eq!(without_nulls(read), without_nulls(json), "{path}");
}

fn without_nulls(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(|value| *value = without_nulls(value.take()));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|value| *value = without_nulls(value.take())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    value
}

#[track_caller]
fn request(method: &str, path: &str, content_type: &str, body: &Value) {
    let cluster = Cluster::shared().unwrap();
    let answer = cluster.raw(method, path, &[("Content-Type", content_type)], body.to_string().as_bytes()).unwrap();
    answer.success().unwrap_or_else(|error| panic!("{path}: {error}"));
}

fn workload(spec: &Value) -> Value {
    let mut object = json!({"spec": {"selector": {"matchLabels": {"app": "x"}}, "template": template("Always")}});
    object["spec"].as_object_mut().unwrap().extend(spec.as_object().unwrap().clone());
    object
}

fn template(restart_policy: &str) -> Value {
    json!({"metadata": {"labels": {"app": "x"}}, "spec": pod_spec(restart_policy)})
}

/// A pod with as many fields as possible.
fn pod_spec(restart_policy: &str) -> Value {
    let selector = json!({"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]});
    let affinity_term =
        json!({"labelSelector": selector, "namespaces": ["default"], "topologyKey": "zone", "namespaceSelector": {}});
    let node_term = json!({
        "matchExpressions": [{"key": "k", "operator": "Exists"}],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
    });
    let mut container = json!({
        "name": "c",
        "image": "i",
        "command": ["a"],
        "args": ["", "b"],
        "workingDir": "/w",
        "ports": [{"containerPort": 80, "name": "http", "protocol": "UDP"}],
        "env": [
            {"name": "A", "value": ""},
            {"name": "B", "value": "b"},
            {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "D", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k", "optional": false}}},
            {"name": "E", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "F", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
        ],
        "envFrom": [{"prefix": "P", "configMapRef": {"name": "m", "optional": true}}, {"secretRef": {"name": "s"}}],
        "resources": {"limits": {"cpu": "250m", "memory": "1Gi"}, "requests": {"cpu": "0"}},
        "volumeMounts": [{"name": "empty", "mountPath": "/e", "readOnly": true, "subPath": "x"}],
        "securityContext": {
            "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}, "privileged": false, "runAsUser": 0, "runAsNonRoot": false,
            "readOnlyRootFilesystem": true, "seLinuxOptions": {"level": "s0"}, "seccompProfile": {"type": "RuntimeDefault"},
        },
        "stdin": true,
        "tty": true,
    });
    let mut init = container.clone();
    init["name"] = json!("init");
    if restart_policy == "Always" {
        container["livenessProbe"] = json!({"httpGet": {"path": "/", "port": "http", "httpHeaders": [{"name": "N", "value": "v"}]}, "initialDelaySeconds": 3});
        container["readinessProbe"] = json!({"tcpSocket": {"port": 80}, "terminationGracePeriodSeconds": null});
        container["startupProbe"] = json!({"grpc": {"port": 80, "service": ""}});
        container["lifecycle"] = json!({"postStart": {"exec": {"command": ["x"]}}, "preStop": {"httpGet": {"port": 80}}});
    }
    json!({
        "restartPolicy": restart_policy,
        "terminationGracePeriodSeconds": 0,
        "activeDeadlineSeconds": if restart_policy == "Never" { json!(5) } else { Value::Null },
        "nodeSelector": {"a": "b"},
        "hostNetwork": false,
        "shareProcessNamespace": false,
        "enableServiceLinks": false,
        "hostname": "h",
        "serviceAccountName": "default",
        "imagePullSecrets": [{"name": "p"}],
        "hostAliases": [{"ip": "127.0.0.1", "hostnames": ["h"]}],
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"], "searches": ["x"], "options": [{"name": "ndots", "value": "2"}, {"name": "debug"}]},
        "tolerations": [{"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 0}],
        "securityContext": {"runAsGroup": 0, "supplementalGroups": [0, 5], "fsGroup": 3, "sysctls": [{"name": "kernel.shm_rmid_forced", "value": "0"}]},
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, "minDomains": 2},
        ],
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [node_term]},
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": node_term}],
            },
            "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [affinity_term]},
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 2, "podAffinityTerm": affinity_term}]},
        },
        "volumes": [
            {"name": "empty", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}},
            {"name": "plain", "emptyDir": {}},
            {"name": "host", "hostPath": {"path": "/", "type": ""}},
            {"name": "secret", "secret": {"secretName": "s", "items": [{"key": "k", "path": "p", "mode": 0}], "optional": false}},
            {"name": "map", "configMap": {"name": "m", "defaultMode": 256}},
            {"name": "claim", "persistentVolumeClaim": {"claimName": "c", "readOnly": true}},
            {"name": "nfs", "nfs": {"server": "s", "path": "/"}},
            {"name": "down", "downwardAPI": {"items": [{"path": "p", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
            {"name": "all", "projected": {"sources": [
                {"secret": {"name": "s"}},
                {"configMap": {"name": "m", "items": [{"key": "k", "path": "p"}]}},
                {"downwardAPI": {"items": [{"path": "q", "resourceFieldRef": {"containerName": "c", "resource": "requests.cpu"}}]}},
                {"serviceAccountToken": {"path": "t", "expirationSeconds": 600, "audience": "a"}},
            ]}},
        ],
        "initContainers": [init],
        "containers": [container],
    })
}
