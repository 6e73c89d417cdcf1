//! Why no rule of admission changed a pod.

use super::admission::{Admission, Rule, RuleKind};
use super::pod::Pod;
use super::workload::Workload;

/// The reason, and the remedy. A pod that was there before the rules is certain; otherwise, several reasons remain.
pub(super) fn unseen(pod: &Pod, workload: &Workload, admission: &Admission) -> (String, String) {
    let replace = workload.how_to_replace();
    let rules = match admission {
        Admission::Unknown(_) => {
            let why = "no webhook has changed the pod: it is older than the webhook or its label, its namespace is left out, or the \
                       webhook did not answer";
            return (why.to_owned(), replace.to_owned());
        }
        Admission::Known(rules) => rules,
    };
    let namespace = &pod.metadata.namespace;
    let is_older =
        |rule: &Rule| pod.metadata.creation_timestamp.as_deref().zip(rule.created.as_deref()).is_some_and(|(pod, rule)| pod < rule);
    let remaining = rules.iter().filter(|rule| !rule.leaves_out(namespace));
    let Some(rule) = remaining.min_by_key(|rule| (is_older(rule), !rule.labels_of_namespaces().is_empty(), rule.fails())) else {
        return left_out(rules, namespace);
    };
    let labels = rule.labels_of_namespaces().into_iter().collect::<Vec<_>>().join(", ");
    let (why, remedy) = if is_older(rule) {
        (format!("the pod is older than the {rule}"), replace.to_owned())
    } else if rule.fails() {
        (format!("the {rule} has no caBundle yet, so calls to it fail"), format!("see the log of its pods, then {replace}"))
    } else if !labels.is_empty() {
        (format!("the {rule} selects namespaces by labels, and may leave out namespace {namespace}"), replace.to_owned())
    } else if rule.kind == RuleKind::Policy {
        let why = format!("the {rule} has no binding, or it failed for the pod, or the pod was labelled later");
        (why, format!("look for its binding (kubectl get mutatingadmissionpolicybindings), then {replace}"))
    } else {
        (format!("the {rule} did not answer when the pod was created, or the pod was labelled later"), replace.to_owned())
    };
    if labels.is_empty() {
        return (why, remedy);
    }
    (
        why,
        format!(
            "compare the labels of namespace {namespace} with those that the {rule} selects ({labels}); if they match, {remedy}"
        ),
    )
}

/// The reason if no rule can select the namespace.
fn left_out(rules: &[Rule], namespace: &str) -> (String, String) {
    match rules.first() {
        None => {
            ("the cluster has neither the webhook nor the policy".to_owned(), "install the chart (deploy/README.md)".to_owned())
        }
        Some(rule) => {
            let why = format!("the {rule} leaves out namespace {namespace}");
            (why, "move the pod, or change the selector of namespaces".to_owned())
        }
    }
}
