//! The expected result of `watchtap inject` for a pod, as a function on objects. It follows the description of the layout, not the code.
//!
//! `inject` chooses ports and the name of a volume. They are read from its result and checked; everything else follows from the pod.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The folder in which clients look for their credentials.
pub(super) const SERVICE_ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The folder to which the volume of the kubelet moves.
pub(super) const MOVED: &str = "/var/run/secrets/watchtap/serviceaccount";
pub(super) const SIDECAR: &str = "watchtap";
const ANNOTATION: &str = "watchtap.dev/injected";
/// Ports that clients of some libraries take for HTTP, ports of the system, and those that the kernel gives away are out of
/// question.
const PORTS: std::ops::Range<u64> = 16_443..32_768;

/// Differences from the expected result, one line each.
pub(super) fn differences(before: &Value, after: &Value) -> Vec<String> {
    match expected(before, after) {
        Ok(expected) => {
            let mut found = Vec::new();
            compare("", &comparable(&expected), &comparable(after), &mut found);
            found.extend(reordered_environment(before, after));
            found
        }
        Err(reason) => vec![reason],
    }
}

fn expected(before: &Value, after: &Value) -> Result<Value, String> {
    let sidecar = &after["spec"]["initContainers"][0];
    if sidecar["name"] != SIDECAR {
        return Err(format!("the first init container is {}", sidecar["name"]));
    }
    let chosen = Chosen::read(before, sidecar)?;
    let moved = all_containers(before).iter().any(|container| mount_at(container, SERVICE_ACCOUNT).is_none());
    let token_volume = token_volume(before, after);
    let lead = |container: &Value| led(container, chosen.ports[text(&container["name"])], &token_volume);

    let mut pod = before.clone();
    let annotation = after["metadata"]["annotations"][ANNOTATION].clone();
    if !annotation.is_string() {
        return Err(format!("the annotation {ANNOTATION} is {annotation}"));
    }
    object(object(&mut pod["metadata"]).entry("annotations").or_insert(Value::Null)).insert(ANNOTATION.to_owned(), annotation);
    let init =
        std::iter::once(expected_sidecar(before, sidecar, &chosen)).chain(containers(before, "initContainers").iter().map(lead));
    pod["spec"]["initContainers"] = init.collect();
    pod["spec"]["containers"] = containers(before, "containers").iter().map(lead).collect();
    let mut volumes = array(&before["spec"]["volumes"]).to_vec();
    let memory = json!({"medium": "Memory", "sizeLimit": "1Mi"});
    volumes.push(json!({"name": "watchtap-own", "emptyDir": memory}));
    volumes.push(json!({"name": "watchtap-trust", "emptyDir": memory}));
    volumes.push(json!({"name": "watchtap-real-ca", "projected": {"sources": [cluster_ca()]}}));
    if moved {
        volumes.push(json!({"name": token_volume, "projected": {"sources": [
            {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
            cluster_ca(),
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
        ]}}));
    }
    pod["spec"]["volumes"] = volumes.into();
    Ok(pod)
}

/// The choices of `inject`.
struct Chosen {
    ports: BTreeMap<String, u64>,
    metrics: u64,
}

impl Chosen {
    fn read(before: &Value, sidecar: &Value) -> Result<Self, String> {
        let arguments: Vec<&str> = array(&sidecar["args"]).iter().map(text).collect();
        let ["run", "--in-cluster", rest @ ..] = arguments.as_slice() else {
            return Err(format!("the arguments are {arguments:?}"));
        };
        let (mut ports, mut metrics) = (BTreeMap::new(), None);
        // A flag without a value, for a certificate of OpenShift.
        let rest: Vec<&str> = rest.iter().copied().filter(|argument| *argument != "--service-ca").collect();
        for pair in rest.chunks(2) {
            match *pair {
                ["--container", led] => {
                    let (name, port) = led.rsplit_once('=').ok_or_else(|| format!("{led} names no port"))?;
                    let port = port.parse().map_err(|error| format!("{led}: {error}"))?;
                    if ports.insert(name.to_owned(), port).is_some() {
                        return Err(format!("two ports for {name}"));
                    }
                }
                ["--metrics", address] => metrics = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()),
                _ => return Err(format!("the arguments have {pair:?}")),
            }
        }
        let metrics = metrics.ok_or("no address for metrics")?;
        let names: BTreeSet<String> = all_containers(before).iter().map(|container| text(&container["name"]).to_owned()).collect();
        if names != ports.keys().cloned().collect() {
            return Err(format!("ports for {:?}, not for {names:?}", ports.keys()));
        }
        let declared = declared_ports(before);
        let taken: Vec<_> = ports.values().chain([&metrics]).filter(|port| declared.contains(port)).collect();
        let distinct: BTreeSet<u64> = ports.values().chain([&metrics]).copied().collect();
        if !taken.is_empty() || distinct.len() != ports.len() + 1 || ports.values().any(|port| !PORTS.contains(port)) {
            return Err(format!("the ports are {ports:?}, for metrics {metrics}; the pod declares {declared:?}"));
        }
        Ok(Self { ports, metrics })
    }
}

