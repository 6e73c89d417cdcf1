//! The container and the pod of a client.

use observer_core::observation::Process;

use crate::view::client::{pod, workload};
use crate::view::colour::Tone;
use crate::view::page::sheet::Sheet;

/// Writes nothing if the process is in no container of a pod.
pub(super) fn container(process: Option<&Process>, sheet: &mut Sheet<'_>) {
    let Some(container) = process.and_then(|process| process.container.as_deref()) else { return };
    let unknown = || container.unnamed.map(|unnamed| format!("unknown: {}", unnamed.words()));
    if let Some(pod) = container.pod.as_ref().map(pod).or_else(unknown) {
        sheet.fact("pod", Tone::Plain, &pod);
    }
    if let Some(named) = container.pod.as_ref().and_then(|pod| pod.workload.as_ref()) {
        sheet.fact("workload", Tone::Plain, &format!("{}, derived from the name of the pod", workload(named)));
    }
    if let Some(name) = container.name.clone().or_else(|| container.pod.as_ref().and_then(|_| unknown())) {
        sheet.fact("container", Tone::Plain, &name);
    }
    sheet.fact("container ID", Tone::Plain, &container.id);
    sheet.fact("pod UID", Tone::Plain, &container.pod_uid);
}
