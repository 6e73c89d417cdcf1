//! The cells of each resource's rows, in the order of [`super::columns`]; those of pods are in [`super::pod`].

use std::collections::BTreeSet;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::super::resource::Resource;
use super::field::{condition, count, integer, list, map, text, text_or};
use super::selector::{labels, selector, selector_or_none};
use super::{age, pod};

const NONE: &str = "<none>";
const UNKNOWN: &str = "<unknown>";

/// The cells of one object.
pub(super) fn of(resource: &Resource, object: &Value, now: SystemTime) -> Vec<Value> {
    let name = json!(text(object, "/metadata/name"));
    let age = json!(since(object, "/metadata/creationTimestamp", now));
    match resource.kind {
        "ConfigMap" => vec![name, json!(count(object, "/data") + count(object, "/binaryData")), age],
        "DaemonSet" => {
            with_containers(daemon_set(object, name, age), object, Some(selector_or_none(object.pointer("/spec/selector"))))
        }
        "Deployment" => {
            let selector = object.pointer("/spec/selector").map(selector).unwrap_or_default();
            with_containers(deployment(object, name, age), object, Some(selector))
        }
        "Event" => event(object, name, now),
        "Job" => with_containers(job(object, name, age, now), object, Some(selector_or_none(object.pointer("/spec/selector")))),
        "Lease" => vec![name, json!(text(object, "/spec/holderIdentity")), age],
        "Namespace" => vec![name, json!(text(object, "/status/phase")), age],
        "Node" => node(object, name, age),
        "Pod" => pod::cells(object, now),
        "PodTemplate" => {
            let (names, images) = containers(object, "/template/spec/containers");
            vec![name, json!(names), json!(images), json!(labels(map(object, "/template/metadata/labels")))]
        }
        "ReplicaSet" => {
            let counts = [desired(object), integer(object, "/status/replicas"), integer(object, "/status/readyReplicas")];
            let cells = [name].into_iter().chain(counts.map(Value::from)).chain([age]).collect();
            with_containers(cells, object, Some(selector_or_none(object.pointer("/spec/selector"))))
        }
        "Secret" => vec![name, json!(text(object, "/type")), json!(count(object, "/data")), age],
        "Service" => service(object, name, age),
        "ServiceAccount" => vec![name, json!(count(object, "/secrets")), age],
        "StatefulSet" => with_containers(vec![name, json!(ready_of_desired(object)), age], object, None),
        _ => vec![name, json!(text(object, "/metadata/creationTimestamp"))],
    }
}

fn since(object: &Value, pointer: &str, now: SystemTime) -> String {
    age::since(object.pointer(pointer).and_then(Value::as_str), now)
}

/// Adds the cells of a pod template for `-o wide`.
fn with_containers(mut cells: Vec<Value>, object: &Value, selector: Option<String>) -> Vec<Value> {
    let (names, images) = containers(object, "/spec/template/spec/containers");
    cells.extend([json!(names), json!(images)]);
    cells.extend(selector.map(Value::from));
    cells
}

fn containers(object: &Value, pointer: &str) -> (String, String) {
    let all = |field: &str| list(object, pointer).iter().map(|container| text(container, field)).collect::<Vec<_>>().join(",");
    (all("/name"), all("/image"))
}

/// The API server sets one replica if none are given.
fn desired(object: &Value) -> i64 {
    object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
}

fn ready_of_desired(object: &Value) -> String {
    format!("{}/{}", integer(object, "/status/readyReplicas"), desired(object))
}

fn daemon_set(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let counts = [
        "/status/desiredNumberScheduled",
        "/status/currentNumberScheduled",
        "/status/numberReady",
        "/status/updatedNumberScheduled",
        "/status/numberAvailable",
    ];
    let node_selector = json!(labels(map(object, "/spec/template/spec/nodeSelector")));
    let counts = counts.map(|pointer| json!(integer(object, pointer)));
    [name].into_iter().chain(counts).chain([node_selector, age]).collect()
}

fn deployment(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let updated = json!(integer(object, "/status/updatedReplicas"));
    let available = json!(integer(object, "/status/availableReplicas"));
    vec![name, json!(ready_of_desired(object)), updated, available, age]
}

fn job(object: &Value, name: Value, age: Value, now: SystemTime) -> Vec<Value> {
    let succeeded = integer(object, "/status/succeeded");
    let completions = match object.pointer("/spec/completions").and_then(Value::as_i64) {
        Some(completions) => format!("{succeeded}/{completions}"),
        None => match integer(object, "/spec/parallelism") {
            parallelism if parallelism > 1 => format!("{succeeded}/1 of {parallelism}"),
            _ => format!("{succeeded}/1"),
        },
    };
    let started = age::parsed(text(object, "/status/startTime"));
    let completed = age::parsed(text(object, "/status/completionTime"));
    let duration = started.map(|started| age::between(started, completed.unwrap_or(now))).unwrap_or_default();
    vec![name, json!(job_status(object)), json!(completions), json!(duration), age]
}