/// All ports of a pod: those declared, and those of probes and lifecycle hooks.
fn declared_ports(pod: &Value) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for container in all_containers(pod) {
        for port in array(&container["ports"]) {
            found.extend(["containerPort", "hostPort"].iter().filter_map(|key| port[key].as_u64()));
        }
        for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
            found.extend(["httpGet", "tcpSocket", "grpc"].iter().filter_map(|way| container[probe][way]["port"].as_u64()));
        }
    }
    found
}

fn expected_sidecar(before: &Value, is: &Value, chosen: &Chosen) -> Value {
    let mut sidecar = json!({
        "name": SIDECAR,
        "image": is["image"],
        "restartPolicy": "Always",
        // Read above.
        "args": is["args"],
        "startupProbe": {"httpGet": {"path": "/started", "port": chosen.metrics}, "periodSeconds": 1, "failureThreshold": 60},
        "securityContext": {
            "runAsNonRoot": true, "runAsUser": 59643, "runAsGroup": 59643, "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"},
        },
        "resources": expected_resources(before, &is["resources"]),
        "volumeMounts": [
            {"name": "watchtap-own", "mountPath": "/var/run/secrets/watchtap/own"},
            {"name": "watchtap-trust", "mountPath": "/var/run/secrets/watchtap/trust"},
            {"name": "watchtap-real-ca", "mountPath": SERVICE_ACCOUNT, "readOnly": true},
        ],
    });
    // Containers share the resources of their pod.
    if ["requests", "limits"].iter().any(|kind| before["spec"]["resources"][kind].is_object()) {
        sidecar.as_object_mut().unwrap().remove("resources");
    }
    // Prometheus finds a declared port by its name.
    if let [port] = array(&is["ports"])
        && port["containerPort"] == chosen.metrics
    {
        sidecar["ports"] = is["ports"].clone();
    }
    sidecar
}

/// Requests and limits follow from measurements, so their amounts are free. No limit of CPU, which would delay the traffic, unless
/// the pod would leave the class Guaranteed without one.
fn expected_resources(before: &Value, is: &Value) -> Value {
    let mut expected = is.clone();
    let amounts = |kind: &str| ["cpu", "memory"].map(|resource| is[kind][resource].is_string());
    let guaranteed = all_containers(before).iter().all(is_guaranteed);
    let fits = if guaranteed { is["requests"] == is["limits"] } else { amounts("limits") == [false, true] };
    if !fits || amounts("requests") != [true, true] {
        expected = json!(format!("resources of a pod that is {}guaranteed", if guaranteed { "" } else { "not " }));
    }
    expected
}

fn is_guaranteed(container: &Value) -> bool {
    ["cpu", "memory"].iter().all(|resource| {
        let limit = &container["resources"]["limits"][resource];
        let request = &container["resources"]["requests"][resource];
        !limit.is_null() && (request.is_null() || request == limit)
    })
}

/// A container whose client is led to the sidecar.
fn led(container: &Value, port: u64, token_volume: &str) -> Value {
    let mut led = container.clone();
    let own = ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT", "KUBERNETES_SERVICE_PORT_HTTPS"];
    let mut environment: Vec<Value> =
        array(&container["env"]).iter().filter(|variable| !own.contains(&text(&variable["name"]))).cloned().collect();
    if environment.iter().any(sets_proxy) {
        add_proxy_exception(&mut environment);
    }
    let port = port.to_string();
    for (name, value) in own.iter().zip(["127.0.0.1", &port, &port]) {
        environment.push(json!({"name": name, "value": value}));
    }
    led["env"] = environment.into();
    let mut mounts: Vec<Value> = array(&container["volumeMounts"]).to_vec();
    match mounts.iter_mut().find(|mount| is_at(mount, SERVICE_ACCOUNT)) {
        Some(mount) => mount["mountPath"] = MOVED.into(),
        None => mounts.push(json!({"name": token_volume, "mountPath": MOVED, "readOnly": true})),
    }
    mounts.push(json!({"name": "watchtap-trust", "mountPath": SERVICE_ACCOUNT, "readOnly": true}));
    led["volumeMounts"] = mounts.into();
    led
}

/// Clients that use the proxy for all but some hosts must not use it for the sidecar. Programs read one of the two names first, so
/// a name that is not there must not hide the hosts of the other.
fn add_proxy_exception(environment: &mut Vec<Value>) {
    let names = ["NO_PROXY", "no_proxy"];
    if environment.iter().all(|variable| !names.contains(&text(&variable["name"]))) {
        environment.extend(names.map(|name| json!({"name": name, "value": "127.0.0.1"})));
    }
    for variable in environment.iter_mut().filter(|variable| names.contains(&text(&variable["name"]))) {
        let mut hosts: Vec<&str> = text(&variable["value"]).split(',').filter(|host| !host.is_empty()).collect();
        if !hosts.contains(&"127.0.0.1") {
            hosts.push("127.0.0.1");
        }
        variable["value"] = hosts.join(",").into();
    }
}

