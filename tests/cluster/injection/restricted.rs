//! Makes a pod comply with Pod Security *restricted* (`policy/check_*.go` of k8s.io/pod-security-admission), so that the API
//! server's verdict on it with the sidecar is about the sidecar.

use serde_json::{Map, Value, json};

use super::oracle::array;

/// The kinds of volumes that *restricted* allows.
const ALLOWED_VOLUMES: [&str; 8] =
    ["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"];

/// Changes a pod so that it complies. Volumes of other kinds become empty ones, so that mounts keep their volumes.
pub(super) fn comply(pod: &mut Value) {
    if let Some(annotations) = pod["metadata"]["annotations"].as_object_mut() {
        annotations.retain(|key, _| !key.contains("alpha.kubernetes.io") && !key.contains("beta.kubernetes.io"));
    }
    let spec = pod["spec"].as_object_mut().unwrap();
    for field in [
        "hostNetwork",
        "hostPID",
        "hostIPC",
        "hostUsers",
        "nodeName",
        "priority",
        "runtimeClassName",
        "overhead",
        "preemptionPolicy",
        "serviceAccount",
    ] {
        spec.remove(field);
    }
    if let Some(account) = spec.get_mut("serviceAccountName") {
        *account = account.as_str().unwrap().to_lowercase().into();
    }
    // The admission of priorities knows these alone.
    spec.retain(|key, value| key != "priorityClassName" || value.as_str().is_some_and(|name| name.starts_with("system-")));
    let context = object_at(spec, "securityContext");
    for field in ["runAsUser", "seLinuxOptions", "sysctls", "appArmorProfile", "windowsOptions"] {
        context.remove(field);
    }
    context.insert("runAsNonRoot".to_owned(), true.into());
    context.insert("seccompProfile".to_owned(), json!({"type": "RuntimeDefault"}));
    for volume in spec.get_mut("volumes").and_then(Value::as_array_mut).into_iter().flatten() {
        let volume = volume.as_object_mut().unwrap();
        if !volume.keys().any(|key| ALLOWED_VOLUMES.contains(&key.as_str())) {
            volume.retain(|key, _| key == "name");
        }
    }
    for list in ["initContainers", "containers"] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            comply_container(container.as_object_mut().unwrap());
        }
    }
}

fn comply_container(container: &mut Map<String, Value>) {
    let context = object_at(container, "securityContext");
    for field in ["privileged", "procMount", "runAsUser", "seLinuxOptions", "appArmorProfile", "windowsOptions", "seccompProfile"] {
        context.remove(field);
    }
    context.insert("runAsNonRoot".to_owned(), true.into());
    context.insert("allowPrivilegeEscalation".to_owned(), false.into());
    context.insert("capabilities".to_owned(), json!({"drop": ["ALL"]}));
    for port in container.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        port.as_object_mut().unwrap().retain(|key, _| key != "hostPort" && key != "hostIP");
    }
    // Only privileged containers may propagate mounts to the host.
    for mount in container.get_mut("volumeMounts").and_then(Value::as_array_mut).into_iter().flatten() {
        mount.as_object_mut().unwrap().remove("mountPropagation");
    }
}

/// Adds the volumes that the controller of a stateful set makes from its claims.
pub(super) fn add_claims(pod: &mut Value, workload: &Value) {
    for claim in array(&workload["spec"]["volumeClaimTemplates"]) {
        let name = &claim["metadata"]["name"];
        let mut volumes = array(&pod["spec"]["volumes"]).to_vec();
        if volumes.iter().all(|volume| volume["name"] != *name) {
            volumes.push(json!({"name": name, "persistentVolumeClaim": {"claimName": name}}));
            pod["spec"]["volumes"] = volumes.into();
        }
    }
}

fn object_at<'f>(fields: &'f mut Map<String, Value>, key: &str) -> &'f mut Map<String, Value> {
    let value = fields.entry(key).or_insert(Value::Null);
    if !value.is_object() {
        *value = json!({});
    }
    value.as_object_mut().unwrap()
}
