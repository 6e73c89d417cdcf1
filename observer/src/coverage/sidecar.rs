//! Whether a pod has a sidecar, and the reason if it has none.

use super::admission::Admission;
use super::pod::{ContainerStatus, Pod};
use super::unseen::unseen;
use super::workload::Workload;
use crate::pod_layout::{ADMITTED, CONTAINER, REFUSED};

/// The sidecar of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sidecar {
    /// It runs.
    Running,
    /// It ended together with its pod.
    Over,
    /// The pod has one that has not started yet; the text is the state of its container.
    Starting(String),
    /// The pod has one that fails.
    Failing { why: String, remedy: &'static str },
    /// Admission refused to add one; the text is the reason with the remedy.
    Refused(String),
    /// Admission added one, and something removed it.
    Removed,
    /// No rule of admission changed the pod.
    Unseen { why: String, remedy: String },
}

/// How a pod counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Without,
    With,
    /// It has finished without one, and admission can no longer add one.
    Finished,
    /// It is being deleted, so nothing is to be done about it.
    Leaving,
}

impl Sidecar {
    pub(super) fn of(pod: &Pod, workload: &Workload, admission: &Admission) -> Self {
        if pod.has_sidecar() {
            return Self::present(pod);
        }
        if let Some(refusal) = pod.annotation(REFUSED) {
            return Self::Refused(refusal.to_owned());
        }
        if pod.annotation(ADMITTED).is_some() {
            return Self::Removed;
        }
        let (why, remedy) = unseen(pod, workload, admission);
        Self::Unseen { why, remedy }
    }

    fn present(pod: &Pod) -> Self {
        if pod.is_over() {
            return Self::Over;
        }
        let statuses = pod.status.init_container_statuses.as_deref().unwrap_or_default();
        match statuses.iter().find(|status| status.name == CONTAINER) {
            Some(status) => Self::in_state(status),
            None => Self::Starting("its pod has not started".to_owned()),
        }
    }

    fn in_state(status: &ContainerStatus) -> Self {
        let waiting = status.state.waiting.as_ref().map(|waiting| waiting.reason.as_deref().unwrap_or("Waiting"));
        let last_end = status.state.terminated.as_ref().or(status.last_state.terminated.as_ref());
        if let Some(image) = waiting.filter(|reason| reason.contains("Image")) {
            let remedy = "see the events of the pod (kubectl describe pod)";
            return Self::Failing { why: format!("its image cannot be pulled ({image})"), remedy };
        }
        if status.state.running.is_some() && status.started == Some(true) {
            return Self::Running;
        }
        if let Some(end) = last_end {
            let reason = end.reason.as_deref().unwrap_or("ended");
            let restarts = status.restart_count;
            let why = format!("it exited with {} ({reason}), {restarts} restarts", end.exit_code);
            return Self::Failing { why, remedy: "read its log (kubectl logs POD --container watchtap --previous)" };
        }
        Self::Starting(waiting.unwrap_or("its startup probe has not succeeded").to_owned())
    }

    /// Its state as one word, in text and JSON.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Over => "finished",
            Self::Starting(_) => "starting",
            Self::Failing { .. } => "failing",
            Self::Refused(_) => "refused",
            Self::Removed => "removed",
            Self::Unseen { .. } => "none",
        }
    }

    /// Why the pod runs without it.
    pub(crate) fn why(&self) -> Option<&str> {
        match self {
            Self::Running | Self::Over => None,
            Self::Starting(why) | Self::Failing { why, .. } | Self::Refused(why) | Self::Unseen { why, .. } => Some(why),
            Self::Removed => Some("admission added it, and a later webhook removed it"),
        }
    }

    /// The remedy. That of a refusal is in its reason.
    pub(crate) fn remedy(&self) -> Option<&str> {
        match self {
            Self::Running | Self::Over | Self::Starting(_) | Self::Refused(_) => None,
            Self::Failing { remedy, .. } => Some(remedy),
            Self::Removed => Some("update the webhook that writes pods with an old API library (deploy/README.md)"),
            Self::Unseen { remedy, .. } => Some(remedy),
        }
    }

    pub(super) fn standing(&self, pod: &Pod) -> Standing {
        match self {
            _ if pod.is_deleted() => Standing::Leaving,
            Self::Running | Self::Over => Standing::With,
            _ if pod.is_over() => Standing::Finished,
            Self::Starting(_) | Self::Failing { .. } | Self::Refused(_) | Self::Removed | Self::Unseen { .. } => Standing::Without,
        }
    }
}
