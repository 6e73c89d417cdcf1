//! The rules of the cluster that add sidecars to new pods: webhooks and policies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Deserialize;

use super::document::List;
use crate::pod_layout::{LABEL, LABEL_VALUE};

/// The label that holds the name of each namespace (kubernetes/api `core/v1/well_known_labels.go`).
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// The rules of a cluster, as far as the user may read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// All rules that select pods by watchtap's label; empty if there is none.
    Known(Vec<Rule>),
    /// The reason why the rules could not be read.
    Unknown(String),
}

/// A rule that adds sidecars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) kind: RuleKind,
    /// The name of its object.
    pub(crate) name: String,
    /// When the object was created; RFC 3339 in UTC.
    pub(crate) created: Option<String>,
    namespaces: NamespaceSelector,
}

/// The kinds of objects that change pods at admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleKind {
    /// `has_ca_bundle`: whether it has a `caBundle`. Without one, the API server calls it, and verifies its certificate with the CAs
    /// of its system, which have not issued the certificate.
    Webhook {
        has_ca_bundle: bool,
    },
    Policy,
}

impl RuleKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Webhook { .. } => "webhook",
            Self::Policy => "policy",
        }
    }
}

impl Rule {
    /// Whether a namespace is certainly left out. Labels of namespaces are unknown here, except for their names.
    pub(super) fn leaves_out(&self, namespace: &str) -> bool {
        self.namespaces.leaves_out(namespace)
    }

    /// The labels on which it depends whether a namespace that is not certainly left out is selected.
    pub(super) fn labels_of_namespaces(&self) -> BTreeSet<&str> {
        self.namespaces.other_labels()
    }

    /// Whether it is a webhook without a `caBundle`, so that each call to it fails.
    pub(super) const fn fails(&self) -> bool {
        matches!(self.kind, RuleKind::Webhook { has_ca_bundle: false })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind.word(), self.name)
    }
}

/// A `MutatingWebhookConfiguration`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WebhookConfiguration {
    metadata: Metadata,
    webhooks: Option<Vec<Webhook>>,
}

