//! The check at the start of a probe in a pod: its words are the pod's log, and its verdict is the pod's readiness.

use anyhow::{Context, Result};
use tokio::task::spawn_blocking;

use crate::metrics::MetricsServer;
use crate::printable::print_message;
use crate::probe_check_result::ProbeCheck;
use crate::session::Ends;
use crate::view::{probe_check_lines, probe_obstacle};

/// The outcome.
pub(super) enum NodeCheck {
    /// A probe can run. The check has printed what it does not see.
    Possible { unseen: Vec<&'static str> },
    /// No probe can run, for this reason.
    Impossible(String),
    /// Shutdown was requested meanwhile.
    Ended,
}

impl NodeCheck {
    /// Checks the requirements of a probe, and prints those that are not met.
    pub(super) async fn here(ends: &mut Ends) -> Result<Self> {
        let checked = tokio::select! {
            checked = spawn_blocking(ProbeCheck::of_rights) => checked.context("the check has ended by an internal error")?,
            () = ends.next() => return Ok(Self::Ended),
        };
        probe_check_lines(&checked).iter().for_each(print_message);
        Ok(match probe_obstacle(&checked) {
            Some(why) => Self::Impossible(why),
            None => Self::Possible { unseen: checked.requirements.iter().filter_map(|requirement| requirement.unseen).collect() },
        })
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
