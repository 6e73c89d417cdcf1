//! The cells of a pod. Its status follows from its containers.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::age;
use super::field::{condition, integer, list, text, text_or};

const NONE: &str = "<none>";

/// The facts collected from the containers.
struct Told {
    status: String,
    ready: usize,
    restarts: i64,
    /// The end of the container that ended last.
    last_restart: Option<SystemTime>,
}

pub(super) fn cells(pod: &Value, now: SystemTime) -> Vec<Value> {
    let told = told(pod);
    let sidecars = list(pod, "/spec/initContainers").iter().filter(|container| is_sidecar(container)).count();
    let restarts = match told.last_restart {
        Some(at) if told.restarts != 0 => format!("{} ({} ago)", told.restarts, age::between(at, now)),
        _ => told.restarts.to_string(),
    };
    vec![
        json!(text(pod, "/metadata/name")),
        json!(format!("{}/{}", told.ready, list(pod, "/spec/containers").len() + sidecars)),
        json!(ending(pod, told.status)),
        json!(restarts),
        json!(age::since(pod.pointer("/metadata/creationTimestamp").and_then(Value::as_str), now)),
        json!(text_or(pod, "/status/podIPs/0/ip", NONE)),
        json!(text_or(pod, "/spec/nodeName", NONE)),
        json!(text_or(pod, "/status/nominatedNodeName", NONE)),
        json!(readiness_gates(pod)),
    ]
}

/// The row conditions of a pod that has ended.
pub(super) fn row_conditions(pod: &Value) -> Option<Value> {
    let (reason, message) = match text(pod, "/status/phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return None,
    };
    Some(json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]))
}

fn told(pod: &Value) -> Told {
    let phase = text(pod, "/status/phase");
    let mut status = text_or(pod, "/status/reason", phase).to_owned();
    if list(pod, "/status/conditions").iter().any(is_gated) {
        "SchedulingGated".clone_into(&mut status);
    }
    let mut told = Told { status, ready: 0, restarts: 0, last_restart: None };
    let mut sidecars = Told { status: String::new(), ready: 0, restarts: 0, last_restart: None };
    let initializing = initializing(pod, &mut told, &mut sidecars);
    if !initializing || condition(pod, "Initialized") {
        told.restarts = sidecars.restarts;
        told.last_restart = sidecars.last_restart;
        containers(pod, &mut told);
    }
    told
}

fn is_gated(condition: &Value) -> bool {
    text(condition, "/type") == "PodScheduled" && text(condition, "/reason") == "SchedulingGated"
}

/// Visits the init containers up to the first unfinished one; returns whether there is one.
fn initializing(pod: &Value, told: &mut Told, sidecars: &mut Told) -> bool {
    let specified = list(pod, "/spec/initContainers");
    for (place, container) in list(pod, "/status/initContainerStatuses").iter().enumerate() {
        let name = text(container, "/name");
        let sidecar = specified.iter().any(|specified| text(specified, "/name") == name && is_sidecar(specified));
        count_restarts(container, told);
        if sidecar {
            count_restarts(container, sidecars);
        }
        let terminated = container.pointer("/state/terminated").filter(|state| !state.is_null());
        if terminated.is_some_and(|state| integer(state, "/exitCode") == 0) {
            continue;
        }
        if sidecar && container["started"] == true {
            told.ready += usize::from(container["ready"] == true);
            continue;
        }
        let waiting = text(container, "/state/waiting/reason");
        told.status = match terminated {
            Some(state) => format!("Init:{}", end_of(state)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
            None => format!("Init:{place}/{}", specified.len()),
        };
        return true;
    }
    false
}

/// Visits the containers from the last to the first, so the first one decides.
fn containers(pod: &Value, told: &mut Told) {
    let mut running = false;
    for container in list(pod, "/status/containerStatuses").iter().rev() {
        count_restarts(container, told);
        let state = |name: &str| container.pointer(name).filter(|state| !state.is_null());
        let waiting = text(container, "/state/waiting/reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut told.status);
        } else if let Some(terminated) = state("/state/terminated") {
            told.status = end_of(terminated);
        } else if container["ready"] == true && state("/state/running").is_some() {
            running = true;
            told.ready += 1;
        }
    }
    if told.status == "Completed" && running {
        let status = if condition(pod, "Ready") { "Running" } else { "NotReady" };
        status.clone_into(&mut told.status);
    }
}

fn count_restarts(container: &Value, told: &mut Told) {
    told.restarts = told.restarts.saturating_add(integer(container, "/restartCount"));
    let finished = age::parsed(text(container, "/lastState/terminated/finishedAt"));
    told.last_restart = told.last_restart.max(finished);
}

/// The reason for a container's end.
fn end_of(terminated: &Value) -> String {
    match (text(terminated, "/reason"), integer(terminated, "/signal")) {
        ("", 0) => format!("ExitCode:{}", integer(terminated, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// Replaces the status of a pod that is being deleted.
fn ending(pod: &Value, status: String) -> String {
    if pod.pointer("/metadata/deletionTimestamp").is_none_or(Value::is_null) {
        return status;
    }
    match (text(pod, "/status/reason"), text(pod, "/status/phase")) {
        ("NodeLost", _) => "Unknown".to_owned(),
        (_, "Succeeded" | "Failed") => status,
        _ => "Terminating".to_owned(),
    }
}

fn readiness_gates(pod: &Value) -> String {
    let gates = list(pod, "/spec/readinessGates");
    if gates.is_empty() {
        return NONE.to_owned();
    }
    let open = gates.iter().filter(|gate| condition(pod, text(gate, "/conditionType"))).count();
    format!("{open}/{}", gates.len())
}

/// Whether an init container runs beside the others.
fn is_sidecar(container: &Value) -> bool {
    text(container, "/restartPolicy") == "Always"
}