/// A `MutatingAdmissionPolicy`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Policy {
    metadata: Metadata,
    spec: PolicySpec,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: String,
    creation_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Webhook {
    client_config: ClientConfig,
    object_selector: Option<Selector>,
    namespace_selector: Option<Selector>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClientConfig {
    ca_bundle: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PolicySpec {
    match_constraints: Option<MatchConstraints>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MatchConstraints {
    object_selector: Option<Selector>,
    namespace_selector: Option<Selector>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "camelCase")]
struct Selector {
    match_labels: Option<BTreeMap<String, String>>,
    match_expressions: Option<Vec<Expression>>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
struct Expression {
    key: String,
    operator: String,
    values: Option<Vec<String>>,
}

/// A selector of namespaces. Those that it leaves out by their names are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct NamespaceSelector(Selector);

/// The webhooks that select pods by watchtap's label.
pub(super) fn webhooks(configurations: List<WebhookConfiguration>) -> Vec<Rule> {
    let mut rules = Vec::new();
    for WebhookConfiguration { metadata, webhooks } in configurations.items.unwrap_or_default() {
        let ours = webhooks.unwrap_or_default().into_iter().find(|webhook| selects_our_label(webhook.object_selector.as_ref()));
        rules.extend(ours.map(|webhook| Rule {
            kind: RuleKind::Webhook { has_ca_bundle: webhook.client_config.ca_bundle.is_some_and(|bundle| !bundle.is_empty()) },
            name: metadata.name,
            created: metadata.creation_timestamp,
            namespaces: NamespaceSelector(webhook.namespace_selector.unwrap_or_default()),
        }));
    }
    rules
}

/// The policies that select pods by watchtap's label.
pub(super) fn policies(policies: List<Policy>) -> Vec<Rule> {
    let mut rules = Vec::new();
    for Policy { metadata, spec } in policies.items.unwrap_or_default() {
        let constraints = spec.match_constraints.unwrap_or_default();
        if selects_our_label(constraints.object_selector.as_ref()) {
            rules.push(Rule {
                kind: RuleKind::Policy,
                name: metadata.name,
                created: metadata.creation_timestamp,
                namespaces: NamespaceSelector(constraints.namespace_selector.unwrap_or_default()),
            });
        }
    }
    rules
}

fn selects_our_label(selector: Option<&Selector>) -> bool {
    let Some(selector) = selector else { return false };
    let by_label = selector.match_labels.iter().flatten().any(|(key, value)| key == LABEL && value == LABEL_VALUE);
    let by_expression = selector.match_expressions.iter().flatten().any(|expression| {
        expression.key == LABEL && expression.operator == "In" && expression.values().any(|value| value == LABEL_VALUE)
    });
    by_label || by_expression
}

impl Expression {
    fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().flatten().map(String::as_str)
    }
}

impl NamespaceSelector {
    fn leaves_out(&self, namespace: &str) -> bool {
        let by_label = self.0.match_labels.iter().flatten().any(|(key, value)| key == NAMESPACE_NAME && value != namespace);
        let by_expression =
            self.0.match_expressions.iter().flatten().filter(|expression| expression.key == NAMESPACE_NAME).any(|expression| {
                match expression.operator.as_str() {
                    "In" => expression.values().all(|value| value != namespace),
                    "NotIn" => expression.values().any(|value| value == namespace),
                    _ => false,
                }
            });
        by_label || by_expression
    }

    fn other_labels(&self) -> BTreeSet<&str> {
        let of_labels = self.0.match_labels.iter().flatten().map(|(key, _)| key);
        let of_expressions = self.0.match_expressions.iter().flatten().map(|expression| &expression.key);
        of_labels.chain(of_expressions).map(String::as_str).filter(|key| *key != NAMESPACE_NAME).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn configuration(name: &str, webhook: &Value) -> Value {
        json!({ "metadata": { "name": name, "creationTimestamp": "2026-11-26T10:00:00Z" }, "webhooks": [webhook] })
    }

    fn read(items: &Value) -> Vec<Rule> {
        webhooks(serde_json::from_value(json!({ "kind": "List", "items": items })).unwrap())
    }

    #[test]
    fn webhooks_are_found_by_the_label_that_they_select() {
        let label = json!({ "matchLabels": { "watchtap.dev/inject": "enabled" } });
        let expression = json!({ "matchExpressions": [{ "key": "watchtap.dev/inject", "operator": "In", "values": ["enabled"] }] });
        let found = read(&json!([
            configuration("other", &json!({ "objectSelector": { "matchLabels": { "sidecar": "yes" } } })),
            configuration("unselective", &json!({ "objectSelector": null })),
            configuration("ready", &json!({ "objectSelector": label, "clientConfig": { "caBundle": "QQ==" } })),
            configuration("new", &json!({ "objectSelector": expression, "clientConfig": { "service": {} } })),
        ]));
        let found: Vec<_> = found.iter().map(|rule| (rule.to_string(), rule.fails())).collect();
        assert_eq!(found, [("webhook ready".to_owned(), false), ("webhook new".to_owned(), true)]);
        assert_eq!(read(&json!(null)), []);
    }

    #[test]
    fn policies_are_found_by_their_constraints() {
        let ours = json!({ "matchConstraints": { "objectSelector": { "matchLabels": { "watchtap.dev/inject": "enabled" } } } });
        let items = json!([{ "metadata": { "name": "a" }, "spec": ours }, { "metadata": { "name": "b" }, "spec": {} }]);
        let found = policies(serde_json::from_value(json!({ "kind": "List", "items": items })).unwrap());
        assert_eq!(found.iter().map(|rule| (rule.to_string(), rule.fails())).collect::<Vec<_>>(), [("policy a".to_owned(), false)]);
    }

    #[test]
    fn labels_of_namespaces_are_named_once_and_without_their_names() {
        let selector = json!({
            "matchLabels": { "team": "a", "kubernetes.io/metadata.name": "shop" },
            "matchExpressions": [{ "key": "team", "operator": "Exists" }, { "key": "stage", "operator": "NotIn", "values": ["test"] }],
        });
        let selector = NamespaceSelector(serde_json::from_value(selector).unwrap());
        assert_eq!(selector.other_labels().into_iter().collect::<Vec<_>>(), ["stage", "team"]);
        assert!(NamespaceSelector::default().other_labels().is_empty());
    }

    #[test]
    fn namespaces_are_left_out_by_name_alone() {
        let name = "kubernetes.io/metadata.name";
        let not_in = json!({ "matchExpressions": [{ "key": name, "operator": "NotIn", "values": ["kube-system", "w"] }] });
        let within = json!({ "matchExpressions": [{ "key": name, "operator": "In", "values": ["shop"] }] });
        let labelled = json!({ "matchLabels": { name: "shop" } });
        let by_other_label = json!({ "matchLabels": { "team": "a" } });
        for (selector, namespace, expected) in [
            (&not_in, "kube-system", true),
            (&not_in, "shop", false),
            (&within, "shop", false),
            (&within, "other", true),
            (&labelled, "other", true),
            (&labelled, "shop", false),
            (&by_other_label, "other", false),
        ] {
            let selector = NamespaceSelector(serde_json::from_value(selector.clone()).unwrap());
            assert_eq!(selector.leaves_out(namespace), expected, "{selector:?} {namespace}");
        }
    }
}
