//! Programs that a probe has examined before their clients begin.

use observer_tests::pod_client::PodClient;

use super::report::{report, requests};
use crate::chart::installed::eventually;
use crate::sidecar::stage::Stage;

/// The name and user agent of the pod that runs a program first.
const FIRST: &str = "examined-first";

/// Runs a client until the probe in this pod has seen a request of it. A Go client lists within milliseconds of its start. A probe
/// that does not know its program may miss that list and the watch.
#[track_caller]
pub(super) fn examine(stage: &Stage<'_>, client: PodClient, (namespace, pod): (&str, &str)) {
    stage.namespace.apply(&Stage::pod(client, FIRST)).unwrap();
    eventually(|| match requests(&report(stage.node, namespace, pod)?, FIRST) {
        0 => Err(format!("no request of {FIRST}")),
        _ => Ok(()),
    });
    stage.namespace.delete(&format!("pod/{FIRST}")).unwrap();
}
