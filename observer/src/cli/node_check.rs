//! The check at the start of a probe in a pod: its words are the pod's log, and its verdict is the pod's readiness.

use std::path::PathBuf;

use anyhow::{Context, Result};
use tokio::task::spawn_blocking;

use crate::metrics::MetricsServer;
use crate::printable::print_message;
use crate::probe_check_result::{ProbeCheck, Requirement};
use crate::session::Ends;
use crate::view::{probe_check_lines, probe_obstacle};

/// The outcome.
pub(super) enum NodeCheck {
    /// A probe can run, and sees less without these requirements. The check has printed them.
    Possible { unmet: Vec<Requirement> },
    /// No probe can run, for this reason.
    Impossible(String),
    /// Shutdown was requested meanwhile.
    Ended,
}

impl NodeCheck {
    /// Checks the requirements of a probe, and prints those that are not met.
    ///
    /// `pod_logs` is the folder with the logs of pods.
    pub(super) async fn here(pod_logs: PathBuf, ends: &mut Ends) -> Result<Self> {
        let checked = tokio::select! {
            checked = spawn_blocking(move || ProbeCheck::of_rights(&pod_logs)) => checked.context("the check has ended by an internal error")?,
            () = ends.next() => return Ok(Self::Ended),
        };
        probe_check_lines(&checked).iter().for_each(print_message);
        if let Some(why) = probe_obstacle(&checked) {
            return Ok(Self::Impossible(why));
        }
        let unmet = checked.requirements.into_iter().filter(|requirement| requirement.unseen.is_some());
        Ok(Self::Possible { unmet: unmet.collect() })
    }
}

/// Stays until shutdown is requested, and reports the reason at `/ready` meanwhile. A container that exits would be started again and
/// again, with the same result: what is missing does not change while a node runs.
pub(super) async fn explain(why: &str, metrics: Option<&MetricsServer>, ends: &mut Ends) {
    print_message(format_args!("{why}. watchtap waits for its end, and is not ready until then"));
    if let Some(metrics) = metrics {
        metrics.note_obstacle(why);
    }
    ends.next().await;
}