fn job_status(object: &Value) -> &'static str {
    let deleting = object.pointer("/metadata/deletionTimestamp").is_some_and(|at| !at.is_null());
    let told = [
        ("Complete", condition(object, "Complete")),
        ("Failed", condition(object, "Failed")),
        ("Terminating", deleting),
        ("Suspended", condition(object, "Suspended")),
        ("FailureTarget", condition(object, "FailureTarget")),
        ("SuccessCriteriaMet", condition(object, "SuccessCriteriaMet")),
    ];
    told.into_iter().find(|(_, is)| *is).map_or("Running", |(status, _)| status)
}

fn event(object: &Value, name: Value, now: SystemTime) -> Vec<Value> {
    let first = match since(object, "/firstTimestamp", now) {
        first if first == UNKNOWN => since(object, "/eventTime", now),
        first => first,
    };
    let series = object.get("series").filter(|series| series.is_object());
    let last = match (series, since(object, "/lastTimestamp", now)) {
        (Some(series), _) => since(series, "/lastObservedTime", now),
        (None, last) if last == UNKNOWN => first.clone(),
        (None, last) => last,
    };
    let count = match series {
        Some(series) => integer(series, "/count"),
        // In the new API, an event that happened once has no count.
        None => integer(object, "/count").max(1),
    };
    let kind = text(object, "/involvedObject/kind").to_lowercase();
    let target = match text(object, "/involvedObject/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let component = text_or(object, "/source/component", text(object, "/reportingComponent"));
    let source = match text_or(object, "/source/host", text(object, "/reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    };
    vec![
        json!(last),
        json!(text(object, "/type")),
        json!(text(object, "/reason")),
        json!(target),
        json!(text(object, "/involvedObject/fieldPath")),
        json!(source),
        json!(text(object, "/message").trim()),
        json!(first),
        json!(count),
        name,
    ]
}

fn node(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let ready = list(object, "/status/conditions").iter().rfind(|condition| text(condition, "/type") == "Ready");
    let mut status = match ready.map(|condition| text(condition, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if object.pointer("/spec/unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let about = |field: &str, empty| json!(text_or(object, &format!("/status/nodeInfo/{field}"), empty));
    vec![
        name,
        json!(status),
        json!(roles(object)),
        age,
        about("kubeletVersion", ""),
        json!(address(object, "InternalIP")),
        json!(address(object, "ExternalIP")),
        about("osImage", UNKNOWN),
        about("kernelVersion", UNKNOWN),
        about("containerRuntimeVersion", UNKNOWN),
    ]
}

fn roles(node: &Value) -> String {
    let role = |(label, value): (&String, &Value)| match label.strip_prefix("node-role.kubernetes.io/") {
        Some(role) => Some(role.to_owned()),
        None if label == "kubernetes.io/role" => value.as_str().map(str::to_owned),
        None => None,
    };
    let roles: BTreeSet<String> = map(node, "/metadata/labels").into_iter().flatten().filter_map(role).collect();
    let roles: Vec<String> = roles.into_iter().filter(|role| !role.is_empty()).collect();
    if roles.is_empty() { NONE.to_owned() } else { roles.join(",") }
}

fn address<'a>(node: &'a Value, address_type: &str) -> &'a str {
    let found = list(node, "/status/addresses").iter().find(|address| text(address, "/type") == address_type);
    found.map_or(NONE, |address| text(address, "/address"))
}

fn service(object: &Value, name: Value, age: Value) -> Vec<Value> {
    let ports: Vec<String> = list(object, "/spec/ports").iter().map(port).collect();
    let ports = if ports.is_empty() { NONE.to_owned() } else { ports.join(",") };
    vec![
        name,
        json!(text_or(object, "/spec/type", "ClusterIP")),
        json!(text_or(object, "/spec/clusterIPs/0", text_or(object, "/spec/clusterIP", NONE))),
        json!(external_address(object)),
        json!(ports),
        age,
        json!(labels(map(object, "/spec/selector"))),
    ]
}

fn port(port: &Value) -> String {
    let protocol = text_or(port, "/protocol", "TCP");
    match (integer(port, "/port"), integer(port, "/nodePort")) {
        (port, 0) => format!("{port}/{protocol}"),
        (port, node_port) => format!("{port}:{node_port}/{protocol}"),
    }
}

fn external_address(service: &Value) -> String {
    let external: Vec<&str> = list(service, "/spec/externalIPs").iter().filter_map(Value::as_str).collect();
    let ingress = list(service, "/status/loadBalancer/ingress").iter();
    let balanced: BTreeSet<&str> =
        ingress.map(|at| text_or(at, "/ip", text(at, "/hostname"))).filter(|at| !at.is_empty()).collect();
    let (addresses, none): (Vec<&str>, &str) = match text(service, "/spec/type") {
        "" | "ClusterIP" | "NodePort" => (external, NONE),
        "LoadBalancer" => (balanced.into_iter().chain(external).collect(), "<pending>"),
        "ExternalName" => return text(service, "/spec/externalName").to_owned(),
        _ => return UNKNOWN.to_owned(),
    };
    if addresses.is_empty() { none.to_owned() } else { addresses.join(",") }
}
