//! Variables that a container takes from a `ConfigMap` or a Secret (`envFrom`): injection does not change those.

use std::collections::BTreeMap;

use serde_json::Value;

use super::containers::Container;
use super::decide::Subject;
use super::environment::{ADDRESS, PROXIES};
use super::referenced::may_share_namespace;

const KUBECONFIG: &str = "KUBECONFIG";

/// The sources of the input, with those of their variables that decide how a client reaches the API server.
#[derive(Clone, Debug, Default)]
pub(super) struct VariableSources {
    known: BTreeMap<Source, Vec<&'static str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    kind: &'static str,
    /// As far as the manifest names it.
    namespace: Option<String>,
    name: String,
}

impl VariableSources {
    /// Takes an object, if it is a source.
    pub(super) fn learn(&mut self, object: &Value) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let kind = ["ConfigMap", "Secret"].into_iter().find(|kind| text("/kind") == Some(kind));
        let (Some("v1"), Some(kind), Some(name)) = (text("/apiVersion"), kind, text("/metadata/name")) else { return };
        let has =
            |name: &str| ["data", "stringData"].iter().any(|part| object.get(part).is_some_and(|part| part.get(name).is_some()));
        let source = Source { kind, namespace: text("/metadata/namespace").map(str::to_owned), name: name.to_owned() };
        self.known.entry(source).or_default().extend(decisive().filter(|name| has(name)));
    }

    /// The decisive variables of a source, if it is in the input.
    fn of(&self, wanted: &Source) -> Option<Vec<&'static str>> {
        let is_wanted = |known: &Source| {
            (known.kind, &known.name) == (wanted.kind, &wanted.name)
                && may_share_namespace(known.namespace.as_deref(), wanted.namespace.as_deref())
        };
        let found = self.known.iter().filter(|(known, _)| is_wanted(known)).map(|(_, variables)| variables.clone());
        found.reduce(|one, other| [one, other].concat())
    }
}

/// The variables that decide how a client reaches the API server.
fn decisive() -> impl Iterator<Item = &'static str> {
    [ADDRESS[0], KUBECONFIG].into_iter().chain(PROXIES)
}

/// Whether the container sets the variable in its `env`, which counts before `envFrom`. Beside one proxy, injection sets `NO_PROXY`,
/// which counts for all of them.
fn is_set(container: &Container<'_>, variable: &str) -> bool {
    let has = |name: &&str| container.variable(name).is_some();
    if PROXIES.contains(&variable) { PROXIES.iter().any(has) } else { has(&variable) }
}

/// Reports the variables that owners of containers should check.
pub(super) fn warnings(led: &[Container<'_>], subject: &Subject<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut unknown: Vec<(&str, Source)> = Vec::new();
    for container in led {
        // Once for all sources: a pod of a stranger may have many of them, and many variables.
        let open: Vec<&str> = decisive().filter(|variable| !is_set(container, variable)).collect();
        for source in sources(container, subject) {
            match subject.referenced.variables.of(&source) {
                Some(variables) => {
                    let open = variables.into_iter().filter(|variable| open.contains(variable));
                    warnings.extend(open.map(|variable| known(container.name, variable, &source)));
                }
                None if !open.is_empty() => unknown.push((container.name, source)),
                None => {}
            }
        }
    }
    warnings.extend(check(&unknown));
    warnings
}

fn known(container: &str, variable: &str, source: &Source) -> String {
    let remedy = match variable {
        KUBECONFIG => "its client does not read the pod's variables, so watchtap may see nothing; remove it there",
        variable if PROXIES.contains(&variable) => {
            "a client may use it to reach the sidecar; write it into env, and NO_PROXY with it"
        }
        _ => "the sidecar connects to the cluster's API server instead; write it into env, and its port with it",
    };
    format!("container {container} takes {variable} from {} {}: {remedy}", source.kind, source.name)
}

/// One line for all sources that are not in the input.
fn check(unknown: &[(&str, Source)]) -> Option<String> {
    let mut containers: Vec<&str> = unknown.iter().map(|(container, _)| *container).collect();
    containers.dedup();
    let mut sources: Vec<String> = unknown.iter().map(|(_, source)| format!("{} {}", source.kind, source.name)).collect();
    sources.sort();
    sources.dedup();
    let containers = match containers.as_slice() {
        [] => return None,
        [one] => format!("container {one} takes"),
        [others @ .., last] => format!("containers {} and {last} take", others.join(", ")),
    };
    Some(format!(
        "{containers} variables from {}: check that KUBERNETES_SERVICE_HOST, KUBECONFIG and HTTPS_PROXY are not among them \
         (docs/injection.md)",
        sources.join(" and ")
    ))
}

/// Those whose variables keep their names.
fn sources(container: &Container<'_>, subject: &Subject<'_>) -> impl Iterator<Item = Source> {
    let namespace = subject.namespace.map(str::to_owned);
    let has_prefix = |source: &&Value| source.get("prefix").and_then(Value::as_str).is_some_and(|prefix| !prefix.is_empty());
    let of = move |source: &Value| {
        let name = |reference: &str| source.get(reference)?.get("name")?.as_str();
        let config_map = name("configMapRef").map(|name| ("ConfigMap", name));
        let (kind, name) = config_map.or_else(|| name("secretRef").map(|name| ("Secret", name)))?;
        Some(Source { kind, namespace: namespace.clone(), name: name.to_owned() })
    };
    container.list("envFrom").iter().filter(move |source| !has_prefix(source)).filter_map(of)
}