fn sets_proxy(variable: &Value) -> bool {
    let name = text(&variable["name"]).to_lowercase();
    ["http_proxy", "https_proxy", "all_proxy"].contains(&name.as_str()) && variable["value"] != ""
}

/// The name that `inject` gave to the standard volume, which it adds where a container has none of its own.
fn token_volume(before: &Value, after: &Value) -> String {
    let names =
        |pod: &Value| array(&pod["spec"]["volumes"]).iter().map(|volume| text(&volume["name"]).to_owned()).collect::<Vec<_>>();
    let known = names(before);
    let ours = ["watchtap-own", "watchtap-trust", "watchtap-real-ca"];
    names(after).into_iter().find(|name| !known.contains(name) && !ours.contains(&name.as_str())).unwrap_or_default()
}

fn cluster_ca() -> Value {
    json!({"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}})
}

/// The variables of an app keep their order, since one can refer to those before it.
fn reordered_environment(before: &Value, after: &Value) -> Vec<String> {
    let names =
        |container: &Value| -> Vec<String> { array(&container["env"]).iter().map(|one| text(&one["name"]).to_owned()).collect() };
    let after = all_containers(after);
    let mut found = Vec::new();
    for container in all_containers(before) {
        let before = names(&container);
        let of_name = after.iter().find(|other| other["name"] == container["name"]).map(names).unwrap_or_default();
        let kept: Vec<String> = of_name.into_iter().filter(|name| before.contains(name)).collect();
        if kept != before {
            found.push(format!("variables of {}: {before:?} became {kept:?}", container["name"]));
        }
    }
    found
}

/// The form in which two pods are compared: lists of named things become maps, and the values that the API server fills in are left
/// out.
fn comparable(node: &Value) -> Value {
    match node {
        Value::Object(fields) => Value::Object(fields.iter().filter_map(comparable_field).collect()),
        Value::Array(items) => items.iter().map(comparable).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => node.clone(),
    }
}

fn comparable_field((key, value): (&String, &Value)) -> Option<(String, Value)> {
    let by = |identity: &str| -> Value {
        let items = array(value).iter().map(|item| (text(&item[identity]).to_owned(), comparable(item)));
        items.collect::<Map<_, _>>().into()
    };
    let value = match key.as_str() {
        "env" | "volumes" => by("name"),
        "volumeMounts" => by("mountPath"),
        "defaultMode" if *value == 420 => return None,
        "apiVersion" if *value == "v1" => return None,
        // Optional, of OpenShift.
        "sources" => array(value).iter().filter(|source| source["configMap"]["optional"] != true).map(comparable).collect(),
        _ if value.is_null() => return None,
        _ => comparable(value),
    };
    Some((key.clone(), value))
}

/// Adds a line for each value that differs.
pub(super) fn compare(at: &str, expected: &Value, is: &Value, found: &mut Vec<String>) {
    match (expected, is) {
        (Value::Object(expected), Value::Object(is)) => {
            for key in expected.keys().chain(is.keys().filter(|key| !expected.contains_key(*key))) {
                let missing = Value::Null;
                compare(&format!("{at}/{key}"), expected.get(key).unwrap_or(&missing), is.get(key).unwrap_or(&missing), found);
            }
        }
        (Value::Array(expected), Value::Array(is)) if expected.len() == is.len() => {
            for (number, (expected, is)) in expected.iter().zip(is).enumerate() {
                compare(&format!("{at}/{number}"), expected, is, found);
            }
        }
        (expected, is) if expected == is => {}
        (expected, is) => found.push(format!("{at} is {is} instead of {expected}")),
    }
}

pub(super) fn containers<'p>(pod: &'p Value, list: &str) -> &'p [Value] {
    array(&pod["spec"][list])
}

/// Init containers, then containers.
pub(super) fn all_containers(pod: &Value) -> Vec<Value> {
    ["initContainers", "containers"].iter().flat_map(|list| containers(pod, list)).cloned().collect()
}

/// The mount of a container at this path.
pub(super) fn mount_at<'c>(container: &'c Value, path: &str) -> Option<&'c Value> {
    array(&container["volumeMounts"]).iter().find(|mount| is_at(mount, path))
}

fn is_at(mount: &Value, path: &str) -> bool {
    text(&mount["mountPath"]).trim_end_matches('/') == path
}

pub(super) fn array(node: &Value) -> &[Value] {
    node.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(node: &Value) -> &str {
    node.as_str().unwrap_or_default()
}

/// A mapping; null counts as an empty one.
fn object(node: &mut Value) -> &mut Map<String, Value> {
    if node.is_null() {
        *node = json!({});
    }
    node.as_object_mut().unwrap()
}
