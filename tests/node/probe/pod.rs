//! Pods like those of the `DaemonSet` of the chart, which a test changes in one way.

use std::fs;

use observer_tests::{Helm, HelmRelease, chart, objects_as_kubectl_reads_them};
use serde_json::{Value, json};

use crate::sidecar::stage::WATCHTAP;

/// The capabilities of the chart.
pub(super) const CAPABILITIES: [&str; 5] = ["BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH", "CHECKPOINT_RESTORE"];

/// The request for processor time: other tests and builds may take all of the rest.
pub(super) const CPU: &str = "500m";

/// A pod with this name, with all that the chart gives to the container, and without `removed`.
pub(super) fn pod_without(removed: Option<&str>, name: &str) -> Value {
    let mut pod = pod_with("probe.olderKernels=false", name);
    let capabilities = capabilities(&mut pod);
    assert_eq!(*capabilities, CAPABILITIES);
    capabilities.retain(|capability| removed.is_none_or(|removed| capability != removed));
    pod
}

/// A pod for kernels before 6.6, without the right that only kernels before 5.11 need: the machine of the tests may not have it to give.
pub(super) fn pod_for_older_kernels(name: &str) -> Value {
    let mut pod = pod_with("probe.olderKernels=true", name);
    let capabilities = capabilities(&mut pod);
    assert_eq!(*capabilities, [&CAPABILITIES[..], &["SYS_ADMIN", "SYS_RESOURCE"]].concat());
    capabilities.retain(|capability| capability != "SYS_RESOURCE");
    pod
}

/// The capabilities of its container.
pub(super) fn capabilities(pod: &mut Value) -> &mut Vec<Value> {
    pod["spec"]["containers"][0]["securityContext"]["capabilities"]["add"].as_array_mut().unwrap()
}

fn pod_with(value: &str, name: &str) -> Value {
    let mut spec = daemonset(value)["spec"]["template"]["spec"].clone();
    let fields = spec.as_object_mut().unwrap();
    // Neither matters here: there is one node, and no ServiceAccount of a release.
    for field in ["serviceAccountName", "nodeSelector"] {
        fields.remove(field).unwrap();
    }
    fields.insert("automountServiceAccountToken".to_owned(), false.into());
    let container = &mut spec["containers"][0];
    container["image"] = WATCHTAP.into();
    container["resources"]["requests"]["cpu"] = CPU.into();
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
}

/// The `DaemonSet` of the chart, with this value.
fn daemonset(value: &str) -> Value {
    let chart = chart().display().to_string();
    let helm = Helm::of(HelmRelease::V4).unwrap();
    let values = ["--set=image.repository=watchtap", "--set=webhook.enabled=false", "--set=probe.enabled=true", "--set", value];
    let text = helm.run(&[&["template", "watchtap", &chart], &values[..]].concat()).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let objects = objects_as_kubectl_reads_them(&[file.path().to_owned()]).unwrap().remove(0).unwrap();
    objects.into_iter().find(|object| object["kind"] == "DaemonSet").unwrap()
}
