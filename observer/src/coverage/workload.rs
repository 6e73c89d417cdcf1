//! The workload of a pod, from the pod alone: nothing else is asked for.

use std::fmt;

use super::pod::Pod;

/// The label with which a Deployment marks the pods of each of its `ReplicaSet`s (kubernetes/kubernetes
/// `pkg/controller/deployment/sync.go`). Its value is the end of the name of the `ReplicaSet`.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// Number of digits at the end of the name of a `CronJob`'s Job: minutes since 1970 (kubernetes/kubernetes
/// `pkg/controller/cronjob/utils.go`, `getJobName`).
const MINUTES: usize = 8;

/// The object that makes pods like this one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Workload {
    pub(crate) kind: String,
    pub(crate) name: String,
}

impl Workload {
    /// The workload of a pod; the pod itself if no controller owns it.
    pub(super) fn of(pod: &Pod) -> Self {
        let owners = pod.metadata.owner_references.as_deref().unwrap_or_default();
        let Some(owner) = owners.iter().find(|owner| owner.controller == Some(true)) else {
            return Self::new("Pod", &pod.metadata.name);
        };
        let hash = pod.metadata.labels.as_ref().and_then(|labels| labels.get(TEMPLATE_HASH));
        let above = match owner.kind.as_str() {
            "ReplicaSet" => hash.and_then(|hash| Some(("Deployment", owner.name.strip_suffix(hash.as_str())?.strip_suffix('-')?))),
            "Job" => owner.name.rsplit_once('-').filter(|(_, end)| is_minutes(end)).map(|(name, _)| ("CronJob", name)),
            _ => None,
        };
        match above.filter(|(_, name)| !name.is_empty()) {
            Some((kind, name)) => Self::new(kind, name),
            None => Self::new(&owner.kind, &owner.name),
        }
    }

    fn new(kind: &str, name: &str) -> Self {
        Self { kind: kind.to_owned(), name: name.to_owned() }
    }

    /// How its pods are replaced by new ones, which admission sees.
    pub(crate) fn how_to_replace(&self) -> &'static str {
        match self.kind.as_str() {
            "Deployment" | "StatefulSet" | "DaemonSet" => "restart the workload (kubectl rollout restart)",
            "Job" => "create the Job again",
            "Pod" => "create the pod again",
            "CronJob" => "wait for its next Job",
            _ => "delete the pod, so that its owner creates another",
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind, self.name)
    }
}

fn is_minutes(text: &str) -> bool {
    text.len() == MINUTES && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn owner_is_followed_by_the_form_of_its_name() {
        let hash = json!({ "pod-template-hash": "6d5f" });
        for (kind, name, labels, expected) in [
            ("ReplicaSet", "web-6d5f", &hash, "Deployment web"),
            ("ReplicaSet", "web-6d5f", &json!({}), "ReplicaSet web-6d5f"),
            ("ReplicaSet", "web-other", &hash, "ReplicaSet web-other"),
            ("ReplicaSet", "6d5f", &hash, "ReplicaSet 6d5f"),
            ("ReplicaSet", "-6d5f", &hash, "ReplicaSet -6d5f"),
            ("Job", "report-29399400", &json!(null), "CronJob report"),
            ("Job", "report-2024", &json!(null), "Job report-2024"),
            ("Job", "report-2939940x", &json!(null), "Job report-2939940x"),
            ("StatefulSet", "db", &json!({}), "StatefulSet db"),
            ("Rollout", "web", &hash, "Rollout web"),
        ] {
            assert_eq!(of(labels, &json!([{ "kind": kind, "name": name, "controller": true }])), expected, "{kind} {name}");
        }
    }

    #[test]
    fn pod_without_a_controller_stands_for_itself() {
        assert_eq!(of(&json!({}), &json!(null)), "Pod a");
        assert_eq!(of(&json!({}), &json!([{ "kind": "Node", "name": "n" }])), "Pod a");
    }

    #[track_caller]
    fn of(labels: &Value, owners: &Value) -> String {
        let pod = json!({ "metadata": { "name": "a", "labels": labels, "ownerReferences": owners } });
        Workload::of(&serde_json::from_value(pod).unwrap()).to_string()
    }
}
